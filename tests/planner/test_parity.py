"""Plans of the published cases against the artifact's own: the same moves in the same order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from planner.checker import check
from planner.structures import (
    CONVOLUTIONAL,
    TRANSFORMERS,
    artifact_plan,
    as_row,
    load_step,
    paper_machine,
    published_line,
    without_names,
)

from g10c.compiler.vitality import inactive_periods, liveness
from g10c.passes.greedy import GreedyOptions, GreedyPlan, plan_greedy


def plan_as_published(data: Path, structure: str) -> GreedyPlan:
    options = GreedyOptions(memory_line=published_line(data, structure), preallocate="until-fits")
    return plan_greedy(load_step(data, structure), paper_machine(), options)


@pytest.mark.parametrize("structure", TRANSFORMERS + CONVOLUTIONAL)
def test_the_artifacts_moves_in_its_order(structure: str, g10_data: Path):
    plan = plan_as_published(g10_data, structure)
    assert [as_row(move) for move in plan.moves] == artifact_plan(g10_data, structure)
    check(load_step(g10_data, structure), paper_machine(), plan.moves)


@pytest.mark.parametrize("structure", TRANSFORMERS)
def test_whole_nanoseconds_make_little_difference(structure: str, g10_data: Path):
    """Without truncation to the artifact's cycles, at least 95% of evictions and of prefetches are the same."""
    step = load_step(g10_data, structure)
    published = plan_as_published(g10_data, structure)
    options = GreedyOptions(memory_line=published_line(g10_data, structure), clock_ghz=1.0)
    plan = plan_greedy(step, paper_machine(), options)
    periods = inactive_periods(step, liveness(step))
    for kind in ("evict", "prefetch"):
        ours, theirs = (without_names((as_row(m) for m in p.moves if m.kind == kind), step, periods) for p in (plan, published))
        assert (ours & theirs).total() >= 0.95 * theirs.total()


def test_the_line_is_an_option(g10_data: Path):
    step = load_step(g10_data, "BERT_Base-256")
    loose, tight = (plan_greedy(step, paper_machine(), GreedyOptions(memory_line=line)).statistics for line in (1.2, 0.8))
    assert loose.taken < tight.taken


def test_what_the_machine_lacks_is_not_used(g10_data: Path):
    step = load_step(g10_data, "BERT_Base-256")
    for host, ssd in ((0.0, 3.2), (16.0, 3.2), (128.0, 0.0), (0.0, 0.0)):
        machine = paper_machine(host, ssd)
        plan = plan_greedy(step, machine)
        check(step, machine, plan.moves)
        tiers = {move.tier for move in plan.moves if move.kind == "evict"}
        assert ("host" in tiers) <= (host > 0)
        assert ("ssd" in tiers) <= (ssd > 0)


def test_the_explicit_copy_policies(g10_data: Path):
    """The artifact's planner, run with policies G10GDSSSD and G10GDSFULL, issues 125 evictions and 100 prefetches, and 35 and 18."""
    step = load_step(g10_data, "BERT_Base-256")
    options = GreedyOptions(memory_line=1.060606, preallocate="never", evict_at_peak=True)
    for targets, expected in ((("ssd",), (125, 100)), (("host", "ssd"), (35, 18))):
        moves = plan_greedy(step, paper_machine(), replace(options, targets=targets)).moves
        assert tuple(sum(move.kind == kind for move in moves) for kind in ("evict", "prefetch")) == expected
