"""Runs of pages, and the queues they wait in.

A page has no identity beyond its tensor: the pages of one tensor are interchangeable for everything that the runtime decides (who is
served, who is pushed out, where to), so a run is a count per tensor. Pages of several tensors in one run are evenly mixed, as pages are
that arrived in the same periods over several links; taking from such a run takes from each tensor its share.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator

Parts = list[tuple[int, int]]
"""Pages by tensor: ``(tensor, pages)``."""

NOTHING: frozenset[int] = frozenset()


class Run:
    """Pages that lie together: ``counts`` by tensor and their sum ``pages``."""

    __slots__ = ("counts", "key", "pages")

    def __init__(self, counts: dict[int, int], pages: int, key: int = 0) -> None:
        self.counts = counts
        self.pages = pages
        self.key = key

    def available(self, spared: frozenset[int] = NOTHING) -> int:
        """Pages of the run whose tensor is not in ``spared``."""
        if not spared:
            return self.pages
        return sum(pages for tensor, pages in self.counts.items() if tensor not in spared)

    def take(self, pages: int, spared: frozenset[int] = NOTHING) -> Parts:
        """Remove ``pages`` pages, evenly from all tensors that are not ``spared``; what was removed, by tensor."""
        counts = self.counts
        if len(counts) == 1:
            tensor = next(iter(counts))
            counts[tensor] -= pages
            self.pages -= pages
            return [(tensor, pages)]
        parts: Parts = []
        left, total = pages, self.available(spared)
        for tensor, count in counts.items():
            if tensor in spared or not count:
                continue
            share = count * left // total
            total -= count
            left -= share
            if share:
                parts.append((tensor, share))
        for tensor, share in parts:
            counts[tensor] -= share
            if not counts[tensor]:
                del counts[tensor]
        self.pages -= pages
        return parts

    def mixes_like(self, parts: Parts, pages: int) -> bool:
        """Whether ``parts``, ``pages`` in all, have the tensors of this run in the same proportions."""
        counts = self.counts
        return len(parts) == len(counts) and all(counts.get(t, 0) * pages == n * self.pages for t, n in parts)

    def covers(self, parts: Parts) -> bool:
        """Whether all tensors of ``parts`` are in this run."""
        return all(tensor in self.counts for tensor, _ in parts)

    def add(self, parts: Parts, pages: int) -> None:
        """Mix ``parts``, ``pages`` in all, into the run."""
        counts = self.counts
        for tensor, count in parts:
            counts[tensor] = counts.get(tensor, 0) + count
        self.pages += pages


class PageQueue:
    """Pages waiting for service, first in, first out."""

    __slots__ = ("runs",)

    def __init__(self) -> None:
        self.runs: deque[Run] = deque()

    def __bool__(self) -> bool:
        return bool(self.runs)

    @property
    def head(self) -> Run | None:
        """The run that is served next."""
        return self.runs[0] if self.runs else None

    @property
    def pages(self) -> int:
        """Pages waiting."""
        return sum(run.pages for run in self.runs)

    def push(self, parts: Parts, pages: int) -> None:
        """Append pages; those of the same tensors as the last run join it."""
        last = self.runs[-1] if self.runs else None
        if last is not None and len(last.counts) == len(parts) and last.covers(parts):
            last.add(parts, pages)
        else:
            self.runs.append(Run(dict(parts), pages))

    def take(self, pages: int) -> Parts:
        """Remove ``pages`` pages from the first run."""
        run = self.runs[0]
        parts = run.take(pages)
        if not run.pages:
            self.runs.popleft()
        return parts


class ArrivalOrder:
    """Pages in GPU memory that may be evicted, in the order in which they came (the artifact's ``lru_addrs``).

    Accesses of kernels do not change the order: the artifact refreshes a page only when it is mapped (``GPUPageTable::LRUAccess``).
    """

    __slots__ = ("_holding", "_next_key", "_runs", "mix_pages")

    def __init__(self, tensors: int, mix_pages: int) -> None:
        self._runs: OrderedDict[int, Run] = OrderedDict()
        self._holding: list[dict[int, Run]] = [{} for _ in range(tensors)]
        self._next_key = 0
        self.mix_pages = mix_pages
        """Arrivals of at most so many pages join a mixed run of the same tensors whatever their proportions."""

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs.values())

    def victim(self, spared: frozenset[int] = NOTHING) -> Run | None:
        """The oldest run with a page that is not ``spared``."""
        for run in self._runs.values():
            if not spared or run.available(spared):
                return run
        return None

    def append(self, parts: Parts, pages: int) -> None:
        """Enter pages that arrived together as the newest."""
        if self._runs:
            last = self._runs[next(reversed(self._runs))]
            if last.mixes_like(parts, pages) or (len(last.counts) > 1 and pages <= self.mix_pages and last.covers(parts)):
                last.add(parts, pages)
                return
        self._next_key += 1
        run = Run(dict(parts), pages, self._next_key)
        self._runs[run.key] = run
        for tensor, _ in parts:
            self._holding[tensor][run.key] = run

    def take(self, run: Run, pages: int, spared: frozenset[int] = NOTHING) -> Parts:
        """Remove ``pages`` pages from ``run``, which is one of this order's."""
        parts = run.take(pages, spared)
        if not run.pages:
            del self._runs[run.key]
        for tensor, _ in parts:
            if not run.counts.get(tensor):
                self._holding[tensor].pop(run.key, None)
        return parts

    def remove(self, tensor: int, pages: int) -> int:
        """Remove up to ``pages`` pages of ``tensor``, oldest first; the number removed."""
        left = pages
        holding = self._holding[tensor]
        for key in list(holding):
            run = holding[key]
            count = min(left, run.counts[tensor])
            run.counts[tensor] -= count
            run.pages -= count
            left -= count
            if not run.counts[tensor]:
                del run.counts[tensor]
                del holding[key]
            if not run.pages:
                del self._runs[key]
            if not left:
                break
        return pages - left
