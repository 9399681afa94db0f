"""Kinds of values in rules, the same for checks before anything runs and for values found while it does."""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from g10c.ir.values import Ident, Range, Size, Time, format_size, format_time, quote

if TYPE_CHECKING:
    from g10c.ir.ops import AttrDecl


class Kind(StrEnum):
    """What a value is; the text of a member is what messages say."""

    NUMBER = "a number"
    TIME = "a time"
    SIZE = "a size"
    BANDWIDTH = "a bandwidth"
    """Bytes per ns; with it, and the two below, times and sizes are multiplied and divided in any order."""
    SLOWNESS = "a time per byte"
    VOLUME = "a time times a size"
    TEXT = "text"
    BOOL = "true or false"
    SHAPE = "a shape"
    RANGE = "a range"
    NONE = "none"
    TENSOR = "a tensor"
    TENSORS = "several tensors"
    OP = "an op"
    UNKNOWN = "a value"
    """Known when it runs."""
    BROKEN = "a mistake"
    """A mistake that has been told."""


DIMENSIONS: dict[Kind, tuple[int, int]] = {
    Kind.NUMBER: (0, 0),
    Kind.TIME: (1, 0),
    Kind.SIZE: (0, 1),
    Kind.BANDWIDTH: (-1, 1),
    Kind.SLOWNESS: (1, -1),
    Kind.VOLUME: (1, 1),
}
"""Quantities: powers of time and of size."""
QUANTITIES = frozenset(DIMENSIONS)
DERIVED = frozenset({Kind.BANDWIDTH, Kind.SLOWNESS, Kind.VOLUME})
PLAIN = frozenset({*QUANTITIES, Kind.TEXT, Kind.BOOL, Kind.SHAPE, Kind.RANGE}) - DERIVED
"""Kinds of values that attributes have."""
VALUES = PLAIN | DERIVED
UNSURE = frozenset({Kind.UNKNOWN, Kind.BROKEN})

_OF_TYPE: dict[type, Kind] = {
    bool: Kind.BOOL,
    Time: Kind.TIME,
    Size: Kind.SIZE,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    Fraction: Kind.NUMBER,
    str: Kind.TEXT,
    Ident: Kind.TEXT,
    tuple: Kind.SHAPE,
    Range: Kind.RANGE,
    type(None): Kind.NONE,
}


class Valued(NamedTuple):
    """A value with its kind, where the kind is known only when it runs. Times and sizes are plain numbers of ns and bytes."""

    kind: Kind
    value: Any


def valued(value: object) -> Valued | None:
    """A value of Python with its kind; ``None`` where it has none. Numbers that are not finite have none."""
    kind = _OF_TYPE.get(type(value))
    if kind is None:
        kind = next((known for base, known in _OF_TYPE.items() if isinstance(value, base)), None)
    if kind is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Valued(kind, value)


def valued_or_none(value: object) -> Valued:
    """A value with its kind; what has none counts as none."""
    return valued(value) or Valued(Kind.NONE, None)


def kind_of_attribute(decl: AttrDecl) -> Kind:
    """The kind of a declared attribute."""
    return _OF_TYPE[decl.type]


def exact(value: Any) -> Any:
    """A number to calculate with: floats become the fractions that they are."""
    return Fraction(value) if isinstance(value, float) else value


def round_half_up(value: int | Fraction) -> int:
    """The nearest whole number; of two the larger."""
    return value if type(value) is int else math.floor(value + Fraction(1, 2))


def show(kind: Kind, value: Any) -> str:
    """A value for a reader, as text in rules would be: times and sizes with a unit, text without quotes where it is a word."""
    match kind:
        case Kind.NUMBER:
            return _number(value)
        case Kind.TIME | Kind.SIZE:
            whole = round_half_up(exact(value))
            text = format_time(whole) if kind is Kind.TIME else format_size(whole)
            return text if whole == value else f"about {text}"
        case Kind.BANDWIDTH:
            return f"{float(value):.6g}GB/s"
        case Kind.SLOWNESS | Kind.VOLUME:
            return f"{float(value):.6g}{'ns/B' if kind is Kind.SLOWNESS else 'ns*B'}"
        case Kind.BOOL:
            return "true" if value else "false"
        case Kind.TEXT:
            return str(value) if isinstance(value, Ident) or str(value).isidentifier() else quote(str(value))
        case Kind.SHAPE:
            return "[" + ", ".join(show(*found) if (found := valued(item)) else "?" for item in value) + "]"
    return "none" if value is None else str(value)


def _number(value: Any) -> str:
    if isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1):
        return str(int(value))
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "a huge number"
