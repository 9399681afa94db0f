"""One direction of a link that several flows share max-min fairly, exact to the byte.

Amounts are integers: a byte is ``10^9 * lcm(1..flows)`` units, so that both bytes per second and an equal share of them are whole numbers
of units per nanosecond. Remaining bytes are brought up to date at every change of rates and never rounded; an end is rounded up to a
nanosecond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from g10c.backends.engine import Engine, Event
from g10c.ir.errors import InternalError

TRANSFER_PRIORITY = 0
"""Copies that end come before a kernel that ends at the same time: the next kernel finds what they brought."""


def max_min_rates(capacity: int, caps: Sequence[int]) -> list[int]:
    """Max-min fair rates of flows that may each take at most their cap (progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2).

    Exact where ``capacity`` and every cap are multiples of ``lcm(1..len(caps))``.
    """
    rates = [0] * len(caps)
    left = capacity
    for done, flow in enumerate(sorted(range(len(caps)), key=caps.__getitem__)):
        rates[flow] = min(caps[flow], left // (len(caps) - done))
        left -= rates[flow]
    return rates


class Flow:
    """Bytes on their way. ``rate`` is units per nanosecond."""

    __slots__ = ("cap", "on_end", "rate", "remaining", "size")

    def __init__(self, size: int, cap: int, on_end: Callable[[], None]) -> None:
        self.size = size
        self.remaining = size
        self.cap = cap
        self.rate = 0
        self.on_end = on_end


class SharedLink:
    """One direction of a link with ``bandwidth`` bytes per second, for at most ``flows`` flows at a time."""

    def __init__(self, engine: Engine, bandwidth: int, flows: int = 2) -> None:
        self._engine = engine
        self._parts = math.lcm(*range(1, flows + 1))
        self._unit = 10**9 * self._parts
        self._capacity = bandwidth * self._parts
        self._most = flows
        self._flows: list[Flow] = []
        self._settled_ns = 0
        self._next: Event | None = None

    def start(self, size_bytes: int, bandwidth: int, on_end: Callable[[], None]) -> Flow:
        """Send bytes, at most ``bandwidth`` of them a second; ``on_end`` is called when the last one has arrived."""
        if len(self._flows) == self._most:
            raise InternalError.at(f"more than {self._most} flows on one direction of a link")
        flow = Flow(size_bytes * self._unit, bandwidth * self._parts, on_end)
        self._settle()
        self._flows.append(flow)
        self._rate_again()
        return flow

    def sent_bytes(self, flow: Flow) -> int:
        """Whole bytes of a flow that have arrived by now."""
        self._settle()
        return (flow.size - flow.remaining) // self._unit

    def _settle(self) -> None:
        passed_ns = self._engine.now_ns - self._settled_ns
        self._settled_ns = self._engine.now_ns
        for flow in self._flows:
            flow.remaining = max(0, flow.remaining - flow.rate * passed_ns)

    def _rate_again(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        flows = self._flows
        if not flows:
            return
        for flow, rate in zip(flows, max_min_rates(self._capacity, [flow.cap for flow in flows]), strict=True):
            flow.rate = rate
        soonest_ns = min(-(-flow.remaining // flow.rate) for flow in flows)
        self._next = self._engine.schedule(self._engine.now_ns + soonest_ns, TRANSFER_PRIORITY, self._end)

    def _end(self) -> None:
        self._next = None
        self._settle()
        ended = [flow for flow in self._flows if not flow.remaining]
        self._flows = [flow for flow in self._flows if flow.remaining]
        self._rate_again()
        for flow in ended:
            flow.on_end()
