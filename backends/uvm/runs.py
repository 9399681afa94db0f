"""Runs of pages, and the queues they wait in.

A page has no identity beyond its tensor: the pages of one tensor are interchangeable for everything that the runtime decides (who is
served, who is pushed out, where to), so only their number and their order among pages of other tensors count. A run is a pattern, pages of
some tensors in order, that repeats: what arrives in equal periods over several links.
"""

from __future__ import annotations

from collections import deque

from g10c.ir.errors import InternalError

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

    __slots__ = ("after", "before", "lead", "lead_pages", "number", "pages", "pattern", "period", "repeats")

    def __init__(self, pattern: Parts, period: int, repeats: int, number: int = 0) -> None:
        if len(pattern) == 1:
            pattern, period, repeats = [(pattern[0][0], 1)], 1, period * repeats
        self.pattern = pattern
        self.period = period
        self.repeats = repeats
        self.pages = period * repeats
        self.lead: Parts = []
        self.lead_pages = 0
        self.number = number
        self.before: Run | None = None
        self.after: Run | None = None

    @property
    def first(self) -> tuple[int, int]:
        """The tensor of the next page, and how many pages of it come next at least."""
        if self.lead:
            return self.lead[0]
        tensor, count = self.pattern[0]
        return tensor, self.pages if self.period == 1 else count

    def within(self, tensors: frozenset[int]) -> bool:
        """Whether all pages of the run are of ``tensors``."""
        return all(tensor in tensors for tensor, _ in self.lead) and (
            not self.repeats or all(tensor in tensors for tensor, _ in self.pattern)
        )

    def touches(self, tensors: frozenset[int]) -> bool:
        """Whether a page of the run is of ``tensors``."""
        return any(tensor in tensors for tensor, _ in self.lead) or (
            self.repeats > 0 and any(tensor in tensors for tensor, _ in self.pattern)
        )

    def mixes(self, spared: frozenset[int]) -> bool:
        """Whether the run is a pattern with pages of ``spared`` tensors."""
        return bool(spared) and self.period > 1 and self.touches(spared)

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

    def begin(self) -> None:
        """Begin a period: it becomes the lead, which is empty."""
        self.lead = list(self.pattern)
        self.lead_pages = self.period
        self.repeats -= 1

    def in_stretch(self, long: int) -> bool:
        """Whether the next pages are a stretch of one tensor longer than ``long`` pages within a pattern."""
        return bool(self.lead) and self.lead[0][1] > long

    def place(self, long: int) -> tuple[int, ...]:
        """Where in the pattern the run is. While this stays the same, only :meth:`stock` changes.

        In a stretch of one tensor longer than ``long`` pages that is the stretch, elsewhere the page within the period.
        """
        if self.in_stretch(long):
            return (self.repeats, len(self.lead))
        return (self.lead_pages,)

    def stock(self, long: int) -> int:
        """Pages that can be dropped before the run's place changes: of the stretch, or of whole periods."""
        if self.in_stretch(long):
            return self.lead[0][1] - 1
        return self.repeats * self.period

    def drop(self, pages: int, long: int) -> None:
        """Remove ``pages`` pages of the :meth:`stock` without a look at them."""
        self.pages -= pages
        if self.in_stretch(long):
            self.lead[0] = (self.lead[0][0], self.lead[0][1] - pages)
            self.lead_pages -= pages
        else:
            self.repeats -= pages // self.period
        if self.repeats < 0 or self.pages < 0 or self.lead_pages < 0:
            raise InternalError.at(f"a run lost {pages} pages more than it had: {self.pages} are left")

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

    def pages_until(self, tensors: frozenset[int]) -> int:
        """Pages that are served until the last one of ``tensors`` is."""
        seen = last = 0
        for run in self.runs:
            seen += run.pages
            if run.touches(tensors):
                last = seen
        return last

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
