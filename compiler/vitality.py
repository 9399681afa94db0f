"""Tensor vitality: when each tensor of a step is alive, and when it is idle (G10, MICRO'23, section 4.2).

Both analyses are pure functions of a :class:`~g10c.ir.step.Step`. Kernels are numbered in issue order; a range of kernels is half open.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from g10c.ir.step import Step

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Uses:
    """Which kernels use each tensor, in compressed rows.

    ``kernels[first[t]:first[t + 1]]`` are the kernels that read or write tensor ``t``, ascending and without repetition.
    """

    first: IntArray
    kernels: IntArray

    def of(self, tensor: int) -> IntArray:
        """Kernels that use ``tensor``, ascending."""
        return self.kernels[self.first[tensor] : self.first[tensor + 1]]


@dataclass(frozen=True)
class Lifetimes:
    """Live ranges ``[birth, death)`` of every tensor, in kernels, and the uses they follow from.

    A persistent tensor is alive during the whole step, ``[0, kernels)``. A tensor that no kernel uses has the empty range ``[0, 0)``.
    """

    birth: IntArray
    """First kernel that reads or writes the tensor."""
    death: IntArray
    """One past the last kernel that uses the tensor; for a tensor that is written once and never read, one past its birth."""
    never_read: BoolArray
    """No kernel reads the tensor: what is written is lost (workspaces, and results that nothing takes)."""
    persistent: BoolArray
    uses: Uses

    @cached_property
    def used(self) -> BoolArray:
        """Some kernel reads or writes the tensor."""
        return np.diff(self.uses.first) > 0


@dataclass(frozen=True, slots=True)
class Period:
    """An inactive period: a live tensor is not used by the kernels from ``start`` up to, and without, its next use ``end``.

    Where ``wraps``, the period runs across the end of the step: kernels ``start`` to the last, then those before ``end`` of the next step.
    A period that covers the beginning of the step only (a persistent tensor that the last kernel uses) starts at 0 and does not wrap.
    """

    tensor: int
    start: int
    end: int
    wraps: bool
    length_ns: int
    """Ideal time of the idle kernels, ns: no stall is counted."""

    def kernels(self, kernel_count: int) -> int:
        """How many kernels of a step with ``kernel_count`` kernels the period covers."""
        return self.end - self.start + (kernel_count if self.wraps else 0)


def uses(step: Step) -> Uses:
    """Collect for every tensor the kernels that read or write it."""
    pairs = [(tensor, number) for number, kernel in enumerate(step.kernels) for tensor in sorted({*kernel.reads, *kernel.writes})]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    order = np.argsort(table[:, 0], kind="stable")
    counts = np.bincount(table[:, 0], minlength=len(step.tensors))
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    return Uses(first, np.ascontiguousarray(table[order, 1]))


def liveness(step: Step) -> Lifetimes:
    """Find birth and death of every tensor.

    The G10 artifact (``analysis.cc``, ``tensor_first_pass_liveness_analysis``) ends a life after the last *read*. Here it ends after the
    last use. That is the same wherever the last write is read, or where a tensor is written once and never read; and a kernel that
    overwrites a value nobody reads again still finds its storage.
    """
    found = uses(step)
    used = np.diff(found.first) > 0
    persistent = np.array([tensor.persistent for tensor in step.tensors], dtype=np.bool_)
    never_read = np.ones(len(step.tensors), dtype=np.bool_)
    never_read[[tensor for kernel in step.kernels for tensor in kernel.reads]] = False
    birth = np.zeros(len(step.tensors), dtype=np.int64)
    death = np.zeros(len(step.tensors), dtype=np.int64)
    birth[used] = found.kernels[found.first[:-1][used]]
    death[used] = found.kernels[found.first[1:][used] - 1] + 1
    birth[persistent] = 0
    death[persistent] = len(step.kernels)
    return Lifetimes(birth, death, never_read, persistent, found)


def start_times_ns(step: Step) -> IntArray:
    """Ideal start of each kernel and, last, the ideal end of the step: ``kernels + 1`` times in ns."""
    times = np.zeros(len(step.kernels) + 1, dtype=np.int64)
    times[1:] = np.cumsum([kernel.time_ns for kernel in step.kernels], dtype=np.int64)
    return times


def inactive_periods(step: Step, lifetimes: Lifetimes) -> list[Period]:
    """List the inactive periods, by tensor and then in the order in which they begin after the tensor's first use.

    A tensor that dies at the end of its last use has periods between uses only; a persistent one also has the period from its last use
    to its first use in the next step. Persistent tensors that nothing uses have none.
    """
    starts = start_times_ns(step)
    periods = []
    for tensor in range(len(step.tensors)):
        kernels = lifetimes.uses.of(tensor)
        gaps = np.flatnonzero(np.diff(kernels) > 1)
        begin, end = kernels[gaps] + 1, kernels[gaps + 1]
        lengths = starts[end] - starts[begin]
        periods += [Period(tensor, *gap) for gap in zip(begin.tolist(), end.tolist(), repeat(False), lengths.tolist(), strict=False)]
        if lifetimes.persistent[tensor] and kernels.size:
            periods += _period_across_the_end(tensor, int(kernels[0]), int(kernels[-1]) + 1, starts)
    return periods


def _period_across_the_end(tensor: int, first_use: int, idle_from: int, starts: IntArray) -> list[Period]:
    """Return the period of a persistent tensor between its last use in one step and its first in the next, if there is an idle kernel."""
    kernel_count = len(starts) - 1
    if idle_from == kernel_count:
        return [Period(tensor, 0, first_use, False, int(starts[first_use]))] if first_use else []
    return [Period(tensor, idle_from, first_use, True, int(starts[-1] - starts[idle_from] + starts[first_use]))]
