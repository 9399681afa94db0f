"""The inactive periods as arrays, and what moving each away would save."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from g10c.compiler.vitality import Period
from g10c.passes.greedy.bandwidth import Budgets, cumulative, finish_kernels, latest_starts
from g10c.passes.greedy.costs import Costs
from g10c.passes.greedy.options import TieOrder
from g10c.passes.greedy.order import introsort_order

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(slots=True)
class Candidates:
    """Inactive periods, one per element. ``open`` are those that no decision was taken about."""

    tensor: IntArray
    start: IntArray
    end: IntArray
    wraps: BoolArray
    length: IntArray
    """Ideal time, ticks."""
    size_bytes: IntArray
    area: FloatArray
    """Bytes times ideal time of the period (byte us)."""
    open: BoolArray


def candidates(periods: list[Period], sizes: IntArray, starts: IntArray, ticks_per_us: float) -> Candidates:
    """Collect the periods of the tensors that take space.

    Areas are the differences of times that are summed kernel after kernel through two steps in floating-point us, as the artifact has them:
    what rounding makes of them decides which of two tensors of one size comes first that are idle equally long (``get_interval_time``).
    """
    kept = [period for period in periods if sizes[period.tensor] > 0]
    table = np.array([(p.tensor, p.start, p.end, p.wraps) for p in kept], dtype=np.int64).reshape(-1, 4)
    tensor, start, end, wraps = (np.ascontiguousarray(column) for column in table.T)
    length = starts[end] - starts[start] + wraps * starts[-1]
    twice_us = np.cumsum(np.concatenate([np.zeros(1), np.tile(np.diff(starts), 2) / ticks_per_us]))
    area = (twice_us[end + wraps * (starts.size - 1)] - twice_us[start]) * sizes[tensor]
    return Candidates(tensor, start, end, wraps.astype(np.bool_), length, sizes[tensor], area, np.ones(len(kept), np.bool_))


def scores(found: Candidates, above: BoolArray, starts: IntArray, budgets: Budgets, costs: Costs, artifact_wrap: bool) -> FloatArray:
    """Return each candidate's bytes times the ideal time that it would be away while memory is over-full (byte ticks); 0 if decided.

    ``above`` tells for each kernel if more than the GPU's memory is in use. A tensor counts as away between the middles of the two
    transfers, estimated from the bandwidth that is still free: the SSD's, or the link's where no SSD is to be used. Periods across the
    step's end are counted whole.
    """
    ticks = np.diff(starts)
    time_above = np.concatenate([np.zeros(1, np.int64), np.cumsum(ticks * above)])
    outgoing, incoming = (side.ssd if costs.ssd_rate > 0 else side.pcie for side in (budgets.outgoing, budgets.incoming))
    half = found.size_bytes // 2
    local = ~found.wraps
    gone = finish_kernels(cumulative(outgoing), found.start, half)
    back = latest_starts(cumulative(incoming), np.maximum(found.end, 1), half)
    away = np.zeros(found.start.size, dtype=np.int64)
    away[local] = np.maximum(time_above[back] - time_above[gone], 0)[local]
    before = _shifted_time_above(above, ticks) if artifact_wrap else time_above
    wrapping = found.wraps
    away[wrapping] = (time_above[-1] - time_above[found.start] + before[found.end])[wrapping]
    return np.where(found.open, found.size_bytes.astype(np.float64) * away, 0.0)


def _shifted_time_above(above: BoolArray, ticks: IntArray) -> IntArray:
    """Return the artifact's version of the time above memory before each kernel of the next step.

    See ``GreedyOptions.artifact_wrap_score``.
    """
    table = np.zeros(above.size + 1, dtype=np.int64)
    table[1:2] = -ticks.sum() * above[:1]
    table[2:] = ticks[:-1] * above[1:]
    return np.cumsum(table)


class Ranking:
    """Finds the candidate to consider next. It is kept from one decision to the next: the artifact sorts what it sorted before."""

    def __init__(self, found: Candidates, tie_order: TieOrder) -> None:
        self._found = found
        self._area = found.area
        self._tie_order = tie_order
        self._order = np.arange(found.tensor.size, dtype=np.int64)

    def best(self, score: FloatArray) -> int | None:
        """Return the candidate with the highest score, of equal ones with the largest area, or ``None`` when there is nothing left.

        Candidates whose score is 0 are equal whatever their area. In the artifact's order the first of them may be one that was decided
        before, which ends the search; in the stable order the search ends when none is left.
        """
        if self._tie_order == "artifact":
            self._order = self._order[introsort_order(_ranks(score, self._area)[self._order])]
            first = int(self._order[0])
            return first if self._found.open[first] else None
        left = np.flatnonzero(self._found.open)
        if not left.size:
            return None
        return int(left[np.lexsort((-self._area[left], -score[left]))[0]])

    def by_area(self) -> IntArray:
        """Return the candidates by falling area, whatever was decided about them."""
        order = self._order if self._tie_order == "artifact" else np.arange(self._area.size, dtype=np.int64)
        return order[tie_order_of(_dense_ranks((-self._area,))[order], self._tie_order)]


def _ranks(score: FloatArray, area: FloatArray) -> IntArray:
    """Return dense ranks, 0 the best; equal where no rule tells two candidates apart."""
    return _dense_ranks((np.where(score == 0.0, 0.0, -area), -score))


def _dense_ranks(keys: tuple[FloatArray, ...]) -> IntArray:
    """Return 0, 1, ... by the last key, then by those before it."""
    order = np.lexsort(keys)
    differs = np.zeros(order.size, dtype=np.int64)
    for key in keys:
        differs[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks


def tie_order_of(rank: IntArray, tie_order: TieOrder) -> IntArray:
    """Return the permutation that sorts ``rank`` ascending with equal ones in the given order."""
    return introsort_order(rank) if tie_order == "artifact" else np.argsort(rank, kind="stable")
