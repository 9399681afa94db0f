"""Pages as a fluid: they flow without a period, each link at its bandwidth.

Time passes in chunks of pages that are served like a batch and take what their busiest resource needs: the PCIe link in either direction,
the SSD in either direction (whose pages cross the PCIe link too), the mapping of pages. No bandwidth is exceeded, a single flow has
all of its link, and a chunk ends no later than the kernel that is running, so what is issued next finds the links free. A page that is
on its way then continues; what is issued does not travel earlier.
"""

from __future__ import annotations

from g10c.backends.uvm.observer import Watch
from g10c.backends.uvm.pace import NO_LIMIT, NS, Busy, account, serve_kernel
from g10c.backends.uvm.pages import HOST, SSD
from g10c.backends.uvm.period import Limits, Period
from g10c.backends.uvm.repetition import Repetition
from g10c.backends.uvm.service import Service
from g10c.ir.machine import Machine

SMALLEST_CHUNK = 64
LARGEST_CHUNK = 512
"""Pages of a chunk: between these, the number of which the SSD's share is nearest to a whole number of pages."""


def chunk_pages(pcie: int, ssd: int) -> int:
    """Pages of a chunk for two bandwidths: the SSD's share of it, rounded up, wastes the least of the PCIe link."""
    if not ssd:
        return LARGEST_CHUNK
    return min(range(SMALLEST_CHUNK, LARGEST_CHUNK + 1), key=lambda pages: (-(-pages * ssd // pcie) * pcie / (pages * ssd), pages))


class FluidPace:
    """Chunks one after another. Time is kept exactly, in ticks: the least common fraction of a nanosecond that page times need."""

    def __init__(self, service: Service, machine: Machine) -> None:
        pcie, ssd, page = machine.pcie.bandwidth, min(machine.ssd.bandwidth, machine.pcie.bandwidth), machine.uvm.page
        self.service = service
        self.busy = Busy()
        self.watch: Watch | None = None
        self._tick = pcie * (ssd or 1)  # ticks of a nanosecond
        self._pcie_page = page * NS * (ssd or 1)
        self._ssd_page = page * NS * pcie if ssd else 0
        self._map_page = round(machine.gpu.malloc_time_per_byte * page * self._tick)
        self._slowest_page = max(self._pcie_page, self._ssd_page, self._map_page)
        chunk = chunk_pages(pcie, ssd)
        mapped = max(1, chunk * self._pcie_page // self._map_page) if self._map_page else NO_LIMIT
        self._full = Limits(chunk, -(-chunk * ssd // pcie), mapped)
        self._slack = 4 * chunk
        self._repetition = Repetition(service)
        self._limits = self._full
        self._now = 0  # ticks: until when the links are booked
        self._boundary = 0  # ticks: when what is queued now was last added to
        self._empty_at = {id(queue): 0 for queue in service.queues}
        """Ticks at which each queue was last seen empty: what it holds was issued then, and travels no earlier."""

    def advance(self, until_ns: int) -> None:
        """Let pages flow until ``until_ns``."""
        end = until_ns * self._tick
        self._flow(end)
        self._boundary = end
        for queue in self.service.queues:
            if not queue.runs:
                self._empty_at[id(queue)] = end

    def _flow(self, end: int) -> None:
        self._repetition.restart()
        while self._now < end and not self.service.idle:
            limits = self._limits_within(end - self._now)
            if not self._serve(limits, end):
                if limits == self._full:
                    break  # nothing can move before the next kernel
                self._now = max(self._now, end - self._slowest_page)
                return  # the page that is on its way arrives later
        self._now = max(self._now, end)

    def settle(self) -> int:
        """Let pages flow until the current kernel has all of its own; the time at which the last arrives (ns)."""
        self._repetition.restart()
        serve_kernel(self.service, self._serve_needed)
        return -(-self._now // self._tick)

    def _serve_needed(self) -> bool:
        need = self._need()
        return self._serve(self._limits_for(need, self._ticks(need)), None) or self._serve(self._full, None)

    def _need(self) -> Limits:
        """Pages that have to come in, and pages that have to leave before them, until the current kernel has all of its own."""
        service, required = self.service, self.service.required
        coming = [0, 0, 0]
        for lane in service.lanes:
            coming[lane.place] += lane.queue.pages if lane.demand else lane.queue.pages_until(required)
        pages = service.pages
        leaving = service.evict_ssd.pages_until(required) + service.evict_host.pages_until(required)
        leaving += max(0, sum(coming) - pages.free)
        beyond_host = max(0, leaving - coming[HOST] - pages.host_pages + pages.used[HOST])
        return Limits(max(coming[HOST] + coming[SSD], leaving), max(coming[SSD], beyond_host), sum(coming))

    def _limits_for(self, need: Limits, ticks: int) -> Limits:
        """A chunk that takes no longer than what is needed, so that it ends as the last needed page arrives."""
        within = self._limits_within(ticks)
        if within == self._full:
            return within
        full = self._full
        return Limits(
            min(full.pcie, max(within.pcie, need.pcie)),
            min(full.ssd, max(within.ssd, need.ssd)),
            min(full.allocations, max(within.allocations, need.allocations)),
        )

    def _limits_within(self, ticks: int) -> Limits:
        """Pages that can travel in so many ticks, at most a chunk."""
        full = self._full
        if ticks >= full.pcie * self._pcie_page and ticks >= full.ssd * self._ssd_page:
            return full
        ssd = min(full.ssd, ticks // self._ssd_page) if self._ssd_page else 0
        mapped = min(full.allocations, ticks // self._map_page) if self._map_page else full.allocations
        return Limits(min(full.pcie, ticks // self._pcie_page), ssd, mapped)

    def _serve(self, limits: Limits, end: int | None) -> bool:
        """One chunk, and its exact repetitions, those that end before ``end`` (ticks) if there is one; whether anything moved.

        A repetition never goes beyond the end of a run, so without an ``end`` it stops with the run that the current kernel waits for.
        """
        service, repetition = self.service, self._repetition
        if limits != self._limits:
            repetition.restart()
            self._limits = limits
        repetition.before(self._slack)
        leaving = [queue for queue in (service.evict_ssd, service.evict_host) if queue.runs]
        period = service.serve(limits)
        if not period.moved:
            return False
        if self._now < self._boundary:
            queues = [lane.queue for lane, *_ in period.inward] + (leaving if period.planned else [])
            self._now = max(self._now, *(self._empty_at[id(queue)] for queue in queues))
        self._pass([period], 1)
        cycle, times = repetition.after(period, self._slack, NO_LIMIT)
        duration = sum(self._duration(each) for each in cycle)
        if end is not None and times and duration:
            times = min(times, (end - self._now) // duration)
        if times > 0:
            service.repeat(cycle, times, self._slack)
            repetition.restart()
            self._pass(cycle, times)
        return True

    def _pass(self, cycle: list[Period], times: int) -> None:
        """Let the time of ``times`` repetitions of ``cycle`` pass."""
        start = self._now // self._tick
        for period in cycle:
            duration = self._duration(period) * times
            begin = self._now // self._tick
            self._now += duration
            account(period, self.busy, self._now // self._tick - begin)
        if self.watch is not None:
            self.watch.report(start, self._now // self._tick)

    def _ticks(self, pages: Limits) -> int:
        """Ticks that so many pages take in one direction."""
        return max(pages.pcie * self._pcie_page, pages.ssd * self._ssd_page, pages.allocations * self._map_page)

    def _duration(self, period: Period) -> int:
        """Ticks that a chunk takes."""
        return self._ticks(Limits(max(period.into, period.out), max(period.into_ssd, period.out_ssd), period.mapped))
