"""How often what just happened repeats itself exactly.

While the same runs stay at the head of their queues, at the same place in their patterns, and no limit is reached, a few periods move the
same pages again and again. All repetitions are applied at once, so that the cost of a simulation depends on the number of changes, not on
the time simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

from g10c.backends.uvm.pages import HOST
from g10c.backends.uvm.period import Period, consumption
from g10c.backends.uvm.runs import NOTHING, Run
from g10c.backends.uvm.service import Service

WINDOW = 64
"""Periods after which the search for a cycle starts afresh."""

Phase = tuple[object, ...]
"""What decides the next period, apart from how much there is: see :meth:`Repetition._phase`."""


@dataclass(slots=True)
class Snapshot:
    """The state before a period: its number in the window, head runs and their pages, free GPU memory and host memory in use (pages)."""

    index: int
    heads: list[Run | None]
    sizes: list[int]
    free: int
    host: int


class Repetition:
    """Finds cycles in the periods of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._seen: dict[Phase, Snapshot] = {}
        self._periods: list[Period] = []

    def restart(self) -> None:
        """Forget what happened: the next period is unrelated to those before."""
        self._seen = {}
        self._periods = []

    def before(self, slack: int) -> None:
        """Note the state before a period. Within ``slack`` pages of a memory's limit the exact distance matters."""
        if len(self._periods) >= WINDOW:
            self.restart()
        if not self._periods:
            self._note(slack)

    def after(self, period: Period, slack: int, limit: int) -> tuple[list[Period], int]:
        """Note a period just served; the cycle of periods that it completes, and how often, at most ``limit`` periods, it repeats."""
        self._periods.append(period)
        seen = self._seen.get(self._phase(slack))
        self._note(slack)
        if seen is None:
            return [], 0
        cycle = self._periods[seen.index :]
        return cycle, self._times(cycle, seen, limit // len(cycle), slack)

    def _note(self, slack: int) -> None:
        service = self._service
        heads = [queue.runs[0] if queue.runs else None for queue in service.queues]
        sizes = [run.pages if run is not None else 0 for run in heads]
        pages = service.pages
        self._seen[self._phase(slack)] = Snapshot(len(self._periods), heads, sizes, pages.free, pages.used[HOST])

    def _phase(self, slack: int) -> Phase:
        service = self._service
        pages = service.pages
        phase: list[object] = [min(pages.free, slack), min(pages.host_pages - pages.used[HOST], slack)]
        for queue in service.queues:
            if queue.runs:
                run = queue.runs[0]
                phase += (run, run.place(slack), len(queue.runs) == 1)  # what returns joins the last run
            else:
                phase.append(None)
        for spared in (NOTHING, service.spared) if service.spared else (NOTHING,):
            victim = pages.order.victim(spared)
            phase += (victim, victim.place(slack) if victim is not None else None)
        return tuple(phase)

    def _times(self, cycle: list[Period], before: Snapshot, limit: int, slack: int) -> int:
        limit = self._by_memory(cycle, before, limit)
        if limit > 0:
            limit = self._by_queues(cycle, before, limit, slack)
        return max(limit, 0)

    def _by_memory(self, cycle: list[Period], before: Snapshot, limit: int) -> int:
        pages = self._service.pages
        freed = pages.free - before.free
        evicts = any(period.victims for period in cycle)
        if evicts and freed:
            return 0
        if freed < 0:
            limit = min(limit, pages.free // -freed)
        filled = pages.used[HOST] - before.host
        if filled and (evicts or any(period.planned for period in cycle)):
            to_host = sum(count for period in cycle for _, _, count, place in period.planned if place == HOST)
            to_host += sum(count for period in cycle for _, _, count, place, _ in period.victims if place == HOST)
            if before.host + to_host > pages.host_pages:
                return 0
            if filled > 0:
                limit = min(limit, (pages.host_pages - pages.used[HOST] - to_host) // filled)
        return limit

    def _by_queues(self, cycle: list[Period], before: Snapshot, limit: int, slack: int) -> int:
        served, victims = consumption(cycle)
        sizes = dict(zip(before.heads, before.sizes, strict=True))
        for run, count in served.items():
            if run not in sizes or not run.pages:
                return 0
            if run.period > 1:
                limit = min(limit, run.stock(slack) // count)
            elif sizes[run] > run.pages:
                limit = min(limit, (run.pages - count) // (sizes[run] - run.pages) + 1)
        if len({run for run, _ in victims}) < len(victims):
            return 0  # a run that is taken from in two ways
        order = self._service.pages.order
        for (run, spared), count in victims.items():
            limit = min(limit, order.stock(run, spared, slack) // count)
        return limit
