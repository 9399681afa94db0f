"""The lines of a rules file: comments taken out, and what goes on behind a line's end put together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|#[^\n]*')
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()\[\]{}]')
_OPEN = re.compile(r"[ \t]*(?:(?:and|or)\b|[{|])")
_GOES_ON = re.compile(r"(?:\b(?:and|or)|\|)[ \t]*\Z")
STARTS = re.compile(
    r"[ \t]*(?:(?:let|ops|program|rule|match|where|rewrite)\b(?![ \t]*=)|keep[ \t]+@|(?:new|change|use)[ \t]+%"
    r"|@[\w.]+[ \t]*:|[%_][\w., \t%]*=(?!=))"
)
"""What only stands at the start of a line: a bracket that is open before it has been forgotten."""


MOST_LINES = 200
"""Lines of the file that one line of it may go on for: more is a bracket that has been forgotten."""


class Line(NamedTuple):
    """Characters ``[start, end)``. ``unclosed`` is the place of a bracket that is open at the end; ``doubtful`` lines follow such a one,
    and may be parts of it.
    """

    start: int
    end: int
    unclosed: int | None = None
    doubtful: bool = False


def without_comments(text: str) -> str:
    """The text with blanks in the place of comments, so that positions stay."""
    return _COMMENT.sub(lambda match: match[0] if match[1] else " " * len(match[0]), text)


def logical_lines(text: str) -> Iterator[Line]:
    """The lines of a text without comments."""
    physical = [match.span() for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    number = doubtful_to = 0
    while number < len(physical):
        last, unclosed, goes_to = _extent(text, physical, number)
        yield Line(physical[number][0], physical[last][1], unclosed, number < doubtful_to)
        number = last + 1
        if unclosed is not None:
            doubtful_to = max(doubtful_to, goes_to + 1)


def _extent(text: str, physical: list[tuple[int, int]], first: int) -> tuple[int, int | None, int]:
    """The last physical line of the one that begins with the ``first``; where a bracket is that stays open, and the line up to which
    it may reach.
    """
    open_at: list[tuple[int, int]] = []
    for number in range(first, len(physical)):
        start, end = physical[number]
        if open_at and ((number > first and STARTS.match(text, start, end)) or number - first >= MOST_LINES):
            return _unclosed(open_at, number - 1)
        for match in _BRACKET.finditer(text, start, end):
            if match[0] in "([{":
                open_at.append((number, match.start()))
            elif match[0] in ")]}" and open_at:
                open_at.pop()
        following = physical[number + 1] if number + 1 < len(physical) else None
        goes_on = following and (_OPEN.match(text, *following) or _GOES_ON.search(text, start, end))
        if not open_at and not goes_on:
            return number, None, number
    return _unclosed(open_at, len(physical) - 1) if open_at else (len(physical) - 1, None, len(physical) - 1)


def _unclosed(open_at: list[tuple[int, int]], last: int) -> tuple[int, int, int]:
    """Of the brackets that are open the last one in the first line that has any."""
    line = open_at[0][0]
    return line, [position for number, position in open_at if number == line][-1], last
