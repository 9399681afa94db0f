"""Runs of pages, and the queues they wait in.

A page has no identity beyond its tensor: the pages of one tensor are interchangeable for everything that the runtime decides (who is
served, who is pushed out, where to), so only their number and their order among pages of other tensors count. A run is a pattern, pages of
some tensors in order, that repeats: what arrives in equal periods over several links.
"""

from __future__ import annotations

from collections import OrderedDict, deque

Parts = list[tuple[int, int]]
"""Pages in order: ``(tensor, pages)``."""

NOTHING: frozenset[int] = frozenset()


def join(parts: Parts, more: Parts) -> None:
    """Append ``more`` to ``parts``; neighbours of one tensor become one."""
    for tensor, count in more:
        if parts and parts[-1][0] == tensor:
            parts[-1] = (tensor, parts[-1][1] + count)
        else:
            parts.append((tensor, count))


def split(parts: Parts, pages: int) -> tuple[Parts, Parts]:
    """The first ``pages`` pages of ``parts``, and the rest."""
    for index, (tensor, count) in enumerate(parts):
        if count >= pages:
            rest = parts[index + 1 :]
            if count > pages:
                rest.insert(0, (tensor, count - pages))
            return [*parts[:index], (tensor, pages)], rest
        pages -= count
    return parts, []


class Run:
    """``repeats`` times ``pattern``, which has ``period`` pages, after ``lead``, what is left of a period that was begun.

    A run of one tensor has a period of one page and no lead. ``pages`` is the number of pages in all.
    """

    __slots__ = ("key", "lead", "lead_pages", "pages", "pattern", "period", "repeats")

    def __init__(self, pattern: Parts, period: int, repeats: int, key: int = 0) -> None:
        if len(pattern) == 1:
            pattern, period, repeats = [(pattern[0][0], 1)], 1, period * repeats
        self.pattern = pattern
        self.period = period
        self.repeats = repeats
        self.pages = period * repeats
        self.lead: Parts = []
        self.lead_pages = 0
        self.key = key

    def holds(self, tensor: int) -> int:
        """Pages of ``tensor`` in the run."""
        whole = sum(count for t, count in self.pattern if t == tensor) * self.repeats
        return whole + sum(count for t, count in self.lead if t == tensor)

    def extends(self, pattern: Parts) -> bool:
        """Whether more repeats of ``pattern`` can join this run at its end."""
        if len(pattern) == 1:
            return self.period == 1 and self.pattern[0][0] == pattern[0][0]
        return self.pattern == pattern

    def extend(self, period: int, repeats: int) -> None:
        """Join ``repeats`` repeats of a pattern of ``period`` pages that :meth:`extends` this run."""
        self.repeats += period * repeats // self.period
        self.pages += period * repeats

    def take(self, pages: int) -> Parts:
        """Remove the first ``pages`` pages, in order."""
        self.pages -= pages
        if self.period == 1:
            self.repeats -= pages
            return [(self.pattern[0][0], pages)]
        parts: Parts = []
        if self.lead:
            count = min(pages, self.lead_pages)
            parts, self.lead = split(self.lead, count)
            self.lead_pages -= count
            pages -= count
        whole, rest = divmod(pages, self.period)
        parts = parts + self.pattern * whole
        self.repeats -= whole
        if rest:
            begun, self.lead = split(self.pattern, rest)
            parts = parts + begun
            self.lead_pages = self.period - rest
            self.repeats -= 1
        return parts

    def drop(self, pages: int) -> None:
        """Remove ``pages`` pages, whole periods, without a look at them."""
        self.repeats -= pages // self.period
        self.pages -= pages

    def remove(self, tensor: int, pages: int) -> int:
        """Remove up to ``pages`` pages of ``tensor``; the number removed."""
        held = self.holds(tensor)
        if held > pages:
            return self._remove_some(tensor, pages)
        self.pages -= held
        self.lead = [part for part in self.lead if part[0] != tensor]
        self.lead_pages = sum(count for _, count in self.lead)
        pattern: Parts = []
        join(pattern, [part for part in self.pattern if part[0] != tensor])
        self._become(pattern)
        return held

    def _become(self, pattern: Parts) -> None:
        if not pattern or not self.repeats:
            pattern, self.repeats = self.lead, 1
            self.lead, self.lead_pages = [], 0
        self.pattern = pattern
        self.period = sum(count for _, count in pattern)
        if len(pattern) == 1 and all(tensor == pattern[0][0] for tensor, _ in self.lead):
            self.pattern, self.period, self.repeats = [(pattern[0][0], 1)], 1, self.pages
            self.lead, self.lead_pages = [], 0

    def _remove_some(self, tensor: int, pages: int) -> int:
        """Remove the first ``pages`` of the tensor's pages: from the lead and from as many periods as have to be begun for that."""
        if self.period == 1:
            self.repeats -= pages
            self.pages -= pages
            return pages
        each = sum(count for t, count in self.pattern if t == tensor)
        left = pages - sum(count for t, count in self.lead if t == tensor)
        begun = max(0, -(-left // each)) if each else 0
        lead = self.lead + self.pattern * min(begun, self.repeats)
        self.repeats -= min(begun, self.repeats)
        kept: Parts = []
        left = pages
        for t, count in lead:
            gone = min(left, count) if t == tensor else 0
            left -= gone
            if count > gone:
                join(kept, [(t, count - gone)])
        self.lead = kept
        self.lead_pages = sum(count for _, count in kept)
        self.pages -= pages
        return pages


class PageQueue:
    """Pages waiting for service, first in, first out."""

    __slots__ = ("runs",)

    def __init__(self) -> None:
        self.runs: deque[Run] = deque()

    @property
    def pages(self) -> int:
        """Pages waiting."""
        return sum(run.pages for run in self.runs)

    def push(self, tensor: int, pages: int) -> None:
        """Append pages of a tensor."""
        runs = self.runs
        if runs and runs[-1].period == 1 and runs[-1].pattern[0][0] == tensor:
            runs[-1].extend(1, pages)
        else:
            runs.append(Run([(tensor, 1)], 1, pages))

    def push_pattern(self, pattern: Parts, repeats: int) -> None:
        """Append ``repeats`` times ``pattern``."""
        period = sum(count for _, count in pattern)
        if self.runs and self.runs[-1].extends(pattern):
            self.runs[-1].extend(period, repeats)
        else:
            self.runs.append(Run(pattern, period, repeats))

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

    __slots__ = ("_holding", "_next_key", "_runs")

    def __init__(self, tensors: int) -> None:
        self._runs: OrderedDict[int, Run] = OrderedDict()
        self._holding: list[dict[int, Run]] = [{} for _ in range(tensors)]  # runs by tensor, oldest first; may name runs that are gone
        self._next_key = 0

    def victim(self, spared: frozenset[int] = NOTHING) -> Run | None:
        """The oldest run with a page that is not ``spared``."""
        for run in self._runs.values():
            if not spared or any(tensor not in spared for tensor, _ in (*run.lead, *run.pattern)):
                return run
        return None

    def append(self, pattern: Parts, repeats: int = 1) -> None:
        """Enter ``repeats`` times ``pattern`` as the newest pages."""
        period = sum(count for _, count in pattern)
        if self._runs:
            last = self._runs[next(reversed(self._runs))]
            if last.extends(pattern):
                last.extend(period, repeats)
                return
        self._next_key += 1
        run = Run(pattern, period, repeats, self._next_key)
        self._runs[run.key] = run
        for tensor, _ in pattern:
            self._holding[tensor][run.key] = run

    def take(self, run: Run, pages: int) -> Parts:
        """Remove the first ``pages`` pages of ``run``, which is one of this order's."""
        parts = run.take(pages)
        self.forget(run)
        return parts

    def forget(self, run: Run) -> None:
        """Let go of a run if it is empty."""
        if not run.pages:
            del self._runs[run.key]
            for tensor, _ in run.pattern:
                self._holding[tensor].pop(run.key, None)

    def take_of(self, run: Run, tensor: int, pages: int) -> int:
        """Remove up to ``pages`` pages of ``tensor`` from ``run``; the number removed."""
        count = run.remove(tensor, pages)
        if not run.pages:
            del self._runs[run.key]
            self._holding[tensor].pop(run.key, None)
        return count

    def remove(self, tensor: int, pages: int) -> int:
        """Remove up to ``pages`` pages of ``tensor``, oldest first; the number removed."""
        left = pages
        holding = self._holding[tensor]
        for key in list(holding):
            if key in self._runs:
                left -= self.take_of(holding[key], tensor, left)
            if key not in self._runs or left:
                holding.pop(key, None)
            if not left:
                break
        return pages - left
