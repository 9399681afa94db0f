"""Deciding about one inactive period: to which tier it is moved, if at all, and from when to when (G10, MICRO'23, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from g10c.ir.step import Tier
from g10c.passes.greedy.bandwidth import Budgets, Take, finish_kernel, latest_start, take_host, take_ssd
from g10c.passes.greedy.costs import Costs

IntArray = NDArray[np.int64]

Rejection = Literal["relieved", "single_kernel", "too_short", "host_full", "no_bandwidth"]
"""Why a period is not moved: no kernel in it is above the line any more; it has one kernel; it is shorter than the transfers with their
margin; host memory is full; the bandwidth left does not let the prefetch begin after the eviction."""


@dataclass(frozen=True, slots=True)
class Request:
    """A period under consideration, see :class:`~g10c.compiler.vitality.Period`."""

    candidate: int
    tensor: int
    start: int
    end: int
    wraps: bool
    length: int
    """Ideal time, ticks."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Placement:
    """A period that is moved away: the eviction ends during kernel ``evicted``, the prefetch begins with kernel ``prefetch``.

    Both count on past the number of kernels into the next step where the period ``wraps``. The tensor is away in between, both excluded.
    """

    request: Request
    tier: Tier
    evicted: int
    prefetch: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a transfer of one size to and from one tier takes (ticks): one way, and the period that it needs."""

    one_way: float
    margin: float

    @property
    def needed(self) -> float:
        """Eviction, prefetch and the margin."""
        return 2 * self.one_way + self.margin


@dataclass(slots=True)
class Memory:
    """Planned use of GPU and host memory while each kernel runs (bytes), the line of the one and the size of the other."""

    gpu: IntArray
    line: int
    host: IntArray
    host_size: int

    def host_has_room(self, size_bytes: int) -> bool:
        """Tell if host memory takes ``size_bytes`` more at any time of the step: the period's own time is not looked at."""
        return int(self.host.max(initial=0)) <= self.host_size - size_bytes

    def above_line(self, start: int, end: int, wraps: bool) -> bool:
        """Tell if a kernel of the period is above the line."""
        parts = (self.gpu[start:], self.gpu[:end]) if wraps else (self.gpu[start:end],)
        return any(bool((part > self.line).any()) for part in parts)


@dataclass(frozen=True, slots=True)
class Planner:
    """What the decisions look at and what they change (``memory`` and ``budgets``)."""

    starts: IntArray
    """Ideal start of each kernel and end of the step, ticks."""
    costs: Costs
    delta: float
    """Safety margin, in transfers."""
    budgets: Budgets
    memory: Memory

    @property
    def kernel_count(self) -> int:
        """Kernels of the step."""
        return self.starts.size - 1


def decide(planner: Planner, request: Request) -> Placement | Rejection:
    """Move one period away, or say why not. Bandwidth and memory are booked."""
    if not planner.memory.above_line(request.start, request.end, request.wraps):
        return "relieved"
    if request.end - request.start + (planner.kernel_count if request.wraps else 0) == 1:
        return "single_kernel"
    to_ssd, to_host = transfers(planner, request.size_bytes)
    if to_ssd is not None and request.length > to_ssd.needed:
        return _place_long(planner, request, to_ssd)
    if to_host is None or request.length <= to_host.needed:
        return "too_short"
    return _place_short(planner, request, to_host)


def transfers(planner: Planner, size_bytes: int) -> tuple[Transfer | None, Transfer | None]:
    """Return what moving ``size_bytes`` to SSD and to host takes at full bandwidth; ``None`` where the tier is not to be had.

    An SSD access costs the SSD's latency on top of the fault latency (artifact, ``scheduling_prefetch``).
    """
    costs = planner.costs

    def transfer(rate: float, latency: float) -> Transfer | None:
        one_way = latency + size_bytes / rate if rate > 0 else 0.0
        return Transfer(one_way, planner.delta * one_way) if rate > 0 else None

    return transfer(costs.ssd_rate, costs.ssd_latency + costs.fault_latency), transfer(costs.pcie_rate, costs.fault_latency)


def _place_long(planner: Planner, request: Request, transfer: Transfer) -> Placement | Rejection:
    """Place a period that is long enough for the SSD: there, or in host memory where the SSD has nothing free until the ideal finish."""
    if request.wraps:
        return _place_wrapping(planner, request, "ssd", transfer)
    ideal_finish = _kernel_at(planner.starts, int(planner.starts[request.start]) + transfer.one_way)
    crowded = not (planner.budgets.outgoing.ssd[request.start : ideal_finish] > 0).any()
    if crowded and planner.memory.host_has_room(request.size_bytes):
        placed = _place_local(planner, request, "host")
        if isinstance(placed, Placement):
            _hold_in_host(planner, request)
        return placed
    return _place_local(planner, request, "ssd")


def _place_short(planner: Planner, request: Request, transfer: Transfer) -> Placement | Rejection:
    """Place a period that is long enough for host memory only.

    Its bytes count there from now on even if bandwidth then forbids the move (artifact, ``scheduling_prefetch``).
    """
    if not planner.memory.host_has_room(request.size_bytes):
        return "host_full"
    _hold_in_host(planner, request)
    return _place_wrapping(planner, request, "host", transfer) if request.wraps else _place_local(planner, request, "host")


def _place_local(planner: Planner, request: Request, tier: Tier) -> Placement | Rejection:
    """Place a period within the step where the bandwidth that is still free allows."""
    outgoing, incoming = planner.budgets.outgoing, planner.budgets.incoming
    free_out, free_in = (outgoing.ssd, incoming.ssd) if tier == "ssd" else (outgoing.pcie, incoming.pcie)
    prefetch = latest_start(free_in, request.end, request.size_bytes)
    evicted = finish_kernel(free_out, request.start, request.size_bytes)
    if prefetch <= evicted:
        return "no_bandwidth"
    take: Take = take_ssd if tier == "ssd" else take_host
    take(incoming, prefetch, request.size_bytes)
    take(outgoing, request.start, request.size_bytes)
    planner.memory.gpu[evicted + 1 : prefetch] -= request.size_bytes
    return Placement(request, tier, evicted, prefetch)


def _place_wrapping(planner: Planner, request: Request, tier: Tier, transfer: Transfer) -> Placement | Rejection:
    """Place a period across the step's end at full bandwidth, without booking any."""
    count = planner.kernel_count
    twice = np.concatenate([planner.starts, planner.starts[1:] + planner.starts[-1]])
    evicted = _kernel_at(twice, int(twice[request.start]) + transfer.one_way)
    prefetch = _kernel_at(twice, int(twice[request.end + count]) - transfer.one_way - transfer.margin)
    if prefetch == request.start:
        return "no_bandwidth"
    away = np.arange(evicted + 1, prefetch, dtype=np.int64) % count
    planner.memory.gpu[away] -= request.size_bytes
    return Placement(request, tier, evicted, prefetch)


def _hold_in_host(planner: Planner, request: Request) -> None:
    """Count the period's bytes in host memory."""
    if request.wraps:
        planner.memory.host[request.start :] += request.size_bytes
        planner.memory.host[: request.end] += request.size_bytes
    else:
        planner.memory.host[request.start : request.end] += request.size_bytes


def _kernel_at(starts: IntArray, time: float) -> int:
    """Return the kernel that runs at ``time``."""
    return int(np.searchsorted(starts, time, side="right")) - 1
