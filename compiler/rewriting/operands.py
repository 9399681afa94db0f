"""Lists of operands and results of a pattern, bound to the versions that an op reads or makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from g10c.compiler.rewriting.dataflow import Version
from g10c.compiler.rewriting.pattern import ANY, Operand, Slot

Bound = Version | tuple[Version, ...]
Slots = dict[Slot, Bound]

MOST_PERMUTED = 4
"""Operands of a commutative op that are tried in every order; more of them only in their own."""


class OperandList:
    """One list of a pattern. ``least`` and ``most`` say how many versions fit it."""

    def __init__(self, operands: tuple[Operand, ...], slots: tuple[Slot, ...]) -> None:
        self._slots = slots
        self._repeated = [number for number, operand in enumerate(operands) if operand.many]
        self._asks_nothing = all(operand.name == ANY for operand in operands)
        self._middle = _middle(operands)
        self.least = len(operands) - len(self._repeated)
        self.most = 1 << 60 if self._repeated else len(operands)

    @property
    def ways(self) -> int:
        """0 where a list of versions fits in one way at most, else 1."""
        return int(len(self._repeated) > 1)

    def bind(self, versions: tuple[Version, ...], known: Slots) -> Sequence[Slots] | Iterator[Slots]:
        """The bindings with those of ``versions``, in each way in which the list fits; the shortest runs of repeated operands first."""
        if self._middle:
            return self._bind_middle(versions, known)
        if len(self._repeated) > 1:
            return self._bind_several(versions, known)
        found = self._bind_one(versions, known)
        return () if found is None else (found,)

    def _bind_one(self, versions: tuple[Version, ...], known: Slots) -> Slots | None:
        """The only way, where at most one operand is repeated."""
        if self._asks_nothing:
            return known
        values: Sequence[Bound] = versions
        if self._repeated:
            start = self._repeated[0]
            end = len(versions) - (len(self._slots) - start - 1)
            values = (*versions[:start], versions[start:end], *versions[end:])
        found = dict(known)
        for slot, value in zip(self._slots, values, strict=True):
            if slot[0] != ANY and found.setdefault(slot, value) != value:
                return None
        return found

    def _bind_middle(self, versions: tuple[Version, ...], known: Slots) -> Iterator[Slots]:
        """The usual ``before..., x, after...``, without trying what the one in the middle rules out."""
        before, wanted, after = self._slots
        bound = known.get(wanted)
        for number, version in enumerate(versions):
            if bound is not None and bound != version:
                continue
            found = dict(known)
            for slot, value in ((before, versions[:number]), (wanted, version), (after, versions[number + 1 :])):
                if slot[0] != ANY and found.setdefault(slot, value) != value:
                    break
            else:
                yield found

    def _bind_several(self, versions: tuple[Version, ...], known: Slots, first: int = 0, start: int = 0) -> Iterator[Slots]:
        """Every way to cut ``versions[start:]`` for the operands from ``first`` on."""
        if first == len(self._slots):
            if start == len(versions):
                yield known
            return
        slot = self._slots[first]
        bound = None if slot[0] == ANY else known.get(slot)
        later = len(self._slots) - first - 1 - sum(number > first for number in self._repeated)
        if first not in self._repeated:
            value: Bound = versions[start] if start < len(versions) else ()
            if value != () and bound in (None, value):
                yield from self._bind_several(versions, self._with(slot, value, known), first + 1, start + 1)
            return
        last = first == self._repeated[-1]
        for end in range(len(versions) - later if last else start, len(versions) - later + 1):
            value = versions[start:end]
            if bound in (None, value):
                yield from self._bind_several(versions, self._with(slot, value, known), first + 1, end)

    def _with(self, slot: Slot, value: Bound, known: Slots) -> Slots:
        return known if slot[0] == ANY or slot in known else {**known, slot: value}

    def bind_any_order(self, versions: tuple[Version, ...], known: Slots) -> Iterator[Slots]:
        """As :meth:`bind`, with the versions in any order; those for a repeated operand stay in theirs."""
        if len(versions) > MOST_PERMUTED or len(self._repeated) > 1:
            yield from self.bind(versions, known)
            return
        for chosen in dict.fromkeys(self._orders(versions)):
            yield from self.bind(chosen, known)

    def _orders(self, versions: tuple[Version, ...]) -> Iterator[tuple[Version, ...]]:
        if not self._repeated:
            yield from permutations(versions)
            return
        start = self._repeated[0]
        numbers = range(len(versions))
        yield versions
        for fixed in permutations(numbers, self.least):
            rest = tuple(versions[number] for number in numbers if number not in fixed)
            head, tail = fixed[:start], fixed[start:]
            yield (*(versions[number] for number in head), *rest, *(versions[number] for number in tail))


def _middle(operands: tuple[Operand, ...]) -> bool:
    """Whether it is one named operand between two repeated ones."""
    return [operand.many for operand in operands] == [True, False, True] and operands[1].name != ANY
