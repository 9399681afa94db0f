"""One period of page traffic: who is served, in which order, and what is pushed out.

The order is the artifact's (``simulationEvents.cc``, ``BatcherEvent::execute``): planned evictions to SSD and to host; faults from SSD,
from host and on pages that are nowhere; prefetches from SSD and from host; allocations ahead of time. With GPU memory full each page that
comes in pushes out the page that came first: to host memory, or to SSD when that is full. What is pushed out although the current kernel
needs it is queued at once to come back.
"""

from __future__ import annotations

from g10c.backends.uvm.pages import ABSENT, HOST, SSD, Pages
from g10c.backends.uvm.period import Lane, Limits, Period, Traffic, consumption
from g10c.backends.uvm.runs import NOTHING, PageQueue, Parts, Run, join


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
        self._limits = Limits(0, 0, 0)
        self._period = Period()

    @property
    def idle(self) -> bool:
        """Whether nothing waits for service."""
        return not any(queue.runs for queue in self.queues)

    @property
    def faulting(self) -> bool:
        """Whether a page fault is unresolved."""
        faults = self.faults
        return bool(faults[HOST].queue.runs or faults[SSD].queue.runs or faults[ABSENT].queue.runs)

    def serve(self, limits: Limits) -> Period:
        """Serve one period."""
        self._limits = limits
        period = self._period = Period()
        if self.evict_ssd.runs:
            self._evict_to_ssd()
        if self.evict_host.runs:
            self._evict_to_host()
        for lane in self.lanes:
            if lane.queue.runs:
                self._bring(lane, demand=lane.demand)
        if self.waiting and self.spared and not period.moved:
            for lane in self.lanes[3:]:
                self._bring(lane, demand=True)
        self._enter_arrivals()
        self.pages.check()
        return period

    def repeat(self, cycle: list[Period], times: int, long: int) -> None:
        """Do what the periods of ``cycle`` did, in that order, ``times`` more; the caller knows that just that would happen."""
        returning: tuple[Parts, Parts, Parts] = ([], [], [])
        came: Parts = []
        for period in cycle:
            self._repeat_accounts(period, times)
            for place, parts in period.returning:
                join(returning[place], parts)
            join(came, period.came)
        for place, parts in enumerate(returning):
            if parts:
                self.faults[place].queue.push_pattern(parts, times)
        served, victims = consumption(cycle)
        for run, count in served.items():
            run.drop(count * times, long)
        for queue in self.queues:
            if queue.runs and not queue.runs[0].pages:
                queue.runs.popleft()
        order = self.pages.order
        for (run, spared), count in victims.items():
            order.drop(run, count * times, spared, long)
        if came:
            order.append(came, times)
        self.pages.check()

    def _repeat_accounts(self, period: Period, times: int) -> None:
        pages = self.pages
        for _, parts, count, place in period.planned:
            parts = [(tensor, each * times) for tensor, each in parts]
            for tensor, each in parts:
                pages.leaving[tensor] -= each
            self._land_outside(parts, count * times, place)
        for _, parts, count, place, _ in period.victims:
            parts = [(tensor, each * times) for tensor, each in parts]
            for tensor, each in parts:
                pages.resident[tensor] -= each
            self._land_victims(parts, count * times, place)
        for lane, _, parts, count in period.inward:
            self._land_inside([(tensor, each * times) for tensor, each in parts], count * times, lane.place)

    # Planned evictions

    def _evict_to_ssd(self) -> None:
        limits, queue = self._limits, self.evict_ssd
        while queue.runs:
            run = queue.runs[0]
            count = min(limits.ssd - self._period.out_ssd, limits.pcie - self._period.out, run.pages)
            if count <= 0:
                return
            self._planned(queue, run, count, SSD)

    def _evict_to_host(self) -> None:
        limits, queue, pages = self._limits, self.evict_host, self.pages
        while queue.runs:
            run = queue.runs[0]
            room = pages.host_pages - pages.used[HOST]
            place = HOST if room > 0 else SSD
            count = min(room if room > 0 else limits.ssd - self._period.out_ssd, limits.pcie - self._period.out, run.pages)
            if count <= 0:
                return
            self._planned(queue, run, count, place)

    def _planned(self, queue: PageQueue, run: Run, count: int, place: int) -> None:
        parts = queue.take(count)
        self._period.planned.append((run, parts, count, place))
        leaving = self.pages.leaving
        for tensor, pages in parts:
            leaving[tensor] -= pages
        self._sent(count, place)
        self._return(self._land_outside(parts, count, place), place)

    # What comes in

    def _bring(self, lane: Lane, *, demand: bool) -> None:
        limits, runs, place = self._limits, lane.queue.runs, lane.place
        while runs:
            run = runs[0]
            count = min(run.pages, limits.allocations - self._period.mapped)
            if place != ABSENT:
                count = min(count, limits.pcie - self._period.into)
                if place == SSD:
                    count = min(count, limits.ssd - self._period.into_ssd)
            if count <= 0:
                return
            free = self.pages.free
            count = min(count, free) if free else self._make_room(lane, run, count, demand=demand)
            if count <= 0:
                return
            self._come_in(lane, run, count)

    def _come_in(self, lane: Lane, run: Run, count: int) -> None:
        period, place = self._period, lane.place
        parts = lane.queue.take(count)
        period.inward.append((lane, run, parts, count))
        join(period.arrivals, parts)
        join(period.came, parts)
        period.mapped += count
        if place != ABSENT:
            period.into += count
            if place == SSD:
                period.into_ssd += count
        self._land_inside(parts, count, place)

    def _land_inside(self, parts: Parts, count: int, place: int) -> None:
        self.pages.land_inside(parts, count, place)
        traffic = self.traffic
        if place == ABSENT:
            traffic.allocated += count
        elif place == SSD:
            traffic.ssd_in += count
        else:
            traffic.host_in += count

    def _enter_arrivals(self) -> None:
        period = self._period
        if period.arrivals:
            self.pages.order.append(period.arrivals)
            period.arrivals = []

    # Eviction under pressure

    def _make_room(self, lane: Lane, run: Run, wanted: int, *, demand: bool) -> int:
        """Push out up to ``wanted`` pages for as many that come in over ``lane``; the number pushed out."""
        spared = self.spared
        if spared and (demand or run.first[0] in self.required):
            spared = NOTHING
        order = self.pages.order
        victim = order.victim(spared)
        if victim is None:
            self._enter_arrivals()
            victim = order.victim(spared)
            if victim is None:
                return 0
        if not victim.mixes(spared):
            spared = NOTHING
        place, room = self._destination(lane.place, victim, spared)
        count = min(wanted, room, order.available(victim, spared) if spared else victim.pages)
        if count <= 0:
            return 0
        parts = order.take(victim, count, spared)
        count = sum(pages for _, pages in parts) if spared else count
        self._push_out(victim, parts, count, place, spared)
        return count

    def _destination(self, origin: int, victim: Run, spared: frozenset[int]) -> tuple[int, int]:
        """Where a victim goes when a page from ``origin`` comes in, and for how many pages that holds within this period."""
        limits, pages = self._limits, self.pages
        out, room = limits.pcie - self._period.out, pages.host_pages - pages.used[HOST]
        out_ssd = min(out, limits.ssd - self._period.out_ssd)
        tensor, count = victim.first
        if tensor in self.discarded and not spared:
            # The artifact looks at the links before it looks at the victim, although what is dropped needs none.
            return ABSENT, count if (out > 0 and room > 0) or out_ssd > 0 or not limits.ssd else 0
        if origin == HOST and pages.host_pages and (room > 0 or not limits.ssd):
            return HOST, out  # each page that leaves host memory makes room for one that goes there
        if room > 0:
            return HOST, min(out, room)
        return SSD, min(out_ssd, 1) if origin == HOST else out_ssd

    def _push_out(self, run: Run, parts: Parts, count: int, place: int, spared: frozenset[int]) -> None:
        self._period.victims.append((run, parts, count, place, spared))
        resident = self.pages.resident
        for tensor, pages in parts:
            resident[tensor] -= pages
        self._land_victims(parts, count, place, first=True)

    def _land_victims(self, parts: Parts, count: int, place: int, *, first: bool = False) -> None:
        """Victims reach ``place``, except for pages of dead tensors, which are dropped."""
        if self.discarded and place != ABSENT:
            dead = [part for part in parts if part[0] in self.discarded]
            if dead:
                dropped = sum(pages for _, pages in dead)
                count -= dropped
                parts = [part for part in parts if part[0] not in self.discarded]
                needed = self._land_outside(dead, dropped, ABSENT)
                if first:
                    self._return(needed, ABSENT)
        needed = self._land_outside(parts, count, place)
        if first:
            self._sent(count, place)
            self._return(needed, place)

    def _sent(self, count: int, place: int) -> None:
        period = self._period
        if place != ABSENT:
            period.out += count
            if place == SSD:
                period.out_ssd += count

    def _land_outside(self, parts: Parts, count: int, place: int) -> Parts:
        """Pages leave GPU memory for ``place``; those of them that the current kernel needs, which are now queued there."""
        traffic = self.traffic
        self.pages.land_outside(parts, count, place)
        if place == HOST:
            traffic.host_out += count
        elif place == SSD:
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
        return needed

    def _return(self, needed: Parts, place: int) -> None:
        """Queue pages that were evicted although the current kernel needs them."""
        if needed:
            self._period.returning.append((place, needed))
            queue = self.faults[place].queue
            for tensor, pages in needed:
                queue.push(tensor, pages)
