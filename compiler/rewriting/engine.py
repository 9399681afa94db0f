"""Rules applied to a program until none fits.

The order is defined: rounds over a work-list of ops in program order, the whole program at first. At each op the rules are tried in
their order, and the first that fits fires; ops that it makes are looked at right away. The next round has the ops that touch a tensor
of which this one changed a version, a use or the declaration: whatever may match now and did not before has such an op in it.

An index from op names to rules and bisection in the dataflow keep the cost of a round close to linear in its ops. A rule fires once on
the same ops with the same results for its names: keeping them all does not make it fire again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.apply import Firing, Refusal, RuleError, fire, rule_error
from g10c.compiler.rewriting.dataflow import Version
from g10c.compiler.rewriting.rewriter import Rewriter
from g10c.compiler.rewriting.rule import Condition, Match, Rule, RuleSet
from g10c.compiler.rewriting.sequence import Place, order_of
from g10c.ir.errors import Diagnostic, G10cError

if TYPE_CHECKING:
    from g10c.compiler.rewriting.log import RewriteLog
    from g10c.compiler.rewriting.match import Bindings
    from g10c.ir.program import Program

LEAST_LIMIT = 10_000
FIRINGS_PER_OP = 4
"""The limit on firings, unless one is given: this many for each op of the program, and at least :data:`LEAST_LIMIT`."""


Results = tuple[tuple[str, ...], ...]
"""For each name that a pattern writes its tensors."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten program and how often each rule fired, by name."""

    program: Program
    firings: dict[str, int]


def apply_rules(program: Program, rules: RuleSet | Rule, limit: int | None = None, log: RewriteLog | None = None) -> Rewritten:
    """Apply rules until none fits.

    Raises :class:`~g10c.compiler.rewriting.apply.RuleError` for a rule that would lose a value, and where more than ``limit`` firings do
    not reach an end, naming the rules that keep firing.
    """
    found = RuleSet((rules,)) if isinstance(rules, Rule) else rules
    most = max(LEAST_LIMIT, FIRINGS_PER_OP * len(program.ops)) if limit is None else limit
    engine = _Engine(Rewriter(program), found, most, log)
    engine.run()
    return Rewritten(engine.rewriter.finish(), dict(engine.firings))


@dataclass(eq=False)
class _Engine:
    rewriter: Rewriter
    rules: RuleSet
    limit: int
    log: RewriteLog | None
    firings: Counter[str] = field(default_factory=Counter)
    fired: int = 0
    late: Counter[Rule] = field(default_factory=Counter)
    """What fired in the second half of the limit: rules without end are in it, those before them hardly."""
    _kept: dict[tuple[Rule, tuple[Place, ...]], set[Results]] = field(default_factory=dict)
    """Where a rule kept all ops that it matched, and the results of its names each time."""
    _changed: dict[str, None] = field(default_factory=dict)
    """Tensors of which this round has changed something."""
    _seen: dict[Place, None] = field(default_factory=dict)
    """Ops that this round has made or kept; they may have no tensors."""
    _loose_pending: bool = False
    _first_round: dict[str, list[tuple[Rule, int]]] = field(default_factory=dict)
    _anywhere: dict[str, list[tuple[Rule, int]]] = field(default_factory=dict)

    def run(self) -> None:
        work = list(self.rewriter.sequence)
        first = True
        while work:
            self._changed, self._seen = {}, {}
            for place in work:
                self._visit(place, first)
            first = False
            work = self._next_round()

    def _next_round(self) -> list[Place]:
        """The ops around what has changed; when nothing has, those of lines whose nearest op may have become another one."""
        flow, found = self.rewriter.flow, {place for place in self._seen if not place.gone}
        for name in self._changed:
            found.update(flow.readers(name), flow.writers(name), flow.directives(name))
        self._loose_pending |= bool(self._changed or self._seen)
        if not found and self._loose_pending:
            self._loose_pending = False
            found.update(place for name in sorted(self._loose_names) for place in flow.named(name))
        return sorted(found, key=order_of)

    @cached_property
    def _loose_names(self) -> set[str]:
        """Names of ops of the rules with a line that shares no tensor with the others: it is the nearest op of its name."""
        return {name for rule in self.rules if rule.matcher.has_loose_lines for item in rule.pattern for name in item.fitting}

    def _visit(self, place: Place, first: bool) -> None:
        """Try the rules on an op, and on the ops that they make of it."""
        waiting = [(place, first)]
        while waiting:
            current, only_start = waiting.pop()
            if current.gone:
                continue
            firing = self._try(current, only_start)
            if firing is not None:
                waiting += [(made, False) for made in reversed(firing.places)]

    def _candidates(self, name: str, only_start: bool) -> list[tuple[Rule, int]]:
        """The rules, in order, that an op of this name can be part of, with its position in their patterns.

        When all ops are looked at, each match is found at one op of it.
        """
        index = self._first_round if only_start else self._anywhere
        found = index.get(name)
        if found is None:
            found = index[name] = []
            for rule in self.rules:
                ops = rule.pattern.ops
                positions = [rule.matcher.start] if only_start else range(len(ops))
                found += [(rule, position) for position in positions if name in ops[position].fitting]
        return found

    def _try(self, place: Place, only_start: bool) -> Firing | None:
        for rule, position in self._candidates(place.op.name, only_start):
            for bindings in rule.matcher.matches(self.rewriter.flow, place, position):
                firing = self._attempt(rule, bindings)
                if firing is not None:
                    self._note(firing, bindings)
                    return firing
        return None

    def _attempt(self, rule: Rule, bindings: Bindings) -> Firing | None:
        match = Match(rule.pattern, bindings, self.rewriter)
        known = self._kept.get((rule, match.places)) if self._kept else None
        if known and _results(rule, bindings) in known:
            return None
        failed = _first_failing(rule, match)
        if failed is not None:
            if self.log is not None and _others_hold(rule, match, failed):
                self.log.near_miss(rule, match, _refusal(failed, match))
            return None
        outcome = fire(rule, match)
        if isinstance(outcome, Refusal):
            if self.log is not None:
                self.log.near_miss(rule, match, outcome)
            return None
        return outcome

    def _note(self, firing: Firing, bindings: Bindings) -> None:
        rule, places = firing.rule, tuple(place for place in bindings.places if place is not None)
        if not any(place.gone for place in places):
            self._kept.setdefault((rule, places), set()).add(_results(rule, bindings))
        self.firings[rule.name] += 1
        self._changed.update(dict.fromkeys(firing.changed))
        self._seen.update(dict.fromkeys((*places, *firing.places)))
        if self.log is not None:
            self.log.fired(firing)
        self.fired += 1
        if self.fired > self.limit // 2:
            self.late[rule] += 1
        if self.fired > self.limit:
            raise self._endless()

    def _endless(self) -> RuleError:
        rules = [rule for rule, _ in self.late.most_common(5)]
        most = [f"{rule} fired {self.firings[rule.name]:,} times" for rule in rules]
        return RuleError(
            Diagnostic(
                f"the rules have fired {self.limit:,} times without an end: {', '.join(most)}",
                rules[0].location,
                "what a rule makes should not match it again: add a condition that the result does not meet, or raise `limit`",
            )
        )


def _results(rule: Rule, bindings: Bindings) -> Results:
    """The tensors that the written names of a pattern stand for. Operands do not count: those of some ops stand in any order."""
    written = rule.pattern.written
    bound = [value for (name, number), value in bindings.slots.items() if number and name in written]
    return tuple([tuple([one.tensor for one in ((value,) if isinstance(value, Version) else value)]) for value in bound])


def _failing(rule: Rule, match: Match, but: Condition | None = None) -> Iterator[Condition]:
    """The conditions that do not hold, one after the other."""
    return (condition for condition in rule.conditions if condition is not but and not condition.holds(match))


def _first_failing(rule: Rule, match: Match) -> Condition | None:
    try:
        return next(_failing(rule, match), None)
    except G10cError:
        raise
    except Exception as error:  # a condition may be any function of a user
        raise rule_error(
            rule, match, f"a condition raised {type(error).__name__}: {error}", "this is a mistake in the condition"
        ) from error


def _others_hold(rule: Rule, match: Match, failed: Condition) -> bool:
    """Whether all conditions but one hold. Those behind it may count on it: one that cannot be evaluated does not hold."""
    try:
        return not any(_failing(rule, match, failed))
    except Exception:  # a condition may be any function of a user
        return False


def _refusal(condition: Condition, match: Match) -> Refusal:
    return Refusal(condition.text, condition.found(match) if condition.found is not None else "")
