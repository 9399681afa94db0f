"""JSON text to plain objects, strictly, and the places of values in it.

Stricter than Python's own reader: a key that occurs twice, NaN, infinities, numbers no double holds and half surrogate pairs are
refused, since what they mean differs between readers (RFC 8259, sections 4, 6 and 8.2).
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.mistakes import Path, Place
from g10c.ir.source import Source, Span

_BLANKS = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[-+.\w]+")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_LONG_INTEGER = re.compile(rf"\d{{{sys.int_info.default_max_str_digits},}}")
_DECODER = json.JSONDecoder()
_NESTED_TOO_DEEPLY = "objects and lists are nested too deeply"


def parse_json(source: Source) -> object:
    """The document in a JSON text.

    Raises :class:`InputError` at line and column of the first syntax error, or of every irregularity named above.
    """
    suspicious: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) != len(items):
            suspicious.append("key")
        return found

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            suspicious.append(text)
        return value

    def constant(text: str) -> float:
        suspicious.append(text)
        return 0.0

    text = source.text
    try:
        document: object = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise _syntax_error(source, error) from None
    except RecursionError:
        raise InputError.at(_NESTED_TOO_DEEPLY, Span(source, 0, 1)) from None
    except ValueError:
        match = _LONG_INTEGER.search(text)
        span = Span(source, *match.span()) if match else Span(source, 0, 1)
        raise InputError.at("not valid JSON: this number has too many digits", span) from None
    if suspicious or _HALF_PAIR.search(text):
        irregular = scan_json(source).irregular
        if irregular:
            raise InputError(irregular)
    return document


def _syntax_error(source: Source, error: json.JSONDecodeError) -> InputError:
    end = len(source.text.rstrip())
    word = _SCALAR.match(source.text, error.pos)
    last = error.pos >= end or (word is not None and word.end() >= end and not error.msg.startswith("Extra"))
    if last or error.msg.startswith("Unterminated"):
        span = Span(source, min(error.pos, max(0, end - 1)), end)
        return InputError.at("not valid JSON: the text ends in the middle", span, "the file is cut off: write it again")
    words = error.msg[0].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting at")
    return InputError.at(f"not valid JSON: {words.replace('expecting', 'expected')}", Span(source, error.pos, error.pos + 1))


@dataclass
class JsonScan:
    """Places of all values of a text that Python reads as JSON, and what is irregular in it."""

    source: Source
    places: dict[Path, Place] = field(default_factory=dict)
    irregular: list[Diagnostic] = field(default_factory=list)

    def complain(self, message: str, start: int, end: int, hint: str = "") -> None:
        """Record an irregularity at characters ``[start, end)``."""
        self.irregular.append(Diagnostic(message, Span(self.source, start, end), hint))


def scan_json(source: Source) -> JsonScan:
    """Walk over a JSON text (slow: for messages only). Raises :class:`InputError` where it is nested too deeply to walk."""
    scan = JsonScan(source)
    try:
        _scan_value(scan, (), _blanks(source.text, 0), None)
    except RecursionError:
        raise InputError.at(_NESTED_TOO_DEEPLY, Span(source, 0, 1)) from None
    return scan


def _scan_value(scan: JsonScan, path: Path, start: int, key: tuple[int, int] | None) -> int:
    """Record the value that begins at ``start`` and those inside it; the position behind it."""
    first = scan.source.text[start]
    scanner: Callable[[JsonScan, Path, int], int] = {"{": _scan_object, "[": _scan_list, '"': _scan_string}.get(first, _scan_scalar)
    end = scanner(scan, path, start)
    scan.places[path] = Place((start, end), key)
    return end


def _scan_object(scan: JsonScan, path: Path, start: int) -> int:
    text = scan.source.text
    at = _blanks(text, start + 1)
    seen: set[str] = set()
    while text[at] != "}":
        key_start = at
        key, at = _string(text, at)
        span = (key_start, at)
        _check_characters(scan, key, span)
        if key in seen:
            scan.complain(f"key {json.dumps(key)} occurs twice in this object", *span, "keep one of the two")
        seen.add(key)
        colon = _blanks(text, at)
        at = _blanks(text, _scan_value(scan, (*path, key), _blanks(text, colon + 1), span))
        if text[at] == ",":
            at = _blanks(text, at + 1)
    return at + 1


def _scan_list(scan: JsonScan, path: Path, start: int) -> int:
    text = scan.source.text
    at = _blanks(text, start + 1)
    number = 0
    while text[at] != "]":
        at = _blanks(text, _scan_value(scan, (*path, number), at, None))
        number += 1
        if text[at] == ",":
            at = _blanks(text, at + 1)
    return at + 1


def _scan_string(scan: JsonScan, path: Path, start: int) -> int:
    value, end = _string(scan.source.text, start)
    _check_characters(scan, value, (start, end))
    return end


def _scan_scalar(scan: JsonScan, path: Path, start: int) -> int:
    match = _SCALAR.match(scan.source.text, start)
    end = match.end() if match else start + 1
    word = scan.source.text[start:end]
    if word in ("NaN", "Infinity", "-Infinity"):
        scan.complain(f"{word} is not a JSON number", start, end)
    elif any(c in word for c in ".eE") and word not in ("true", "false") and math.isinf(float(word)):
        scan.complain("this number is too large", start, end)
    return end


def _check_characters(scan: JsonScan, value: str, span: tuple[int, int]) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        scan.complain("this string holds half of a surrogate pair, which is no character", *span)


def _string(text: str, at: int) -> tuple[str, int]:
    """The string that begins at ``at``, and the position behind it."""
    value, end = _DECODER.raw_decode(text, at)
    return str(value), end


def _blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
