"""The one error type of g10c: diagnostics with a place, what was expected and what to do.

Every mistake a user can make is a :class:`Diagnostic`. An error carries one or more of them and the exit status of the command line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from g10c.ir.source import Location, Span

MAX_SHOWN = 20
"""Diagnostics printed of one error; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: ``message`` says what is wrong, ``hint`` what was expected or what to do."""

    message: str
    location: Location | None = None
    hint: str = ""

    def render(self) -> str:
        """The diagnostic as text: place and message, the line with a caret under it, the hint."""
        lines = [f"error: {self.message}" if self.location is None else f"{self.location}: error: {self.message}"]
        if isinstance(self.location, Span):
            lines += _excerpt(self.location)
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines)


def _excerpt(span: Span, width: int = 120) -> list[str]:
    line, column = span.source.line_column(span.start)
    text = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in span.source.line_text(line))
    length = max(1, min(span.end - span.start, len(text) - column + 1))
    first = max(0, column - 1 - width * 2 // 3) if column + length > width else 0
    shown = text[first : first + width]
    mark = " " * (column - 1 - first) + "^" + "~" * (min(length, width) - 1)
    gutter = f"{line:>5} | "
    return [gutter + shown, " " * 5 + " | " + mark[:width]]


class G10cError(Exception):
    """Something the user has to change. ``exit_status`` is that of the command line."""

    exit_status: ClassVar[int] = 1

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        self.diagnostics = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__(self.render())

    @classmethod
    def at(cls, message: str, location: Location | None = None, hint: str = "") -> Self:
        """An error with a single diagnostic, of the class it is called on."""
        return cls(Diagnostic(message, location, hint))

    def render(self) -> str:
        """All diagnostics as text, at most :data:`MAX_SHOWN` of them."""
        shown = [diagnostic.render() for diagnostic in self.diagnostics[:MAX_SHOWN]]
        if len(self.diagnostics) > MAX_SHOWN:
            shown.append(f"and {len(self.diagnostics) - MAX_SHOWN} more")
        return "\n".join(shown)

    def __reduce__(self) -> tuple[type[G10cError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class InputError(G10cError):
    """The input is wrong: a file, a value in it, or pipeline text (exit status 1)."""


class UsageError(G10cError):
    """The arguments are wrong (exit status 2)."""

    exit_status = 2


class InfeasibleError(G10cError):
    """It does not fit or cannot be solved (exit status 3)."""

    exit_status = 3


class InternalError(G10cError):
    """A broken invariant of g10c itself: never the user's fault (exit status 70)."""

    exit_status = 70


def near_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Known names that ``name`` may have meant, best first."""
    return difflib.get_close_matches(name, sorted(known), n=limit, cutoff=0.6)


def near_hint(name: str, known: Iterable[str], what: str) -> str:
    """A hint that names the nearest known names, or all of them when there are few."""
    names = sorted(known)
    near = near_names(name, names)
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}?"
    if names and len(names) <= 12:
        return f"known {what}: {', '.join(names)}"
    return ""
