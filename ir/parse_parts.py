"""Types and lists of references, taken apart by hand: ``f32[2, 3]`` and ``%a, %b``."""

from __future__ import annotations

import re
import sys

from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.names import NAME_PATTERN, is_name
from g10c.ir.parse_values import INTEGER_LIMIT
from g10c.ir.program import DTYPE_BYTES
from g10c.ir.source import Source, Span

Shaped = tuple[str, tuple[int, ...]]
"""A data type and a shape."""

_DIMENSION = re.compile(r"[ \t]*(-?[0-9]+)[ \t]*\Z")
_REFERENCE = re.compile(rf"[ \t]*%({NAME_PATTERN})[ \t]*\Z")
_ANY_REFERENCE = re.compile(rf"%{NAME_PATTERN}")


class PartReader:
    """Reads parts of one source; adds mistakes to ``diagnostics``. Texts that come again cost a lookup."""

    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._names: dict[str, str] = {}
        self._types: dict[str, Shaped] = {}

    def _error(self, message: str, start: int, length: int, hint: str = "") -> None:
        self._diagnostics.append(Diagnostic(message, Span(self._source, start, start + max(1, length)), hint))

    def references(self, text: str, start: int) -> tuple[str, ...]:
        """Names in a list of references that stands at ``start``, without those that are none."""
        if not text or text.isspace():
            return ()
        known, names = self._names, []
        for piece in text.split(","):
            name = known.get(piece)
            if name is None:
                match = _REFERENCE.match(piece)
                if not match:
                    self._bad_reference(piece, start)
                    start += len(piece) + 1
                    continue
                name = known[piece] = sys.intern(match[1])
            names.append(name)
            start += len(piece) + 1
        return tuple(names)

    def _bad_reference(self, piece: str, start: int) -> None:
        found = piece.strip()
        start += len(piece) - len(piece.lstrip())
        if not found:
            self._error("expected a tensor's name, such as %h0, next to the comma", start, 1)
            return
        hint = f"write %{found}" if is_name(found) else ""
        if len(_ANY_REFERENCE.findall(found)) > 1:
            hint = "names are separated by commas"
        shown = found if len(found) <= 60 else found[:60] + "..."
        self._error(f"expected a tensor's name, such as %h0, found {shown!r}", start, len(found), hint)

    def type(self, text: str, start: int) -> Shaped | None:
        """The type in a text such as ``f32[2, 3]`` that stands at ``start``; ``None`` when it is none."""
        known = self._types.get(text)
        if known is None:
            known = self._new_type(text, start)
            if known is not None:
                self._types[text] = known
        return known

    def _new_type(self, text: str, start: int) -> Shaped | None:
        dtype, _, inside = text[:-1].partition("[")
        before = len(self._diagnostics)
        if dtype not in DTYPE_BYTES:
            self._error(f"unknown data type {dtype!r}", start, len(dtype), near_hint(dtype, DTYPE_BYTES, "data types"))
        shape = self._shape(inside, start + len(dtype) + 1)
        return (dtype, shape) if len(self._diagnostics) == before else None

    def _shape(self, text: str, start: int) -> tuple[int, ...]:
        sizes = []
        for piece in text.split(",") if text.strip() else ():
            match = _DIMENSION.match(piece)
            size = int(match[1]) if match and len(match[1]) <= 20 else -1
            if 0 <= size < INTEGER_LIMIT:
                sizes.append(size)
            else:
                found = piece.strip()
                message = f"expected a dimension, 0 or more and below 2^63, found {found[:40]!r}"
                self._error(message, start + len(piece) - len(piece.lstrip()), len(found))
            start += len(piece) + 1
        return tuple(sizes)
