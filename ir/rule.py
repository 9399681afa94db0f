"""Rules of legality as data: a name, what it says, the levels it holds at, and its check."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from g10c.ir.errors import MAX_SHOWN, Diagnostic, near_hint
from g10c.ir.program import Level, Op, Program
from g10c.ir.source import Location, Span

ALL_LEVELS = frozenset(Level)


@dataclass(slots=True)
class Subject:
    """What a rule looks at: a program and the level it is to hold at.

    Where the text already has mistakes, ``excused`` holds tensors whose declaration could not be read, and ``partial`` ops of
    which a part could not be read: nothing is missed there.
    """

    program: Program
    level: Level
    excused: Collection[str] = ()
    partial: Collection[Op] = ()
    _hints: dict[tuple[str, str], str] = field(default_factory=dict)

    def near(self, name: str, known: Collection[str], what: str) -> str:
        """A hint with near names; empty after as many as are shown, since a search among many names is slow."""
        key = (name, what)
        if key not in self._hints:
            if len(self._hints) >= 2 * MAX_SHOWN:
                return ""
            self._hints[key] = near_hint(name, _alike(name, known), what)
        return self._hints[key]


def _alike(name: str, known: Collection[str], few: int = 300) -> Collection[str]:
    """Of many names those of about the same length that begin or end alike."""
    if len(known) <= few:
        return known
    alike = [word for word in known if abs(len(word) - len(name)) <= 2 and (word[:2] == name[:2] or word[-2:] == name[-2:])]
    return alike[:few]


Check = Callable[[Subject], Iterable[Diagnostic]]


@dataclass(frozen=True, slots=True)
class Rule:
    """``check`` yields the mistakes of a program; ``doc`` says in one sentence what holds where there are none."""

    name: str
    doc: str
    check: Check
    levels: frozenset[Level] = ALL_LEVELS

    def mistakes(self, subject: Subject) -> Iterator[Diagnostic]:
        """The mistakes, each citing the rule."""
        for diagnostic in self.check(subject):
            yield replace(diagnostic, message=f"{diagnostic.message} [rule {self.name}]")


def apply_rules(rules: Iterable[Rule], subject: Subject) -> list[Diagnostic]:
    """All mistakes by the rules of the subject's level, in order of the text where they have a place in one."""
    found = [diagnostic for rule in rules if subject.level in rule.levels for diagnostic in rule.mistakes(subject)]
    return sorted(found, key=position)


def position(diagnostic: Diagnostic) -> int:
    """Sort key: the place in the text; mistakes without one come first."""
    return diagnostic.location.start if isinstance(diagnostic.location, Span) else -1


def at_pattern(location: Location | None, pattern: str) -> Location | None:
    """The first match of a pattern (its first group, if any) inside a span; the location itself when there is none."""
    if not isinstance(location, Span):
        return location
    match = re.compile(pattern).search(location.source.text, location.start, location.end)
    if not match:
        return location
    group = 1 if match.re.groups else 0
    return Span(location.source, match.start(group), match.end(group))


def at_tensor(location: Location | None, name: str) -> Location | None:
    """The place of ``%name``."""
    return at_pattern(location, rf"%{re.escape(name)}(?![\w]|[.\-/:]+\w)")


def at_operand(op: Op, name: str) -> Location | None:
    """The place of ``%name`` among the operands."""
    return at_pattern(op.location, rf"\([^)]*?(%{re.escape(name)}(?![\w]|[.\-/:]+\w))")


def at_key(location: Location | None, key: str) -> Location | None:
    """The place of an attribute's key."""
    return at_pattern(location, rf"[{{,][ \t]*({re.escape(key)})[ \t]*=")


def at_value(location: Location | None, key: str) -> Location | None:
    """The place of an attribute's value."""
    return at_pattern(location, rf'[{{,][ \t]*{re.escape(key)}[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|\[.*\]|[^,\s}}]*)')
