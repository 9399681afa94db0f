"""TOML text to plain objects, and the places of keys and values in it, which ``tomllib`` does not tell."""

from __future__ import annotations

import re
import tomllib

from g10c.ir.errors import InputError
from g10c.ir.mistakes import Path, Place
from g10c.ir.source import Source, Span

_SKIP = re.compile(r"(?:[ \t\n\r]|#[^\n]*)*")
_BLANKS = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' + r"|'''(?:[^']|'(?!''))*'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_AT_LINE = re.compile(r"(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)\Z", re.DOTALL)


def parse_toml(source: Source) -> dict[str, object]:
    """The document in a TOML text. Raises :class:`InputError` at line and column of the syntax error."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(source, str(error)) from None
    except (RecursionError, ValueError):
        raise InputError.at("not valid TOML: lists or tables are nested too deeply, or a number is too long", Span(source, 0, 1)) from None


def _syntax_error(source: Source, text: str) -> InputError:
    match = _AT_LINE.match(text)
    message, line, column = match.groups() if match else (text, None, None)
    if line is None or column is None:
        end = len(source.text.rstrip())
        span = Span(source, max(0, end - 1), end)
    else:
        start = source.line_span(int(line)).start
        start += int(column) - source.line_column(start)[1]
        span = Span(source, max(0, start), start + 1)
    unquoted = message == "Invalid value" or message.startswith("Expected newline")
    hint = 'text stands in quotes: memory = "40GiB"' if unquoted else ""
    return InputError.at(f"not valid TOML: {message[:1].lower()}{message[1:]}", span, hint)


def toml_places(source: Source) -> dict[Path, Place]:
    """Places of tables, keys and values of a text that is valid TOML; elements of arrays are not told apart."""
    return _Scanner(source.text).places()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, Place] = {}

    def places(self) -> dict[Path, Place]:
        table: Path = ()
        self._skip()
        while self.at < len(self.text):
            start = self.at
            if self.text[start] == "[":
                self.at += 2 if self.text.startswith("[[", start) else 1
                table, _ = self._key()
                self.at = self.text.index("]", self.at) + (2 if self.text.startswith("[[", start) else 1)
                self.found.setdefault(table, Place((start, self.at), (start, self.at)))
            else:
                self._assignment(table)
            self._skip()
        return self.found

    def _assignment(self, table: Path) -> None:
        path, key = self._key()
        self.at = self._blanks(self.text.index("=", self.at) + 1)
        start = self.at
        self._value((*table, *path))
        for length in range(1, len(path)):
            self.found.setdefault((*table, *path[:length]), Place(key, key))
        self.found[(*table, *path)] = Place((start, self.at), key)

    def _key(self) -> tuple[Path, tuple[int, int]]:
        """A dotted key as a path, and its characters."""
        parts: list[str] = []
        start = self.at = self._blanks(self.at)
        while True:
            quoted = _STRING.match(self.text, self.at)
            match = quoted or _BARE_KEY.match(self.text, self.at)
            if match is None:
                return tuple(parts), (start, self.at)
            parts.append(_unquoted(match.group()) if quoted else match.group())
            end = match.end()
            self.at = self._blanks(end)
            if self.text[self.at] != ".":
                return tuple(parts), (start, end)
            self.at = self._blanks(self.at + 1)

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        string = _STRING.match(self.text, self.at)
        if string:
            self.at = string.end()
        elif first == "[":
            self._items(path, "]")
        elif first == "{":
            self._items(path, "}")
        else:
            match = _BARE_VALUE.match(self.text, self.at)
            end = match.end() if match else self.at
            self.at += len(self.text[self.at : end].rstrip())

    def _items(self, path: Path, closing: str) -> None:
        """The elements of an array, or the assignments of an inline table."""
        self.at += 1
        self._skip()
        while self.text[self.at] != closing:
            if closing == "}":
                self._assignment(path)
            else:
                self._value(path)
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
        self.at += 1

    def _skip(self) -> None:
        match = _SKIP.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _blanks(self, at: int) -> int:
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at


def _unquoted(text: str) -> str:
    return str(next(iter(tomllib.loads(f"{text} = 0"))))
