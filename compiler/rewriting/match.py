"""Where a pattern matches: bindings of its names to versions of tensors, of its labels to ops, and of attributes to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.dataflow import Dataflow, Version
from g10c.compiler.rewriting.pattern import ANY, Capture, Operand, OpPattern, Pattern, Slot
from g10c.compiler.rewriting.sequence import Place, order_of
from g10c.ir.ops import DECLARATIONS, OpKind, is_commutative

if TYPE_CHECKING:
    from g10c.ir.values import Value

DIRECTIVES = frozenset(decl.name for decl in DECLARATIONS if decl.kind is OpKind.DIRECTIVE)
MOST_PERMUTED = 4
"""Operands of a commutative op that are tried in every order; more of them only in their own."""

Bound = Version | tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Bindings:
    """What is known of a match so far. ``slots`` binds each name in each of its versions, ``attrs`` the captured values."""

    places: tuple[Place | None, ...]
    slots: dict[Slot, Bound]
    attrs: dict[str, Value]


class Matcher:
    """Finds matches of one pattern. ``matches(flow, place, position)`` gives those in which a place is the op of a position."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self._limits = [_limits(item) for item in pattern]
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
            if self._apart(bindings):
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
            made = _maker(bindings, slot)
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
        least_reads, most_reads, least_writes, most_writes = self._limits[position]
        if (
            place.gone
            or found.name not in item.fitting
            or not least_reads <= len(found.reads) <= most_reads
            or not least_writes <= len(found.writes) <= most_writes
            or place in bindings.places
            or not self._in_order(place, position, bindings)
        ):
            return
        attrs = _bind_attrs(item, found.attrs, bindings.attrs)
        if attrs is None:
            return
        places = (*bindings.places[:position], place, *bindings.places[position + 1 :])
        read_slots, write_slots = self.pattern.slots[position]
        reads = flow.reads(place)
        for ordered in dict.fromkeys(permutations(reads)) if is_commutative(found.name) and len(reads) <= MOST_PERMUTED else (reads,):
            for slots in _bind_list(item.reads, read_slots, ordered, bindings.slots):
                for final in _bind_list(item.writes, write_slots, flow.writes(place), slots):
                    if self._chained(flow, place, position, final):
                        yield Bindings(places, final, attrs)

    def _in_order(self, place: Place, position: int, bindings: Bindings) -> bool:
        return all(other is None or (other.order < place.order) == (number < position) for number, other in enumerate(bindings.places))

    def _chained(self, flow: Dataflow, place: Place, position: int, slots: dict[Slot, Bound]) -> bool:
        """Whether what the op writes follows, without a write in between, what the names stood for before; and is made where it is read."""
        for (name, number), operand in zip(self.pattern.slots[position][1], self.pattern.ops[position].writes, strict=True):
            bound = slots.get((name, number))
            if name == ANY or operand.many or not isinstance(bound, Version):
                continue
            before = slots.get((name, number - 1))
            if isinstance(before, Version) and flow.found(place, bound.tensor) != before:
                return False
            behind = slots.get((name, number + 1))
            if isinstance(behind, Version) and behind.made_by is not None and flow.found(behind.made_by, behind.tensor) != bound:
                return False
        for name, number in self.pattern.slots[position][0]:
            bound, behind = slots.get((name, number)), slots.get((name, number + 1))
            if (
                isinstance(bound, Version)
                and isinstance(behind, Version)
                and (bound.tensor != behind.tensor or behind.made_by is None or flow.found(behind.made_by, behind.tensor) != bound)
            ):
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


def _limits(item: OpPattern) -> tuple[int, int, int, int]:
    """Least and most operands and results."""
    limits = []
    for side in (item.reads, item.writes):
        many = any(operand.many for operand in side)
        limits += [sum(not operand.many for operand in side), 1 << 60 if many else len(side)]
    return limits[0], limits[1], limits[2], limits[3]


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


def _maker(bindings: Bindings, slot: Slot) -> Place | None:
    bound = bindings.slots.get(slot)
    if isinstance(bound, Version):
        return bound.made_by
    return bound[0].made_by if bound else None


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
            if wanted.name != ANY and found.setdefault(wanted.name, value) != value:
                return None
        elif value not in wanted.values:
            return None
    return found


def _bind_list(
    operands: tuple[Operand, ...], slots: tuple[Slot, ...], versions: tuple[Version, ...], known: dict[Slot, Bound]
) -> Iterator[dict[Slot, Bound]]:
    """Bind a list of operands to versions in each way in which it fits; the shortest runs of repeated ones first."""
    if not any(operand.many for operand in operands):
        found = dict(known)
        for slot, version in zip(slots, versions, strict=True):
            if slot[0] != ANY and found.setdefault(slot, version) != version:
                return
        yield found
        return
    if not operands:
        if not versions:
            yield known
        return
    first, rest = operands[0], operands[1:]
    fixed = sum(not operand.many for operand in rest)
    if not first.many:
        lengths: range | tuple[int, ...] = (1,)
    elif not any(operand.many for operand in rest):
        lengths = (len(versions) - fixed,)
    else:
        lengths = range(len(versions) - fixed + 1)
    for length in lengths:
        if length > len(versions):
            return
        taken: Bound = versions[:length] if first.many else versions[0]
        bound = known if first.name == ANY else {**known, slots[0]: taken}
        if first.name == ANY or known.get(slots[0], taken) == taken:
            yield from _bind_list(rest, slots[1:], versions[length:], bound)
