"""Text to programs. The grammar is in ``grammar.lark``; what its coarse tokens hold is taken apart here."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.names import NAME_PATTERN
from g10c.ir.parse_values import INTEGER_LIMIT, parse_attributes
from g10c.ir.program import DTYPE_BYTES, Op, Program, Role, Tensor
from g10c.ir.source import Source, Span
from g10c.ir.syntax import Statement, statements
from g10c.ir.text_file import read_text

if TYPE_CHECKING:
    from lark import Token

    from g10c.ir.values import Value

VERSION = "1"
"""The version of the text format that is read and written."""


def load_program(path: str | os.PathLike[str]) -> Program:
    """The program of an ``.ir`` file. Raises :class:`~g10c.ir.errors.InputError` with every mistake of the file."""
    return parse_program(read_text(path), os.fspath(path))


def parse_program(text: str, name: str = "<string>") -> Program:
    """The program of a text; ``name`` stands for the text in messages.

    Checks syntax and everything that declarations say (ops, operands, attributes, names); the rules on the flow of data
    are :func:`g10c.ir.verifier.check_program`'s. Raises :class:`~g10c.ir.errors.InputError` with every mistake of the text.
    """
    source = Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    _check_format(source)
    reader = _Reader(source)
    reader.read()
    return reader.finish()


_FORMAT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:g10c\.ir\b[ \t]*([^\s#]*))?")


def _check_format(source: Source) -> None:
    """Refuse at once what is no text of this version: every other message would mislead."""
    text = source.text
    nul = text.find("\0")
    if nul >= 0:
        raise InputError.at("this is not text: it holds a NUL byte", Span(source, nul, nul + 1))
    if not text.strip():
        raise InputError.at(f"{source.name}: the text is empty", None, f"its first line is `g10c.ir {VERSION}`")
    match = _FORMAT.match(text)
    if match is None or match[1] == VERSION:
        return
    if match[1] is None:
        start = match.end()
        hint = "this looks like JSON; a plan is read as a plan" if text.startswith(("{", "["), start) else f"write `g10c.ir {VERSION}` there"
        raise InputError.at(f"expected `g10c.ir {VERSION}` as the first line", Span(source, start, start + 1), hint)
    found = f"version {match[1]!r}" if match[1] else "no version"
    raise InputError.at(f"this g10c reads version {VERSION} of the text, found {found}", Span(source, match.end() - len(match[1]), match.end()))


_DIMENSION = re.compile(r"[ \t]*(-?[0-9]+)[ \t]*\Z")
_REFERENCE = re.compile(rf"[ \t]*%({NAME_PATTERN})[ \t]*\Z")
_FIND_REFERENCE = re.compile(rf"%({NAME_PATTERN})")


class _Reader:
    """The parts of a program as they are read, and the mistakes so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.header: tuple[str, dict[str, Value], Span] | None = None
        self.tensors: dict[str, Tensor] = {}
        self.ops: list[Op] = []
        self.broken: set[str] = set()
        self._names: dict[str, str] = {}
        self._types: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._formats = 0

    def error(self, message: str, start: int, end: int, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(message, Span(self.source, start, end), hint))

    def read(self) -> None:
        """Read all statements."""
        handlers = {"format": self._format, "program": self._program, "tensor": self._tensor, "op": self._op}
        for kind, tokens, base in statements(self.source, self.diagnostics):
            handlers[kind](tokens, base)

    def _format(self, tokens: list[Token | None], base: int) -> None:
        self._formats += 1
        if self._formats > 1:
            span = self._span(tokens, base)
            self.error("the format stands once, in the first line", span.start, span.end)

    def _program(self, tokens: list[Token | None], base: int) -> None:
        span, name = self._span(tokens, base), str(tokens[1])
        attrs = self._attributes(tokens[2], base)
        if self.header is not None:
            self.error(f"a file holds one program; the first is in line {self.header[2].line}", span.start, span.end)
            return
        if self.tensors or self.ops:
            self.error("the program's line stands before its tensors and ops", span.start, span.end)
        self.header = name, attrs, span

    def _tensor(self, tokens: list[Token | None], base: int) -> None:
        _, reference, kind, role, block = tokens
        attrs, span = self._attributes(block, base), self._span(tokens, base)
        if reference is None or kind is None or role is None:  # never: the grammar requires them
            return
        name = reference[1:]
        start = base + (reference.start_pos or 0)
        if name in self.tensors:
            first = self.tensors[name].location
            where = f"; the first is in line {first.line}" if isinstance(first, Span) else ""
            self.error(f"tensor %{name} is declared twice{where}", start, start + len(reference))
            return
        shaped, known = self._type(kind, base), self._role(role, base)
        if shaped is None or known is None:
            self.broken.add(name)
            return
        self.tensors[name] = Tensor(name, shaped[0], shaped[1], known, attrs, span)

    def _op(self, tokens: list[Token | None], base: int) -> None:
        results, name, operands, block = tokens
        if name is None or operands is None:  # never: the grammar requires them
            return
        reads = self._references(operands[1:-1], base + (operands.start_pos or 0) + 1)
        writes: tuple[str, ...] = ()
        if results is not None:
            writes = self._references(results.rstrip(" \t")[:-1], base + (results.start_pos or 0))
        self.ops.append(Op(str(name), reads, writes, self._attributes(block, base), self._span(tokens, base)))

    def _span(self, tokens: list[Token | None], base: int) -> Span:
        first = tokens[0] or tokens[1]
        last = tokens[-1] or tokens[-2]
        return Span(self.source, base + (first.start_pos or 0), base + (last.end_pos or 0))  # type: ignore[union-attr]

    def _attributes(self, token: Token | None, base: int) -> dict[str, Value]:
        if token is None:
            return {}
        return parse_attributes(self.source, base + (token.start_pos or 0), base + (token.end_pos or 0), self.diagnostics)

    def _references(self, text: str, start: int) -> tuple[str, ...]:
        """Names in a list of references; ``start`` is the position of ``text`` in the source."""
        if not text or text.isspace():
            return ()
        known, names, position = self._names, [], start
        for piece in text.split(","):
            name = known.get(piece)
            if name is None:
                match = _REFERENCE.match(piece)
                if match:
                    name = known[piece] = known.setdefault(match[1], match[1])
                else:
                    self._bad_reference(piece, position)
            if name is not None:
                names.append(name)
            position += len(piece) + 1
        return tuple(names)

    def _bad_reference(self, piece: str, position: int) -> None:
        found = piece.strip()
        start = position + len(piece) - len(piece.lstrip())
        if not found:
            self.error("expected a tensor's name, such as %h0, between the commas", start, start + 1)
            return
        hint = f"write %{found}" if re.fullmatch(NAME_PATTERN, found) else ""
        if len(_FIND_REFERENCE.findall(found)) > 1:
            hint = "names are separated by commas"
        self.error(f"expected a tensor's name, such as %h0, found {found[:60]!r}", start, start + len(found), hint)

    def _type(self, token: Token, base: int) -> tuple[str, tuple[int, ...]] | None:
        known = self._types.get(token)
        if known is None:
            known = self._new_type(str(token), base + (token.start_pos or 0))
            if known is not None:
                self._types[str(token)] = known
        return known

    def _new_type(self, text: str, start: int) -> tuple[str, tuple[int, ...]] | None:
        dtype, _, inside = text[:-1].partition("[")
        fine = dtype in DTYPE_BYTES
        if not fine:
            self.error(f"unknown data type {dtype!r}", start, start + len(dtype), near_hint(dtype, DTYPE_BYTES, "data types"))
        shape, position = [], start + len(dtype) + 1
        for piece in inside.split(",") if inside.strip() else ():
            match = _DIMENSION.match(piece)
            value = int(match[1]) if match and len(match[1]) <= 20 else -1
            if 0 <= value < INTEGER_LIMIT:
                shape.append(value)
            else:
                at = position + len(piece) - len(piece.lstrip())
                message = f"expected a dimension, 0 or more and below 2^63, found {piece.strip()[:40]!r}"
                self.error(message, at, at + max(1, len(piece.strip())))
                fine = False
            position += len(piece) + 1
        return (dtype, tuple(shape)) if fine else None

    def _role(self, token: Token, base: int) -> Role | None:
        try:
            return Role(token)
        except ValueError:
            start = base + (token.start_pos or 0)
            self.error(f"unknown role {str(token)!r}", start, start + len(token), near_hint(token, list(Role), "roles"))
            return None

    def finish(self) -> Program:
        """The program, or an error with all mistakes in the order of the text."""
        name, attrs, span = self.header or ("program", {}, None)
        if self.header is None and not any(d.message.startswith("expected the program's name") for d in self.diagnostics):
            line = self.source.line_span(1)
            self.diagnostics.append(Diagnostic("the text names no program", line, "write `program NAME` in the second line"))
        program = Program(name, self.tensors, tuple(self.ops), attrs, span)
        if self.diagnostics:
            raise InputError(sorted(self.diagnostics, key=_position))
        return program


def _position(diagnostic: Diagnostic) -> int:
    return diagnostic.location.start if isinstance(diagnostic.location, Span) else -1
