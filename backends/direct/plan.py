"""A plan by slot, with what it leaves to the runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from g10c.backends.direct.places import Places
from g10c.ir.step import Move


@dataclass(frozen=True)
class Plan:
    """Moves by slot, and what the runtime does for tensors that the plan leaves to it.

    A tensor that is not persistent and that no ``alloc`` names is allocated when its first kernel becomes current; one that no ``free``
    names is freed when its last kernel has ended. A tensor whose first kernel reads it is an input: its data are there once it is
    allocated.
    """

    places: Places
    moves: tuple[tuple[tuple[int, Move], ...], ...]
    """Moves with their numbers, by slot."""
    births: Mapping[int, tuple[int, ...]]
    """Tensors to allocate implicitly, by slot."""
    deaths: Mapping[int, tuple[int, ...]]
    """Tensors to free implicitly, by slot, before directives of that slot."""
    filled_until: Mapping[int, int]
    """Inputs, and the slot of their first kernel: an allocation up to there has the data, a later one does not."""

    @classmethod
    def of(cls, places: Places, moves: Sequence[Move]) -> Plan:
        """Sort moves by slot and find first and last uses."""
        step = places.step
        slots: list[list[tuple[int, Move]]] = [[] for _ in range(len(step.kernels) + 1)]
        for number, directive in enumerate(moves):
            slots[directive.slot].append((number, directive))
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        inputs: dict[int, int] = {}
        for slot, kernel in enumerate(step.kernels):
            for tensor in (*kernel.reads, *kernel.writes):
                if tensor not in first:
                    first[tensor] = slot
                    if tensor in kernel.reads and not step.tensors[tensor].persistent:
                        inputs[tensor] = slot
                last[tensor] = slot
        allocated = {directive.tensor for directive in moves if directive.kind == "alloc"}
        freed = {directive.tensor for directive in moves if directive.kind == "free"}
        own = [tensor for tensor in sorted(first) if not step.tensors[tensor].persistent]
        births = _by_slot([(first[tensor], tensor) for tensor in own if tensor not in allocated])
        deaths = _by_slot([(last[tensor] + 1, tensor) for tensor in own if tensor not in freed])
        return cls(places, tuple(map(tuple, slots)), births, deaths, inputs)


def _by_slot(pairs: list[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    slots: dict[int, list[int]] = {}
    for slot, tensor in pairs:
        slots.setdefault(slot, []).append(tensor)
    return {slot: tuple(tensors) for slot, tensors in slots.items()}
