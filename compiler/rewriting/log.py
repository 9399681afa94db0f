"""What rules did and nearly did: each firing, and the matches that one condition kept from firing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from g10c.ir.printer import print_op

if TYPE_CHECKING:
    from g10c.compiler.rewriting.apply import Firing, Refusal
    from g10c.compiler.rewriting.rule import Match, Rule
    from g10c.ir.program import Op


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A match that one condition kept from firing, and what that condition found."""

    rule: Rule
    condition: str
    found: str
    ops: tuple[Op, ...]


@dataclass
class RewriteLog:
    """Everything that rules of a pipeline did, in order, and nearly did."""

    firings: list[Firing] = field(default_factory=list)
    _near_misses: dict[tuple[Rule, tuple[Op, ...]], NearMiss] = field(default_factory=dict)

    def fired(self, firing: Firing) -> None:
        """Add a firing; what nearly fired before on the same ops no longer counts."""
        self.firings.append(firing)
        self._near_misses.pop((firing.rule, firing.matched), None)

    def near_miss(self, rule: Rule, match: Match, refusal: Refusal) -> None:
        """Add a match that all conditions but one would have let fire; of the same ops the last one counts."""
        ops = tuple(place.op for place in match.places)
        self._near_misses[rule, ops] = NearMiss(rule, refusal.condition, refusal.found, ops)

    @property
    def near_misses(self) -> list[NearMiss]:
        """The near misses on ops that are still there."""
        gone = {op for firing in self.firings for op in firing.matched if op not in firing.made}
        return [miss for miss in self._near_misses.values() if not gone.intersection(miss.ops)]

    def text(self) -> str:
        """For a reader: each firing with what matched and what it became, then the near misses by rule and condition."""
        lines = [line for firing in self.firings for line in _firing_lines(firing)]
        groups: dict[tuple[Rule, str], list[NearMiss]] = {}
        for miss in self.near_misses:
            groups.setdefault((miss.rule, miss.condition), []).append(miss)
        lines += [line for group in groups.values() for line in _near_miss_lines(group)]
        return "\n".join(lines or ["no rule fired, and none nearly did"])


def _firing_lines(firing: Firing) -> Iterator[str]:
    yield f"{firing.rule}"
    made = set(map(id, firing.made))
    matched = set(map(id, firing.matched))
    for op in firing.matched:
        yield f"  {'=' if id(op) in made else '-'} {print_op(op)}{_at(op)}"
    yield from (f"  + {print_op(op)}" for op in firing.made if id(op) not in matched)
    yield from (f"  ~ {print_op(after)}" for _, after in firing.renamed)


def _near_miss_lines(group: list[NearMiss]) -> Iterator[str]:
    first = group[0]
    times = f"{len(group):,} times, first on" if len(group) > 1 else "once, on"
    found = f" ({first.found})" if first.found else ""
    yield f"near miss: {first.rule} fits but for: {first.condition}{found}; {times}"
    yield from (f"  . {print_op(op)}{_at(op)}" for op in first.ops)


def _at(op: Op) -> str:
    return f"    # {op.location}" if op.location is not None else ""
