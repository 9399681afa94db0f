"""How many bytes can still move while each kernel runs, per direction: the SSD's own budget and the PCIe link that all transfers share.

A transfer takes what is free from its first kernel on, kernel after kernel. Free bytes are what could move during the kernel's ideal time
less what earlier decisions took (G10, MICRO'23, section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from g10c.passes.greedy.costs import Costs

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(slots=True)
class Budget:
    """Free bytes per kernel in one direction. ``ssd_capacity`` is what the SSD could move during each kernel if nothing else did."""

    ssd: FloatArray
    pcie: FloatArray
    ssd_capacity: FloatArray


@dataclass(slots=True)
class Budgets:
    """Both directions: out of the GPU (evictions) and into it (prefetches)."""

    outgoing: Budget
    incoming: Budget


def full_budgets(kernel_ticks: IntArray, costs: Costs) -> Budgets:
    """Return the budgets of a step in which nothing moves yet."""

    def untouched() -> Budget:
        ticks = kernel_ticks.astype(np.float64)
        return Budget(ticks * costs.ssd_rate, ticks * costs.pcie_rate, ticks * costs.ssd_rate)

    return Budgets(untouched(), untouched())


def cumulative(free: FloatArray) -> IntArray:
    """Return the bytes that move before each kernel, and last in the whole step. Each kernel's share counts in whole bytes, rounded up."""
    total = np.zeros(free.size + 1, dtype=np.int64)
    np.cumsum(np.ceil(free), dtype=np.int64, out=total[1:])
    return total


def finish_kernels(moved: IntArray, starts: IntArray, size_bytes: IntArray) -> IntArray:
    """Return the kernel during which each transfer ends that begins with kernel ``starts``; the last one if it does not fit in the step."""
    ends = np.searchsorted(moved, moved[starts] + size_bytes) - 1
    return np.clip(ends, starts, moved.size - 2)


def latest_starts(moved: IntArray, ends: IntArray, size_bytes: IntArray) -> IntArray:
    """Return the last kernel from which each transfer can begin to be over before kernel ``ends``; the first one if it cannot."""
    starts = np.searchsorted(moved, moved[ends] - size_bytes, side="right") - 1
    return np.clip(starts, 0, ends - 1)


def finish_kernel(free: FloatArray, start: int, size_bytes: int) -> int:
    """Return :func:`finish_kernels` of a single transfer."""
    moved = np.cumsum(np.ceil(free[start:]))
    return min(start + int(np.searchsorted(moved, size_bytes)), free.size - 1)


def latest_start(free: FloatArray, end: int, size_bytes: int) -> int:
    """Return :func:`latest_starts` of a single transfer."""
    moved = np.cumsum(np.ceil(free[:end][::-1]))
    return max(end - 1 - int(np.searchsorted(moved, size_bytes)), 0)


def take_ssd(budget: Budget, start: int, size_bytes: int) -> None:
    """Book a transfer between GPU and SSD from kernel ``start`` on. It uses the PCIe link as well."""
    last, rest = _filled(budget.ssd, start, size_bytes)
    taken = budget.ssd[start : last + 1].copy()
    taken[-1] = min(taken[-1], rest)
    budget.ssd[start : last + 1] -= taken
    budget.pcie[start : last + 1] = np.maximum(budget.pcie[start : last + 1] - taken, 0.0)


def take_host(budget: Budget, start: int, size_bytes: int) -> None:
    """Book a transfer between GPU and host from kernel ``start`` on.

    Where the link is full the SSD is too. In the kernel where the transfer ends, the SSD loses all that the link lacks to serve it at full
    speed, each time anew: so the artifact counts (``gpu2pcie_BWsim``).
    """
    last, rest = _filled(budget.pcie, start, size_bytes)
    whole = slice(start, last + 1 if rest > budget.pcie[last] else last)
    budget.ssd[whole][budget.pcie[whole] > 0] = 0.0
    budget.pcie[whole] = 0.0
    if whole.stop == last and rest > 0:
        budget.pcie[last] -= rest
        lacking = max(budget.ssd_capacity[last] - budget.pcie[last], 0.0)
        budget.ssd[last] = max(budget.ssd[last] - lacking, 0.0)


def _filled(free: FloatArray, start: int, size_bytes: int) -> tuple[int, int]:
    """Return the kernel where a transfer from ``start`` on ends, and how many bytes are left for it; all kernels before are filled."""
    last = finish_kernel(free, start, size_bytes)
    return last, size_bytes - int(np.ceil(free[start:last]).sum())


Take = Callable[[Budget, int, int], None]
