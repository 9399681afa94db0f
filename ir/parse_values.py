"""Attribute blocks, ``{time = 197.632us, phase = forward, range = 0B..64MiB}``, to values: by hand, for speed.

One pattern reads the usual ``word = scalar,``; what it does not fit is read step by step, with a message at the first
character that is wrong. Every mistake of a block is recorded; reading goes on behind the next comma.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from g10c.ir.errors import Diagnostic, near_names
from g10c.ir.names import RESERVED_WORDS, WORD_PATTERN
from g10c.ir.source import Source, Span
from g10c.ir.values import SIZE_UNITS, TIME_UNITS, Ident, Range, Size, Time, Value, parse_quantity, unescape

MAX_NESTING = 32
"""Lists inside lists: far more than any attribute needs, far less than Python's own limit on recursion."""
INTEGER_LIMIT = 1 << 63
"""Integers lie strictly between this and its negative."""

_NUMBER = r"(-?[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3}(?![0-9]))?)((?:[^\W\d_]|/)*)"
_SCALAR_PATTERN = rf'(?:({WORD_PATTERN})|{_NUMBER}(?:\.\.{_NUMBER})?|"((?:[^"\\\n]|\\.)*)")(?![\w."%])'
_ITEM = re.compile(rf"[ \t]*({WORD_PATTERN})[ \t]*=[ \t]*{_SCALAR_PATTERN}[ \t]*(,|\Z)")
_SCALAR = re.compile(_SCALAR_PATTERN)
_KEY = re.compile(rf"[ \t]*({WORD_PATTERN})")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_BLANKS = re.compile(r"[ \t]*")
_SKIP = re.compile(r'(?:[^,"]|"(?:[^"\\\n]|\\.)*"?)*(,?)')
_FOUND = re.compile(r'"[^"]*"?|[\w.%/:-]+|.')
_FORMS = 'a value is true, false, a word, a number with or without a unit, a "string", a range such as 0B..64MiB, or a list [...]'
_UNITS = {**TIME_UNITS, **SIZE_UNITS}


class _MistakeError(Exception):
    """What is wrong at characters ``[start, end)`` of the source."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint


def parse_attributes(source: Source, start: int, end: int, diagnostics: list[Diagnostic]) -> dict[str, Value]:
    """The attributes between the braces at ``start`` and ``end - 1``; mistakes are added to ``diagnostics``."""
    text, position, end = source.text, start + 1, end - 1
    attrs: dict[str, Value] = {}
    more = _skip_blanks(text, position, end) < end
    while more:
        try:
            key, key_end, value, comma, after = _next(text, position, end)
            if key in attrs:
                raise _MistakeError(f"attribute {key!r} is given twice", key_end - len(key), key_end)
            attrs[key] = value
        except _MistakeError as mistake:
            diagnostics.append(Diagnostic(mistake.message, Span(source, mistake.start, mistake.end), mistake.hint))
            skipped = _SKIP.match(text, min(max(position, mistake.start), end), end)
            comma, after = (skipped[1], skipped.end()) if skipped else ("", end)
        position, more = after, comma == ","
    return attrs


def _next(text: str, position: int, end: int) -> tuple[str, int, Value, str, int]:
    """Key, its end, value, separator and the position behind it."""
    match = _ITEM.match(text, position, end)
    if match:
        key, *scalar, comma = match.groups()
        with suppress(ValueError):  # then the slow way finds the exact place
            return key, match.end(1), _scalar(scalar), comma, match.end()
    return _item(text, position, end)


def _item(text: str, position: int, end: int) -> tuple[str, int, Value, str, int]:
    """As :func:`_next`, step by step."""
    match = _KEY.match(text, position, end)
    if not match:
        raise _expected("an attribute, such as phase = forward", text, position, end)
    key = match[1]
    equals = _EQUALS.match(text, match.end(), end)
    if not equals:
        raise _expected(f"'=' and a value after {key!r}", text, match.end(), end)
    value, after = _value(text, equals.end(), end, 0)
    after = _skip_blanks(text, after, end)
    if after < end and text[after] != ",":
        hint = "write a unit right behind its number" if isinstance(value, int) and text[after : after + 2].rstrip() in _UNITS else ""
        raise _expected("',' or '}'", text, after, end, hint)
    return key, match.end(), value, _peek(text, after, end), min(after + 1, end)


def _value(text: str, position: int, end: int, depth: int) -> tuple[Value, int]:
    """The value at ``position`` and the position behind it."""
    match = _SCALAR.match(text, position, end)
    if match:
        try:
            return _scalar(list(match.groups())), match.end()
        except ValueError as error:
            message, _, hint = str(error).partition("\n")
            raise _MistakeError(message, position, match.end(), hint) from None
    if _peek(text, position, end) != "[":
        raise _expected("a value", text, position, end, _FORMS)
    if depth == MAX_NESTING:
        raise _MistakeError(f"lists are nested more than {MAX_NESTING} deep", position, position + 1)
    items: list[Value] = []
    position = _skip_blanks(text, position + 1, end)
    while _peek(text, position, end) != "]":
        if items:
            if _peek(text, position, end) != ",":
                raise _expected("',' or ']' in the list", text, position, end)
            position = _skip_blanks(text, position + 1, end)
        value, position = _value(text, position, end, depth + 1)
        items.append(value)
        position = _skip_blanks(text, position, end)
    return tuple(items), position + 1


def _peek(text: str, position: int, end: int) -> str:
    return text[position] if position < end else ""


def _skip_blanks(text: str, position: int, end: int) -> int:
    match = _BLANKS.match(text, position, end)
    return match.end() if match else position


def _expected(what: str, text: str, position: int, end: int, hint: str = "") -> _MistakeError:
    position = _skip_blanks(text, position, end)
    match = _FOUND.match(text, position, end)
    if not match:
        return _MistakeError(f"expected {what}, found the end of the attributes", position, position + 1, hint)
    found = match[0] if len(match[0]) <= 40 else match[0][:40] + "..."
    return _MistakeError(f"expected {what}, found {found!r}", position, match.end(), hint)


def _scalar(groups: Sequence[str | None]) -> Value:
    """A value from the groups of the scalar pattern: word, number, unit, second number, second unit, string.

    ``ValueError`` with a message and, behind a line end, a hint.
    """
    word, number, unit, last, last_unit, string = groups
    if word is not None:
        return word == "true" if word in RESERVED_WORDS else Ident(word)
    if number is None:
        return unescape(string or "")
    first = _number(number, unit or "")
    return first if last is None else _range(first, _number(last, last_unit or ""))


def _range(start: Value, end: Value) -> Range:
    kinds = {type(start), type(end)}
    if kinds not in ({int}, {Size}) or not isinstance(start, int) or not isinstance(end, int):
        raise ValueError("both ends of a range are sizes with a unit (0B..64MiB) or plain integers (1..3)")
    return Range(start, end)


@lru_cache(maxsize=1 << 14)
def _number(number: str, unit: str) -> int | float:
    """A number with or without a unit."""
    if unit in TIME_UNITS:
        return Time(_quantity(number, unit, TIME_UNITS))
    if unit in SIZE_UNITS:
        return Size(_quantity(number, unit, SIZE_UNITS))
    if unit:
        raise ValueError(f"unknown unit {unit!r} in {number[:40] + unit!r}\n{_unit_hint(unit)}")
    if number.lstrip("-").replace("_", "").isdecimal():
        value = int(number) if len(number) <= 40 else INTEGER_LIMIT
        if abs(value) >= INTEGER_LIMIT:
            raise ValueError(f"integers lie between -2^63 and 2^63, found {number[:40]!r}")
        return value
    real = float(number)
    if not math.isfinite(real):
        raise ValueError(f"{number[:40]!r} is too large for a number with 64 bits")
    return real


def _unit_hint(unit: str) -> str:
    near = [known for known in _UNITS if known.casefold() == unit.casefold()] or near_names(unit, _UNITS)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"times are in {', '.join(TIME_UNITS)}; sizes in {', '.join(SIZE_UNITS)}"


def _quantity(number: str, unit: str, units: dict[str, int]) -> int:
    if len(number) > 64:
        raise ValueError(f"{number[:40]}...{unit} is too long for a number")
    value = parse_quantity(number.lstrip("-") + unit, units)
    return -value if number.startswith("-") else value
