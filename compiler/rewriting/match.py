"""Where a pattern matches: bindings of its names to versions of tensors, of its labels to ops, and of attributes to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.dataflow import Dataflow, Version
from g10c.compiler.rewriting.operands import Bound, OperandList, Slots
from g10c.compiler.rewriting.pattern import ANY, Capture, OpPattern, Pattern, Slot
from g10c.compiler.rewriting.sequence import Place, order_of
from g10c.ir.ops import DECLARATIONS, OpKind, is_commutative

if TYPE_CHECKING:
    from g10c.ir.values import Value

DIRECTIVES = frozenset(decl.name for decl in DECLARATIONS if decl.kind is OpKind.DIRECTIVE)


@dataclass(frozen=True, slots=True)
class Bindings:
    """What is known of a match so far. ``slots`` binds each name in each of its versions, ``attrs`` the captured values."""

    places: tuple[Place | None, ...]
    slots: Slots
    attrs: dict[str, Value]


class Matcher:
    """Finds matches of one pattern. ``matches(flow, place, position)`` gives those in which a place is the op of a position."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self._sides = [
            (OperandList(item.reads, reads), OperandList(item.writes, writes))
            for item, (reads, writes) in zip(pattern, pattern.slots, strict=True)
        ]
        self._pairs = _pairs(pattern)
        self._chains = sum(bool(item.fitting & DIRECTIVES) for item in pattern) > 1
        self._clashing = bool(pattern.written) and len({name for names in _names(pattern) for name in names}) > 1
        self.start = min(range(len(pattern.ops)), key=lambda n: (sum(side.ways for side in self._sides[n]), -n))
        """The position at which to look for matches first: where the fewest ways of binding are tried."""
        self._orders = [_visiting_order(pattern, start) for start in range(len(pattern.ops))]
        self.has_loose_lines = _has_loose_lines(pattern)
        """Whether a line shares no tensor with another."""

    def matches(self, flow: Dataflow, place: Place, position: int) -> Iterator[Bindings]:
        """All matches with the op of ``place`` at a position of the pattern, in a fixed order."""
        start = Bindings((None,) * len(self.pattern.ops), {}, {})
        for bindings in self._bind_op(flow, place, position, start):
            yield from self._extend(flow, self._orders[position], 1, bindings)

    def _extend(self, flow: Dataflow, order: tuple[int, ...], step: int, bindings: Bindings) -> Iterator[Bindings]:
        if step == len(order):
            if (not self._clashing or self._apart(bindings)) and (not self._chains or _consecutive(flow, bindings)):
                yield bindings
            return
        position = order[step]
        for place in self._candidates(flow, position, bindings):
            for extended in self._bind_op(flow, place, position, bindings):
                yield from self._extend(flow, order, step + 1, extended)

    def _candidates(self, flow: Dataflow, position: int, bindings: Bindings) -> Iterator[Place]:
        """The places that can be the op of a position, from what is bound already."""
        reads, writes = self.pattern.slots[position]
        for slot in writes:
            bound = bindings.slots.get(slot)
            if bound:
                made = bound.made_by if isinstance(bound, Version) else bound[0].made_by
                if made is not None:
                    yield made
                return
        for name, number in writes:  # in place: the write that ends the version before
            before = bindings.slots.get((name, number - 1))
            if isinstance(before, Version) and (number > 1 or (name, 0) in reads):
                following = flow.next_write(before)
                if following is not None:
                    yield following
                return
        for slot in reads:
            bound = bindings.slots.get(slot)
            if bound:
                yield from self._finding(flow, bound if isinstance(bound, Version) else bound[0], position)
                return
            behind = bindings.slots.get((slot[0], slot[1] + 1))  # what the next write replaced is what is read here
            if isinstance(behind, Version) and behind.made_by is not None:
                yield from self._finding(flow, flow.found(behind.made_by, behind.tensor), position)
                return
        yield from self._nearest(flow, position, bindings)

    def _finding(self, flow: Dataflow, version: Version, position: int) -> list[Place]:
        """The ops that read a version, and where the pattern asks for a directive those on it."""
        if not self.pattern.ops[position].fitting & DIRECTIVES:
            return flow.uses(version)
        directives = [place for place in flow.directives(version.tensor) if flow.found(place, version.tensor) == version]
        return sorted([*flow.uses(version), *directives], key=order_of)

    def _nearest(self, flow: Dataflow, position: int, bindings: Bindings) -> Iterator[Place]:
        """For a line that shares no tensor with what is bound: the nearest op of a fitting name, behind one above or before one below."""
        above = next((bindings.places[n] for n in range(position - 1, -1, -1) if bindings.places[n]), None)
        names = self.pattern.ops[position].fitting
        if above is not None:
            found = [place for name in names if (place := flow.next_named(name, above))]
            yield from [min(found, key=lambda place: place.order)] if found else []
            return
        below = next((place for place in bindings.places[position + 1 :] if place), None)
        if below is not None:
            found = [place for name in names if (place := flow.previous_named(name, below))]
            yield from [max(found, key=lambda place: place.order)] if found else []

    def _bind_op(self, flow: Dataflow, place: Place, position: int, bindings: Bindings) -> Iterator[Bindings]:
        """The bindings with the op of ``place`` at a position, in each way in which it fits."""
        item, found = self.pattern.ops[position], place.op
        if found.name not in item.fitting:
            return
        operands, results = self._sides[position]
        if (
            place.gone
            or not operands.least <= len(found.reads) <= operands.most
            or not results.least <= len(found.writes) <= results.most
            or place in bindings.places
            or not self._in_order(place, position, bindings)
        ):
            return
        attrs = _bind_attrs(item, found.attrs, bindings.attrs)
        if attrs is None:
            return
        places = (*bindings.places[:position], place, *bindings.places[position + 1 :])
        reads = flow.reads(place)
        for slots in operands.bind_any_order(reads, bindings.slots) if is_commutative(found.name) else operands.bind(reads, bindings.slots):
            for final in results.bind(flow.writes(place), slots):
                if self._chained(flow, position, final):
                    yield Bindings(places, final, attrs)

    def _in_order(self, place: Place, position: int, bindings: Bindings) -> bool:
        return all(other is None or (other.order < place.order) == (number < position) for number, other in enumerate(bindings.places))

    def _chained(self, flow: Dataflow, position: int, slots: Slots) -> bool:
        """Whether what a name stands for follows, without a write in between, what it stood for before."""
        for earlier, later in self._pairs[position]:
            before, after = slots.get(earlier), slots.get(later)
            if before is not None and after is not None and not _follows(flow, before, after):
                return False
        return True

    def _apart(self, bindings: Bindings) -> bool:
        """Whether names that the pattern writes stand for tensors of their own."""
        owner: dict[str, str] = {}
        clash: set[str] = set()
        for (name, _), bound in bindings.slots.items():
            for version in (bound,) if isinstance(bound, Version) else bound:
                if owner.setdefault(version.tensor, name) != name:
                    clash |= {owner[version.tensor], name}
        return not clash & self.pattern.written


def _consecutive(flow: Dataflow, bindings: Bindings) -> bool:
    """Whether the directives of a match on one tensor follow each other without another one on it in between."""
    chosen: dict[str, list[Place]] = {}
    for place in bindings.places:
        if place is not None and place.op.name in DIRECTIVES:
            chosen.setdefault(place.op.reads[0], []).append(place)
    for name, places in chosen.items():
        every = flow.directives(name)
        start = every.index(places[0])
        if every[start : start + len(places)] != places:
            return False
    return True


def _follows(flow: Dataflow, before: Bound, after: Bound) -> bool:
    """Whether the versions of ``after`` are those that the next write of each tensor of ``before`` makes."""
    if isinstance(before, Version) and isinstance(after, Version):
        return before.tensor == after.tensor and after.made_by is not None and flow.found(after.made_by, after.tensor) == before
    if isinstance(before, Version) or isinstance(after, Version) or len(before) != len(after):
        return False
    return all(_follows(flow, one, other) for one, other in zip(before, after, strict=True))


def _pairs(pattern: Pattern) -> list[list[tuple[Slot, Slot]]]:
    """For each position the slots that follow each other, of which one is of this position."""
    slots = [{slot for slot in (*reads, *writes) if slot[0] != ANY} for reads, writes in pattern.slots]
    every = sorted(set().union(*slots))
    pairs = [(slot, (slot[0], slot[1] + 1)) for slot in every if (slot[0], slot[1] + 1) in every]
    return [[pair for pair in pairs if pair[0] in own or pair[1] in own] for own in slots]


def _names(pattern: Pattern) -> list[set[str]]:
    return [{operand.name for operand in (*item.reads, *item.writes)} - {ANY} for item in pattern]


def _has_loose_lines(pattern: Pattern) -> bool:
    names = _names(pattern)
    known, rest = set(names[0]), names[1:]
    while rest:
        near = next((other for other in rest if other & known), None)
        if near is None:
            return True
        known |= near
        rest.remove(near)
    return False


def _visiting_order(pattern: Pattern, start: int) -> tuple[int, ...]:
    """Positions from ``start`` outwards along shared names; what shares none comes last."""
    names = _names(pattern)
    order, known = [start], set(names[start])
    rest = [position for position in range(len(names)) if position != start]
    while rest:
        position = next((position for position in rest if names[position] & known), rest[0])
        order.append(position)
        known |= names[position]
        rest.remove(position)
    return tuple(order)


def _bind_attrs(item: OpPattern, attrs: Mapping[str, Value], known: dict[str, Value]) -> dict[str, Value] | None:
    """The captured values with those of an op; ``None`` where an attribute does not fit."""
    if not item.attrs:
        return known
    found = dict(known)
    for key, wanted in item.attrs.items():
        value = attrs.get(key)
        if value is None:
            return None
        if isinstance(wanted, Capture):
            if wanted.name != ANY and not _same(found.setdefault(wanted.name, value), value):
                return None
        elif not any(_same(one, value) for one in wanted.values):
            return None
    return found


def _same(one: Value, other: Value) -> bool:
    """Whether two values are equal and of a kind: 1 is neither true nor 1 ns. A word is text."""
    return one == other and (type(one) is type(other) or (isinstance(one, str) and isinstance(other, str)))
