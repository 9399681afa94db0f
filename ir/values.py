"""Values of attributes: numbers with units, identifiers and ranges, and their canonical text.

``Time`` is an integer number of nanoseconds, ``Size`` an integer number of bytes. Both are ``int`` and calculate as such.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal


class Time(int):
    """Nanoseconds."""

    __slots__ = ()

    def __repr__(self) -> str:
        return format_time(self)


class Size(int):
    """Bytes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return format_size(self)


class Ident(str):
    """A bare word, such as ``host`` in ``{to = host}``; a plain ``str`` is quoted in text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Range:
    """``start..end``, end exclusive: bytes when both are :class:`Size`, otherwise plain numbers."""

    start: int
    end: int

    def __str__(self) -> str:
        return f"{format_value(self.start)}..{format_value(self.end)}"


Value = bool | int | float | str | Range | tuple["Value", ...]

TIME_UNITS: dict[str, int] = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
SIZE_UNITS: dict[str, int] = {
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
BANDWIDTH_UNITS: dict[str, int] = {f"{unit}/s": scale for unit, scale in SIZE_UNITS.items()}

_QUANTITY = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]*)\s*\Z")


def parse_quantity(text: str, units: dict[str, int]) -> int:
    """The whole number of base units in text such as ``1.5GiB``.

    Raises ``ValueError`` with a message when the number or the unit is wrong, or when it is not whole in base units.
    """
    match = _QUANTITY.match(text)
    if not match:
        raise ValueError(f"expected a number with a unit ({', '.join(units)}), found {text!r}")
    number, unit = match.groups()
    if unit not in units:
        found = f"unit {unit!r}" if unit else "no unit"
        raise ValueError(f"expected one of the units {', '.join(units)}, found {found} in {text!r}")
    try:
        amount = Decimal(number.replace("_", ""))
        value = amount * units[unit]
    except ArithmeticError:
        raise ValueError(f"{text!r} is out of range") from None
    if value != value.to_integral_value() or value >= 1 << 63 or bool(value) != bool(amount):  # too small a number becomes 0
        smallest = next(iter(units))
        raise ValueError(f"{text!r} is not a whole number of {smallest} below 2^63")
    return int(value)


def format_time(value: int) -> str:
    """Nanoseconds with the largest unit of which the value holds at least one, exactly: ``197.632us``."""
    for unit in ("s", "ms", "us"):
        scale = TIME_UNITS[unit]
        if abs(value) >= scale:
            whole, rest = divmod(abs(value), scale)
            digits = len(str(scale)) - 1
            fraction = f".{rest:0{digits}d}".rstrip("0") if rest else ""
            return f"{'-' if value < 0 else ''}{whole}{fraction}{unit}"
    return f"{int(value)}ns"


def format_size(value: int) -> str:
    """Bytes with the largest binary unit that divides them: ``64MiB``, ``0B``."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if value and value % SIZE_UNITS[unit] == 0:
            return f"{value // SIZE_UNITS[unit]}{unit}"
    return f"{int(value)}B"


def format_float(value: float) -> str:
    """A float as text that reads back as the same float."""
    if not math.isfinite(value):
        raise ValueError("attributes hold finite numbers only")
    return repr(float(value))


def quote(text: str) -> str:
    """A string in double quotes, with escapes for quotes, backslashes and control characters."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text) + '"'


_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}


def unescape(body: str) -> str:
    """What stands between the quotes of :func:`quote`'s text, with its escapes resolved.

    Raises ``ValueError`` for an unknown escape; the second line of its message says which there are.
    """
    return _ESCAPE.sub(_escaped, body) if "\\" in body else body


def _escaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        if code <= 0x10FFFF:
            return chr(code)
    elif match[0][1] in _ESCAPES:
        return _ESCAPES[match[0][1]]
    raise ValueError(f"unknown escape {match[0]} in a string\n" + 'escapes are \\" \\\\ \\n \\t \\r and \\u{hex}')


def format_value(value: Value) -> str:
    """Canonical text of an attribute's value; parsing it gives the same value and type back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Time):
        return format_time(value)
    if isinstance(value, Size):
        return format_size(value)
    if isinstance(value, Ident):
        return str(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Range):
        return str(value)
    return "[" + ", ".join(format_value(item) for item in value) + "]"


def human_size(value: float) -> str:
    """Bytes for a reader: three digits and a binary unit."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if abs(value) >= 1 << 100:
            return "over 2^100 B"
        if abs(value) >= SIZE_UNITS[unit]:
            return f"{value / SIZE_UNITS[unit]:.2f} {unit}"
    return f"{int(value)} B"


def human_time(value: float) -> str:
    """Nanoseconds for a reader: at most three decimals."""
    for unit in ("s", "ms", "us"):
        if abs(value) >= TIME_UNITS[unit]:
            return f"{value / TIME_UNITS[unit]:.3f} {unit}"
    return f"{int(value)} ns"
