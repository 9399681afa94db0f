"""Typed options: dataclass fields from text and back to text.

Passes (pipeline text) and importers (command-line flags) share it. A field's type says what text it takes: ``int``,
``float``, ``bool``, ``str``, ``Size`` (``4GiB``), ``Time`` (``45us``), ``Path``, a ``Literal`` of words, a tuple of one of
these, or one of these or ``None``.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from g10c.ir.errors import near_hint
from g10c.ir.values import SIZE_UNITS, TIME_UNITS, Size, Time, format_size, format_time, parse_quantity, quote

BARE_WORD = re.compile(r"[A-Za-z0-9_.+\-/:~]+\Z")
"""Text that needs no quotes in a pipeline."""


class OptionError(ValueError):
    """A value that an option does not take; ``hint`` says what it does."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One option: name as in Python, type, default and meaning."""

    name: str
    type: Any
    required: bool
    default: Any
    help: str

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return "--" + self.name.replace("_", "-")

    def type_text(self) -> str:
        """What text it takes, for a reader."""
        return describe(self.type)


def options_of(owner: type) -> list[Option]:
    """The options of a dataclass, in order."""
    hints = typing.get_type_hints(owner)
    found = []
    for field in dataclasses.fields(owner):
        if not field.init:
            continue
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        default = None if required else field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found.append(Option(field.name, hints[field.name], required, default, field.metadata.get("help", "")))
    return found


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _without_none(kind: Any) -> Any:
    rest = [arg for arg in get_args(kind) if arg is not types.NoneType]
    if len(rest) != 1:
        raise TypeError(f"an option has one type, or one type or None, not {kind}")
    return rest[0]


def describe(kind: Any) -> str:
    """What text a type takes."""
    if _is_union(kind):
        return f"{describe(_without_none(kind))} or none"
    if get_origin(kind) is Literal:
        return "|".join(str(word) for word in get_args(kind))
    if get_origin(kind) is tuple:
        return f"[{describe(get_args(kind)[0])}, ...]"
    words: dict[Any, str] = {bool: "true|false", Size: "size (4GiB)", Time: "time (45us)", str: "text", Path: "file"}
    return words.get(kind) or str(kind.__name__)


def _whole(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9][0-9_]*", text):
        raise OptionError(f"expected a whole number, found {text!r}")
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise OptionError(f"expected a number, found {text!r}") from None
    if not math.isfinite(value):
        raise OptionError(f"expected a finite number, found {text!r}")
    return value


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise OptionError(f"expected true or false, found {text!r}")
    return text == "true"


def _quantity(units: dict[str, int]) -> Callable[[str], int]:
    def convert(text: str) -> int:
        try:
            return parse_quantity(text, units)
        except ValueError as error:
            raise OptionError(str(error)) from None

    return convert


_SCALARS: dict[Any, Callable[[str], Any]] = {
    int: _whole,
    float: _number,
    bool: _truth,
    str: str,
    Path: Path,
    Size: lambda text: Size(_quantity(SIZE_UNITS)(text)),
    Time: lambda text: Time(_quantity(TIME_UNITS)(text)),
}


def from_text(kind: Any, text: str | Sequence[str]) -> Any:
    """The value of an option from its text (a list's texts for a tuple). Raises :class:`OptionError`."""
    if _is_union(kind):
        return None if text == "none" else from_text(_without_none(kind), text)
    if get_origin(kind) is tuple:
        items = [text] if isinstance(text, str) else text
        return tuple(from_text(get_args(kind)[0], item) for item in items)
    if not isinstance(text, str):
        raise OptionError(f"expected one value ({describe(kind)}), found a list")
    if get_origin(kind) is Literal:
        words = {str(word): word for word in get_args(kind)}
        if text not in words:
            raise OptionError(f"expected {' or '.join(words)}, found {text!r}", near_hint(text, words, "values"))
        return words[text]
    return _SCALARS[kind](text)


def to_text(value: Any) -> str:
    """Text of an option's value, such that :func:`from_text` gives the value back."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Size):
        return format_size(value)
    if isinstance(value, Time):
        return format_time(value)
    if isinstance(value, tuple):
        return "[" + ",".join(to_text(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return text if isinstance(value, int) or BARE_WORD.match(text) else quote(text)
