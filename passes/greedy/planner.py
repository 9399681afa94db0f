"""G10's smart tensor migration (MICRO'23, section 4.3): plan evictions and prefetches greedily until memory use is below a line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from g10c.compiler.vitality import inactive_periods, liveness
from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step
from g10c.passes.greedy.bandwidth import full_budgets
from g10c.passes.greedy.candidates import Candidates, Ranking, candidates, scores
from g10c.passes.greedy.costs import planner_costs, start_ticks
from g10c.passes.greedy.emission import allocation_moves, eviction_moves, in_issue_order, peak_moves, prefetch_moves
from g10c.passes.greedy.options import GreedyOptions
from g10c.passes.greedy.placement import Memory, Placement, Planner, Rejection, Request, decide
from g10c.passes.greedy.pressure import after_allocations, allocations, initial_pressure, target_line, tensors_until_it_fits

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GreedyStatistics:
    """What the planner did. Bytes are whole pages, over one step."""

    memory_line_bytes: int
    periods: int
    """Inactive periods of tensors that take space."""
    considered: int
    taken: int
    rejected: dict[Rejection, int]
    """Periods that were considered and not moved, by reason."""
    evicted_to_host_bytes: int
    evicted_to_ssd_bytes: int
    peak_before_bytes: int
    """Highest memory use with allocation and release only."""
    peak_after_bytes: int
    """Highest memory use under the plan, as the planner counts it."""
    kernels_above_line: int
    """Kernels whose memory use the plan does not bring below the line."""
    host_peak_bytes: int
    """Highest use of host memory, as the planner counts it."""


@dataclass(frozen=True, slots=True)
class GreedyPlan:
    """Moves in issue order, memory use of each kernel under the plan (bytes, as the planner counts it), and statistics."""

    moves: tuple[Move, ...]
    pressure: IntArray
    statistics: GreedyStatistics

    @property
    def fits(self) -> bool:
        """No kernel is above the line."""
        return self.statistics.kernels_above_line == 0


def plan_greedy(step: Step, machine: Machine, options: GreedyOptions | None = None) -> GreedyPlan:
    """Plan the moves of ``step`` on ``machine``.

    Deterministic, and a plan always results: where memory use cannot be brought below the line, ``kernels_above_line`` says so.
    """
    options = options or GreedyOptions()
    lifetimes = liveness(step)
    costs, starts = planner_costs(machine, options), start_ticks(step, options)
    sizes = np.array([machine.pages(tensor.size_bytes) * machine.uvm.page for tensor in step.tensors], dtype=np.int64)

    line = target_line(machine, options)
    initial = initial_pressure(sizes, len(step.kernels), options)
    allocated = allocations(lifetimes, sizes, starts, costs, options)
    everything = allocated.tensors.size
    count = everything if options.preallocate == "always" else tensors_until_it_fits(initial, sizes, allocated, line)
    pressure = after_allocations(initial, sizes, allocated, count)
    moves = [] if options.preallocate == "never" else allocation_moves(step, allocated, count)

    host = machine.host.memory if "host" in options.targets else 0
    memory = Memory(pressure.copy(), line, np.zeros(len(step.kernels), np.int64), host)
    planner = Planner(starts, costs, options.delta, full_budgets(np.diff(starts), costs), memory)
    found = candidates(inactive_periods(step, lifetimes), sizes, starts, options.clock_ghz * 1000)
    ranking = Ranking(found, options.tie_order)
    decisions = _decide_until_it_fits(planner, found, ranking, machine.gpu.usable, options)
    placements = [decision for decision in decisions.values() if isinstance(decision, Placement)]

    moves += eviction_moves(step, placements)
    moves += prefetch_moves(step, placements, memory, options)
    if options.evict_at_peak and costs.ssd_rate > 0 and pressure.size:
        moved = {placed.request.candidate for placed in placements}
        moves += peak_moves(step, found, ranking.by_area(), moved, memory, int(pressure.argmax()))
    return GreedyPlan(
        tuple(in_issue_order(moves, options.tie_order)), memory.gpu, _statistics(found, decisions, pressure, memory, moves, sizes)
    )


def _decide_until_it_fits(
    planner: Planner, found: Candidates, ranking: Ranking, gpu_bytes: int, options: GreedyOptions
) -> dict[int, Placement | Rejection]:
    """Decide about one candidate after the other, in the order of what moving it saves now, until no kernel is above the line."""
    decisions: dict[int, Placement | Rejection] = {}
    memory = planner.memory
    while found.open.any() and memory.gpu.max() > memory.line:
        above = memory.gpu > gpu_bytes
        score = scores(found, above, planner.starts, planner.budgets, planner.costs, options.artifact_wrap_score)
        best = ranking.best(score)
        if best is None:
            break
        decisions[best] = decide(planner, _request(found, best))
        found.open[best] = False
    return decisions


def _request(found: Candidates, candidate: int) -> Request:
    """Return one candidate's period."""
    columns = (found.tensor, found.start, found.end)
    tensor, start, end = (int(column[candidate]) for column in columns)
    return Request(
        candidate, tensor, start, end, bool(found.wraps[candidate]), int(found.length[candidate]), int(found.size_bytes[candidate])
    )


def _statistics(
    found: Candidates,
    decisions: dict[int, Placement | Rejection],
    before: IntArray,
    memory: Memory,
    moves: list[Move],
    sizes: IntArray,
) -> GreedyStatistics:
    """Sum up the decisions and what they leave."""
    rejected = Counter(decision for decision in decisions.values() if not isinstance(decision, Placement))
    evicted = {
        tier: sum(int(sizes[move.tensor]) for move in moves if move.kind == "evict" and move.tier == tier) for tier in ("host", "ssd")
    }
    return GreedyStatistics(
        memory_line_bytes=memory.line,
        periods=found.tensor.size,
        considered=len(decisions),
        taken=len(decisions) - rejected.total(),
        rejected=dict(sorted(rejected.items())),
        evicted_to_host_bytes=evicted["host"],
        evicted_to_ssd_bytes=evicted["ssd"],
        peak_before_bytes=int(before.max(initial=0)),
        peak_after_bytes=int(memory.gpu.max(initial=0)),
        kernels_above_line=int(np.count_nonzero(memory.gpu > memory.line)),
        host_peak_bytes=int(memory.host.max(initial=0)),
    )
