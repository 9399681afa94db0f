"""Where text came from: sources and the spans inside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Source:
    """A text with a name for messages (a path, or ``<string>``)."""

    name: str
    text: str = field(repr=False)
    _starts: list[int] = field(default_factory=list, repr=False)

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts.append(0)
            position = self.text.find("\n")
            while position >= 0:
                self._starts.append(position + 1)
                position = self.text.find("\n", position + 1)
        return self._starts

    def line_column(self, position: int) -> tuple[int, int]:
        """Line and column of a character position, both counted from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, position)
        return line, position - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Text of a line, counted from 1, without its end."""
        start = self._line_starts()[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def line_span(self, line: int) -> Span:
        """The whole of a line, counted from 1, without the blanks around it."""
        text = self.line_text(line)
        start = self._line_starts()[line - 1] + len(text) - len(text.lstrip())
        return Span(self, start, start + max(1, len(text.strip())))


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Characters ``[start, end)`` of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
        return self.source.line_column(self.start)[1]

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]

    def find(self, word: str) -> Span:
        """The first whole ``word`` inside this span, or the span itself when it is not there."""
        match = re.search(rf"(?<![\w.\-/:%]){re.escape(word)}(?![\w\-/]|[.:]\w)", self.text)
        return Span(self.source, self.start + match.start(), self.start + match.end()) if match else self

    def __str__(self) -> str:
        line, column = self.source.line_column(self.start)
        return f"{self.source.name}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Provenance without a text at hand: a trace's own id, a builder's block, a path into a JSON document."""

    label: str

    def __str__(self) -> str:
        return self.label


Location = Span | Origin
