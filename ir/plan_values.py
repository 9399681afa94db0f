"""Attributes of a plan's program as JSON, so that their types survive.

A declared attribute stands under its own name with the value as a plain number or text; times are in nanoseconds and their keys say
so (``time`` is ``"time_ns"``). Any other attribute has a form that tells its type: true, false, numbers, texts and lists are
themselves; ``{"word": "host"}`` is a bare word, ``{"time_ns": 5}`` a time, ``{"bytes": 4096}`` a size, ``{"range": [1, 3]}`` a range
of numbers and ``{"byte_range": [0, 4096]}`` one of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from g10c.ir.names import is_word
from g10c.ir.ops import AttrDecl, OpKind, declaration
from g10c.ir.values import Ident, Range, Size, Time, Value

LIMIT = 1 << 63
"""Integers of a plan lie strictly between this and its negative."""


class PlanShapeError(Exception):
    """JSON that is not shaped as the schema says, or a value without a form in JSON."""


Decoder = Callable[[object], Value]


def encode_value(value: Value) -> Any:
    """The self-describing form of a value. Raises :class:`PlanShapeError` where there is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Time):
        return {"time_ns": _checked(value)}
    if isinstance(value, Size):
        return {"bytes": _checked(value)}
    if isinstance(value, Ident):
        return {"word": str(value)}
    if isinstance(value, int):
        return _checked(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise PlanShapeError("it is not finite")
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, Range):
        return {"byte_range" if _is_byte_range(value) else "range": [_checked(value.start), _checked(value.end)]}
    if isinstance(value, tuple):
        return [encode_value(item) for item in value]
    raise PlanShapeError(f"{type(value).__name__} is no type of a value")


def _is_byte_range(value: Range) -> bool:
    kinds = {type(value.start), type(value.end)}
    if kinds not in ({int}, {Size}):
        raise PlanShapeError("the ends of a range differ in type")
    return kinds == {Size}


def _checked(value: int) -> int:
    if not -LIMIT < value < LIMIT:
        raise PlanShapeError("it is outside 64 bits")
    return int(value)


def decode_value(data: object) -> Value:
    """The reverse of :func:`encode_value`. Raises :class:`PlanShapeError`.

    A plain number may be of any size here; the verifier refuses integers of more than 64 bits.
    """
    if type(data) in (bool, int, float, str):
        return cast("bool | int | float | str", data)
    if isinstance(data, list):
        return tuple(decode_value(item) for item in data)
    if isinstance(data, dict) and len(data) == 1:
        ((tag, content),) = data.items()
        decoder = _TAGGED.get(tag)
        if decoder is not None:
            return decoder(content)
    raise PlanShapeError


def decode_int(data: object) -> int:
    """An integer of 64 bits."""
    if type(data) is not int or not -LIMIT < data < LIMIT:
        raise PlanShapeError
    return data


def decode_count(data: object) -> int:
    """An integer of 64 bits, 0 or more."""
    if type(data) is not int or not 0 <= data < LIMIT:
        raise PlanShapeError
    return data


def decode_text(data: object) -> str:
    """A text."""
    if type(data) is not str:
        raise PlanShapeError
    return data


def decode_pair(data: object) -> Range:
    """A range of plain numbers."""
    if not isinstance(data, list) or len(data) != 2:
        raise PlanShapeError
    return Range(decode_int(data[0]), decode_int(data[1]))


def decode_periods(data: object) -> Value:
    """Inactive periods, a list of pairs of kernel numbers."""
    if not isinstance(data, list):
        raise PlanShapeError
    return tuple(decode_pair(item) for item in data)


def encode_periods(value: Value) -> list[list[int]]:
    """The reverse of :func:`decode_periods`."""
    if not isinstance(value, tuple) or not all(isinstance(item, Range) and not _is_byte_range(item) for item in value):
        raise PlanShapeError("it is not a list of ranges of kernel numbers")
    return [[_checked(item.start), _checked(item.end)] for item in cast("tuple[Range, ...]", value)]


def _decode_word(data: object) -> Ident:
    if type(data) is not str or not is_word(data):
        raise PlanShapeError
    return Ident(data)


def _decode_byte_range(data: object) -> Range:
    pair = decode_pair(data)
    return Range(Size(pair.start), Size(pair.end))


def _decode_duration(data: object) -> Time:
    return Time(decode_count(data))


_TAGGED: dict[object, Decoder] = {
    "word": _decode_word,
    "time_ns": lambda data: Time(decode_int(data)),
    "bytes": lambda data: Size(decode_int(data)),
    "range": decode_pair,
    "byte_range": _decode_byte_range,
}


_DECLARED: dict[type, Decoder] = {Time: _decode_duration, Ident: _decode_word, int: decode_int, str: decode_text}


@cache
def op_keys(name: str) -> dict[str, tuple[str, Decoder]]:
    """Declared attributes of an op by JSON key: the attribute's name, and what reads its value. A range is not among them."""
    decl = declaration(name)
    attrs = decl.attrs if decl else ()
    return {json_key(attr): (attr.name, _decoder(attr)) for attr in attrs if attr.type is not Range}


@cache
def required_keys(name: str) -> frozenset[str]:
    """JSON keys that an op must have."""
    decl = declaration(name)
    attrs = decl.attrs if decl else ()
    operands = ("op", "tensor", "range") if decl and decl.kind is OpKind.DIRECTIVE else ("op", "reads", "writes")
    return frozenset((*operands, *(json_key(attr) for attr in attrs if attr.required)))


def json_key(attr: AttrDecl) -> str:
    """The key under which a declared attribute stands."""
    return f"{attr.name}_ns" if attr.type is Time else attr.name


def _decoder(attr: AttrDecl) -> Decoder:
    if attr.choices:
        words = {choice: Ident(choice) for choice in attr.choices}

        def choice(data: object) -> Value:
            if type(data) is not str or data not in words:
                raise PlanShapeError
            return words[data]

        return choice
    return _DECLARED[attr.type]


def encode_attribute(op: str, name: str, value: Value) -> tuple[str, Any]:
    """Key and JSON of an op's attribute. Raises :class:`PlanShapeError` for one that no verified program has."""
    decl = declaration(op)
    attr = decl.attr(name) if decl else None
    if attr is None:
        return encode_own_attribute(name, value)
    if type(value) is not attr.type or (attr.choices and value not in attr.choices):
        raise PlanShapeError(f"expected {attr.type.__name__}, found {type(value).__name__}")
    key = json_key(attr)
    if isinstance(value, Time) and value < 0:
        raise PlanShapeError("it is negative")
    return key, _checked(value) if isinstance(value, int) else str(value)


def encode_own_attribute(name: str, value: Value) -> tuple[str, Any]:
    """Key and JSON of an attribute that is not declared: its name has a dot."""
    if "." not in name or not is_word(name):
        raise PlanShapeError("no such attribute is declared")
    return name, encode_value(value)
