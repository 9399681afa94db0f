"""How often a period repeats itself exactly.

While the same runs stay at the head of their queues and no limit is reached, every period moves the same number of pages of the same
runs. All of these are applied at once, so the cost of a simulation depends on the number of changes, not on the time simulated.
"""

from __future__ import annotations

from g10c.backends.uvm.pages import HOST
from g10c.backends.uvm.runs import Run
from g10c.backends.uvm.service import Service

UNLIMITED = 1 << 62


class Repetition:
    """Compares a service before and after one period."""

    __slots__ = ("_free", "_heads", "_host", "_service", "_sizes")

    def __init__(self, service: Service) -> None:
        self._service = service
        self._heads: list[Run | None] = []
        self._sizes: list[int] = []
        self._free = 0
        self._host = 0

    def before(self) -> None:
        """Note the state before a period."""
        heads = self._heads = [queue.runs[0] if queue.runs else None for queue in self._service.queues]
        self._sizes = [run.pages if run is not None else 0 for run in heads]
        pages = self._service.pages
        self._free = pages.free
        self._host = pages.used[HOST]

    def times(self, limit: int) -> int:
        """How often, at most ``limit``, the period just served happens again without any difference."""
        service = self._service
        for queue, head in zip(service.queues, self._heads, strict=True):
            if (queue.runs[0] if queue.runs else None) is not head:
                return 0
        limit = self._by_memory(limit)
        if limit > 0:
            limit = self._by_queues(limit)
        if limit > 0 and service.victims_out:
            limit = self._by_victims(limit)
        return limit

    def _by_memory(self, limit: int) -> int:
        service = self._service
        pages = service.pages
        freed = pages.free - self._free
        if service.victims_out:
            if freed:
                return 0
        elif freed < 0:
            limit = min(limit, pages.free // -freed)
        filled = pages.used[HOST] - self._host
        if filled and (service.victims_out or service.planned_out):
            to_host = sum(op[2] for op in service.planned_out if op[3] == HOST) + sum(op[1] for op in service.victims_out if op[2] == HOST)
            if self._host + to_host > pages.host_pages:
                return 0
            if filled > 0:
                limit = min(limit, (pages.host_pages - pages.used[HOST] - to_host) // filled)
        return limit

    def _by_queues(self, limit: int) -> int:
        service = self._service
        taken: dict[int, int] = {}
        for _, run, count, _ in service.planned_out:
            taken[id(run)] = taken.get(id(run), 0) + count
        for _, run, count in service.inward:
            taken[id(run)] = taken.get(id(run), 0) + count
        for head, size in zip(self._heads, self._sizes, strict=True):
            if head is None:
                continue
            count = taken.get(id(head), 0)
            shrunk = size - head.pages
            if count and shrunk > 0:
                limit = min(limit, (head.pages - count) // shrunk + 1)
        return limit

    def _by_victims(self, limit: int) -> int:
        service = self._service
        order = service.pages.order
        taken: dict[tuple[int, frozenset[int]], int] = {}
        runs: dict[int, Run] = {}
        for run, count, _, spared in service.victims_out:
            taken[run.key, spared] = taken.get((run.key, spared), 0) + count
            runs[run.key] = run
        for (key, spared), count in taken.items():
            run = runs[key]
            if order.victim(spared) is not run:
                return 0
            limit = min(limit, run.available(spared) // count)
        return limit
