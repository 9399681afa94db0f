"""One period of page traffic: who is served, in which order, and what is pushed out.

The order is the artifact's (``simulationEvents.cc``, ``BatcherEvent::execute``): planned evictions to SSD and to host; faults from SSD,
from host and on pages that are nowhere; prefetches from SSD and from host; allocations ahead of time. With GPU memory full each page that
comes in pushes out the page that came first: to host memory, or to SSD when that is full. What is pushed out although the current kernel
needs it is queued at once to come back.
"""

from __future__ import annotations

from dataclasses import dataclass

from g10c.backends.uvm.pages import ABSENT, HOST, SSD, Pages
from g10c.backends.uvm.runs import NOTHING, PageQueue, Parts, Run


@dataclass(frozen=True, slots=True)
class Limits:
    """Pages that one period can carry: over the PCIe link and to or from the SSD in each direction, and mapped in GPU memory."""

    pcie: int
    ssd: int
    allocations: int


class Lane:
    """A queue of pages that come in from one place. ``demand``: the current kernel waits for them."""

    __slots__ = ("demand", "place", "queue")

    def __init__(self, place: int, *, demand: bool) -> None:
        self.queue = PageQueue()
        self.place = place
        self.demand = demand


@dataclass(slots=True)
class Traffic:
    """Pages moved since the step began, and periods in which each direction was in use."""

    host_in: int = 0
    ssd_in: int = 0
    allocated: int = 0
    host_out: int = 0
    ssd_out: int = 0
    discarded: int = 0


VictimOut = tuple[Run, int, int, frozenset[int]]
PlannedOut = tuple[PageQueue, Run, int, int]
Inward = tuple[Lane, Run, int]


class Service:
    """Serves one period after another, and remembers what the last one did so that it can be repeated."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.evict_ssd = PageQueue()
        self.evict_host = PageQueue()
        self.faults = [Lane(HOST, demand=True), Lane(SSD, demand=True), Lane(ABSENT, demand=True)]
        self.ahead = [Lane(HOST, demand=False), Lane(SSD, demand=False), Lane(ABSENT, demand=False)]
        faults, ahead = self.faults, self.ahead
        self.lanes = (faults[SSD], faults[HOST], faults[ABSENT], ahead[SSD], ahead[HOST], ahead[ABSENT])
        self.queues = (self.evict_ssd, self.evict_host, *(lane.queue for lane in self.lanes))
        self.required: frozenset[int] = NOTHING
        self.spared: frozenset[int] = NOTHING
        self.discarded: frozenset[int] = NOTHING
        self.waiting = False
        self.traffic = Traffic()
        self.planned_out: list[PlannedOut] = []
        self.victims_out: list[VictimOut] = []
        self.inward: list[Inward] = []
        self.out = self.out_ssd = self.into = self.into_ssd = self.mapped = 0
        self._limits = Limits(0, 0, 0)
        self._arrivals: dict[int, int] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing waits for service."""
        return not any(queue.runs for queue in self.queues)

    @property
    def faulting(self) -> bool:
        """Whether a page fault is unresolved."""
        faults = self.faults
        return bool(faults[HOST].queue.runs or faults[SSD].queue.runs or faults[ABSENT].queue.runs)

    @property
    def moved(self) -> bool:
        """Whether the last period did anything."""
        return bool(self.planned_out or self.victims_out or self.inward)

    def serve(self, limits: Limits) -> None:
        """Serve one period."""
        self._limits = limits
        self.planned_out = []
        self.victims_out = []
        self.inward = []
        self.out = self.out_ssd = self.into = self.into_ssd = self.mapped = 0
        if self.evict_ssd.runs:
            self._evict_to_ssd()
        if self.evict_host.runs:
            self._evict_to_host()
        for lane in self.lanes:
            if lane.queue.runs:
                self._bring(lane, demand=lane.demand)
        if self.waiting and self.spared and not self.moved:
            for lane in self.lanes[3:]:
                self._bring(lane, demand=True)
        self._enter_arrivals()
        self.pages.check()

    def repeat(self, times: int) -> None:
        """Do ``times`` more what the last period did; the caller knows that each of them would do just that."""
        planned, victims, inward = self.planned_out, self.victims_out, self.inward
        self.planned_out, self.victims_out, self.inward = [], [], []
        for queue, run, count, place in planned:
            self._planned(queue, run, count * times, place)
        for run, count, place, spared in victims:
            self._push_out(run, count * times, place, spared)
        for lane, run, count in inward:
            self._come_in(lane, run, count * times)
        self.planned_out, self.victims_out, self.inward = planned, victims, inward
        self._enter_arrivals()
        self.pages.check()

    # Planned evictions

    def _evict_to_ssd(self) -> None:
        limits, queue = self._limits, self.evict_ssd
        while queue.runs:
            run = queue.runs[0]
            count = min(limits.ssd - self.out_ssd, limits.pcie - self.out, run.pages)
            if count <= 0:
                return
            self._planned(queue, run, count, SSD)

    def _evict_to_host(self) -> None:
        limits, queue, pages = self._limits, self.evict_host, self.pages
        while queue.runs:
            run = queue.runs[0]
            room = pages.host_pages - pages.used[HOST]
            place = HOST if room > 0 else SSD
            count = min(room if room > 0 else limits.ssd - self.out_ssd, limits.pcie - self.out, run.pages)
            if count <= 0:
                return
            self._planned(queue, run, count, place)

    def _planned(self, queue: PageQueue, run: Run, count: int, place: int) -> None:
        self.planned_out.append((queue, run, count, place))
        parts = queue.take(count)
        leaving = self.pages.leaving
        for tensor, pages in parts:
            leaving[tensor] -= pages
        self._land_outside(parts, count, place)

    # What comes in

    def _bring(self, lane: Lane, *, demand: bool) -> None:
        limits, runs, place = self._limits, lane.queue.runs, lane.place
        while runs:
            run = runs[0]
            count = min(run.pages, limits.allocations - self.mapped)
            if place != ABSENT:
                count = min(count, limits.pcie - self.into)
                if place == SSD:
                    count = min(count, limits.ssd - self.into_ssd)
            if count <= 0:
                return
            free = self.pages.free
            count = min(count, free) if free else self._make_room(lane, run, count, demand=demand)
            if count <= 0:
                return
            self._come_in(lane, run, count)

    def _come_in(self, lane: Lane, run: Run, count: int) -> None:
        self.inward.append((lane, run, count))
        place, arrivals, traffic = lane.place, self._arrivals, self.traffic
        parts = lane.queue.take(count)
        self.pages.land_inside(parts, count, place)
        for tensor, pages in parts:
            arrivals[tensor] = arrivals.get(tensor, 0) + pages
        self.mapped += count
        if place == ABSENT:
            traffic.allocated += count
            return
        self.into += count
        if place == SSD:
            self.into_ssd += count
            traffic.ssd_in += count
        else:
            traffic.host_in += count

    def _enter_arrivals(self) -> None:
        arrivals = self._arrivals
        if arrivals:
            self.pages.order.append(list(arrivals.items()), sum(arrivals.values()))
            self._arrivals = {}

    # Eviction under pressure

    def _make_room(self, lane: Lane, run: Run, wanted: int, *, demand: bool) -> int:
        """Push out up to ``wanted`` pages for as many that come in over ``lane``; the number pushed out."""
        spared = self.spared
        if spared and (demand or next(iter(run.counts)) in self.required):
            spared = NOTHING
        order = self.pages.order
        victim = order.victim(spared)
        if victim is None:
            self._enter_arrivals()
            victim = order.victim(spared)
            if victim is None:
                return 0
        place, room = self._destination(lane.place, victim)
        count = min(wanted, room, victim.available(spared) if spared else victim.pages)
        if count > 0:
            self._push_out(victim, count, place, spared)
        return count

    def _destination(self, origin: int, victim: Run) -> tuple[int, int]:
        """Where a victim goes when a page from ``origin`` comes in, and for how many pages that holds within this period."""
        limits, pages = self._limits, self.pages
        if self.discarded and victim.counts.keys() <= self.discarded:
            return ABSENT, victim.pages
        out = limits.pcie - self.out
        room = pages.host_pages - pages.used[HOST]
        if origin == HOST and pages.host_pages and (room > 0 or not limits.ssd):
            return HOST, out  # each page that leaves host memory makes room for one that goes there
        if room > 0:
            return HOST, min(out, room)
        out = min(out, limits.ssd - self.out_ssd)
        return SSD, min(out, 1) if origin == HOST else out

    def _push_out(self, run: Run, count: int, place: int, spared: frozenset[int]) -> None:
        self.victims_out.append((run, count, place, spared))
        parts = self.pages.order.take(run, count, spared)
        resident = self.pages.resident
        for tensor, pages in parts:
            resident[tensor] -= pages
        if self.discarded and place != ABSENT:
            dead = [part for part in parts if part[0] in self.discarded]
            if dead:
                dropped = sum(pages for _, pages in dead)
                self._land_outside(dead, dropped, ABSENT)
                parts = [part for part in parts if part[0] not in self.discarded]
                count -= dropped
        self._land_outside(parts, count, place)

    def _land_outside(self, parts: Parts, count: int, place: int) -> None:
        traffic = self.traffic
        self.pages.land_outside(parts, count, place)
        if place == HOST:
            self.out += count
            traffic.host_out += count
        elif place == SSD:
            self.out += count
            self.out_ssd += count
            traffic.ssd_out += count
        else:
            traffic.discarded += count
        required = self.required
        needed = [part for part in parts if part[0] in required]
        if needed:
            away, coming = self.pages.away[place], self.pages.coming[place]
            for tensor, pages in needed:
                away[tensor] -= pages
                coming[tensor] += pages
            self.faults[place].queue.push(needed, sum(pages for _, pages in needed))
