"""GPU memory that a step would use, kernel by kernel, and when to allocate and free (G10, MICRO'23, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from g10c.compiler.vitality import Lifetimes
from g10c.ir.machine import Machine
from g10c.passes.greedy.costs import Costs
from g10c.passes.greedy.options import GreedyOptions

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Allocations:
    """When intermediates come and go, for the tensors that are allocated and freed, in declaration order."""

    tensors: IntArray
    alloc_slots: IntArray
    free_slots: IntArray


def target_line(machine: Machine, options: GreedyOptions) -> int:
    """Bytes of GPU memory that the plan is to stay below; truncated after each factor, like the artifact."""
    return int(int(machine.gpu.usable * options.line_fraction) * options.memory_line)


def allocations(lifetimes: Lifetimes, sizes: IntArray, starts: IntArray, costs: Costs, options: GreedyOptions) -> Allocations:
    """Place ``alloc`` and ``free`` of every intermediate that takes space.

    ``alloc`` comes as long before the birth as allocating takes, but not before the step; ``free`` at the death.
    """
    chosen = ~lifetimes.persistent & lifetimes.used & (sizes > 0)
    if options.first_tensor_is_input:
        chosen[:1] = False
    tensors = np.flatnonzero(chosen)
    issued = starts[lifetimes.birth[tensors]] - sizes[tensors] * costs.allocation
    slots = np.searchsorted(starts, issued, side="right") - 1
    return Allocations(tensors, np.clip(slots, 0, lifetimes.birth[tensors]), lifetimes.death[tensors])


def initial_pressure(sizes: IntArray, kernel_count: int, options: GreedyOptions) -> IntArray:
    """Return the memory use of a step in which every tensor stays on the GPU throughout."""
    twice = int(sizes[0]) if options.first_tensor_is_input and sizes.size else 0
    return np.full(kernel_count, int(sizes.sum()) + twice, dtype=np.int64)


def after_allocations(initial: IntArray, sizes: IntArray, plan: Allocations, count: int) -> IntArray:
    """Return the memory use once the first ``count`` of the allocated tensors only take space between allocation and release."""
    change = np.zeros(initial.size + 1, dtype=np.int64)
    held = sizes[plan.tensors[:count]]
    np.add.at(change, plan.alloc_slots[:count], held)
    np.subtract.at(change, plan.free_slots[:count], held)
    pressure: IntArray = initial - held.sum() + np.cumsum(change)[:-1]
    return pressure


def tensors_until_it_fits(initial: IntArray, sizes: IntArray, plan: Allocations, line: int) -> int:
    """Return how many tensors, in order, have to be allocated and freed until no kernel is above ``line``; all if that is not enough."""
    low, high = 0, plan.tensors.size
    while low < high:
        middle = (low + high) // 2
        if after_allocations(initial, sizes, plan, middle).max(initial=0) <= line:
            high = middle
        else:
            low = middle + 1
    return low
