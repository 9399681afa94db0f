"""The order in which pages came into GPU memory, which is the order in which they are evicted under pressure."""

from __future__ import annotations

from g10c.backends.uvm.runs import NOTHING, Parts, Run, join


def divide(parts: Parts, spared: frozenset[int]) -> tuple[Parts, Parts]:
    """The pages of ``parts`` that are not of ``spared`` tensors, and those that are."""
    taken: Parts = []
    passed: Parts = []
    for tensor, count in parts:
        join(passed if tensor in spared else taken, [(tensor, count)])
    return taken, passed


class ArrivalOrder:
    """Pages in GPU memory that may be evicted, in the order in which they came (the artifact's ``lru_addrs``).

    Accesses of kernels do not change the order: the artifact refreshes a page only when it is mapped (``GPUPageTable::LRUAccess``).
    """

    __slots__ = ("_holding", "_newest", "_next_number", "_oldest", "_passed", "_spared")

    def __init__(self, tensors: int) -> None:
        self._oldest: Run | None = None
        self._newest: Run | None = None
        self._holding: list[dict[Run, None]] = [{} for _ in range(tensors)]  # runs by tensor; may name runs that hold it no more
        self._next_number = 0
        self._spared = NOTHING
        self._passed: Run | None = None  # neither it nor a run before it has a page that is not of _spared

    def victim(self, spared: frozenset[int] = NOTHING) -> Run | None:
        """The oldest run with a page that is not of a ``spared`` tensor."""
        if not spared:
            return self._oldest
        if spared is not self._spared:
            self._spared = spared
            self._passed = None
        run = self._oldest if self._passed is None else self._passed.after
        while run is not None and run.within(spared):
            self._passed = run
            run = run.after
        return run

    def append(self, pattern: Parts, repeats: int = 1) -> None:
        """Enter ``repeats`` times ``pattern`` as the newest pages."""
        last = self._newest
        period = sum(count for _, count in pattern)
        if last is not None and last.extends(pattern):
            last.extend(period, repeats)
            if last is self._passed:
                self._passed = last.before  # it may have had nothing but the lead of a period
            return
        self._next_number += 1
        run = Run(pattern, period, repeats, self._next_number)
        run.before = last
        if last is None:
            self._oldest = run
        else:
            last.after = run
        self._newest = run
        self._hold(run)

    def take(self, run: Run, pages: int, spared: frozenset[int] = NOTHING) -> Parts:
        """Remove the first ``pages`` pages of ``run`` that are not of ``spared`` tensors; those passed over stay in front."""
        parts: Parts = []
        if not run.mixes(spared):
            parts = run.take(pages)
        while pages and run.pages and not parts:
            parts = self._take_mixed(run, pages, spared)
        self.forget(run)
        return parts

    def _take_mixed(self, run: Run, pages: int, spared: frozenset[int]) -> Parts:
        """Like :meth:`take`, of the rest of a period or of whole periods: fewer than ``pages`` pages, or none, may be removed."""
        if not run.lead:
            taken, passed = divide(run.pattern, spared)
            each = sum(count for _, count in taken)
            whole = min(run.repeats, pages // each) if each else run.repeats
            if whole:
                self._pass(run, passed, whole)
                run.repeats -= whole
                run.pages -= whole * run.period
                return taken * whole
            run.begin()
        parts: Parts = []
        passed = []
        while run.lead and (pages or run.lead[0][0] in spared):
            tensor, count = run.lead.pop(0)
            if tensor in spared:
                passed.append((tensor, count))
            else:
                kept = max(0, count - pages)
                if kept:
                    run.lead.insert(0, (tensor, kept))
                parts.append((tensor, count - kept))
                pages -= count - kept
                if kept:
                    break
        gone = sum(count for _, count in (*parts, *passed))
        run.lead_pages -= gone
        run.pages -= gone
        for part in passed:
            self._pass(run, [part], 1)
        return parts

    def available(self, run: Run, spared: frozenset[int]) -> int:
        """Pages of ``run`` that are not of ``spared`` tensors."""
        if not run.mixes(spared):
            return run.pages
        each = sum(count for tensor, count in run.pattern if tensor not in spared)
        return each * run.repeats + sum(count for tensor, count in run.lead if tensor not in spared)

    def drop(self, run: Run, pages: int, spared: frozenset[int], long: int) -> None:
        """Remove ``pages`` pages of a run's :meth:`stock`, as :meth:`take` would."""
        if not run.mixes(spared) or run.in_stretch(long):
            run.drop(pages, long)
        else:
            taken, passed = divide(run.pattern, spared)
            whole = pages // sum(count for _, count in taken)
            self._pass(run, passed, whole)
            run.repeats -= whole
            run.pages -= whole * run.period
        self.forget(run)

    def stock(self, run: Run, spared: frozenset[int], long: int) -> int:
        """Pages that can be dropped before the run's place in its pattern changes."""
        if not run.mixes(spared) or run.in_stretch(long):
            return run.stock(long)
        return run.repeats * sum(count for tensor, count in run.pattern if tensor not in spared)

    def forget(self, run: Run) -> None:
        """Let go of a run if it is empty."""
        if run.pages:
            return
        before, after = run.before, run.after
        if before is None:
            self._oldest = after
        else:
            before.after = after
        if after is None:
            self._newest = before
        else:
            after.before = before
        if run is self._passed:
            self._passed = before
        for tensor, _ in run.pattern:
            self._holding[tensor].pop(run, None)

    def remove(self, tensor: int, pages: int) -> int:
        """Remove up to ``pages`` pages of ``tensor``, oldest first; the number removed."""
        left = pages
        holding = self._holding[tensor]
        for run in sorted(holding, key=lambda run: run.number):
            if left and run.pages:
                left -= run.remove(tensor, left)
                self.forget(run)
            if left or not run.pages:
                holding.pop(run, None)
        return pages - left

    def _hold(self, run: Run) -> None:
        for tensor, _ in run.pattern:
            self._holding[tensor][run] = None

    def _pass(self, run: Run, pattern: Parts, repeats: int) -> None:
        """Enter ``repeats`` times ``pattern`` directly in front of ``run``."""
        if not pattern:
            return
        before = run.before
        period = sum(count for _, count in pattern)
        if before is not None and before.extends(pattern):
            before.extend(period, repeats)
            self._hold(before)
            return
        passed = Run(pattern, period, repeats, run.number)
        passed.before, passed.after = before, run
        run.before = passed
        if before is None:
            self._oldest = passed
        else:
            before.after = passed
        self._hold(passed)
