"""Scores of inactive periods, and which one comes first."""

from __future__ import annotations

import numpy as np

from g10c.compiler.vitality import Period
from g10c.passes.greedy.bandwidth import full_budgets
from g10c.passes.greedy.candidates import Candidates, Ranking, candidates, scores
from g10c.passes.greedy.costs import Costs

KERNELS = 6
STARTS = np.arange(KERNELS + 1) * 10
"""Six kernels of 10 ticks."""
COSTS = Costs(ssd_rate=1.0, pcie_rate=4.0, ssd_latency=0.0, fault_latency=0.0, allocation=0.0)


def collect(*periods: tuple[int, int, bool], sizes: list[int]) -> Candidates:
    listed = [Period(tensor, start, end, wraps, 0) for tensor, (start, end, wraps) in enumerate(periods)]
    return candidates(listed, np.array(sizes), STARTS, 1.0)


def score(found: Candidates, above: list[int], costs: Costs = COSTS, artifact_wrap: bool = False) -> list[float]:
    flags = np.isin(np.arange(KERNELS), above)
    return scores(found, flags, STARTS, full_budgets(np.diff(STARTS), costs), costs, artifact_wrap).tolist()


def test_a_period_is_away_between_the_middles_of_its_transfers():
    found = collect((1, 5, False), sizes=[24])
    assert score(found, [0, 1, 2, 3, 4, 5]) == [24 * 10], "12 bytes leave until kernel 2, 12 come back from kernel 3 on"
    assert score(found, [2]) == [24 * 10]
    assert score(found, [3, 4]) == [0]


def test_without_ssd_the_link_is_what_counts():
    found = collect((1, 5, False), sizes=[24])
    assert score(found, list(range(6)), Costs(0.0, 4.0, 0.0, 0.0, 0.0)) == [24 * 30]


def test_transfers_that_meet_save_nothing():
    assert score(collect((2, 4, False), sizes=[100]), list(range(6))) == [0]


def test_a_period_across_the_end_counts_whole():
    assert score(collect((4, 2, True), sizes=[8]), [0, 1, 3, 5]) == [8 * 30]


def test_the_artifacts_count_across_the_end():
    found = candidates([Period(0, 4, 3, True, 0)], np.array([8]), np.array([0, 1, 3, 7, 15, 31, 63]), 1.0)
    starts = np.array([0, 1, 3, 7, 15, 31, 63])
    budgets = full_budgets(np.diff(starts), COSTS)

    def at(*above: int) -> float:
        return float(scores(found, np.isin(np.arange(6), above), starts, budgets, COSTS, True)[0])

    assert at(5) == 8 * 32
    assert at(0) == 8 * -63, "the first kernel takes the whole step off"
    assert at(1) == 8 * 1, "kernel 1 counts with the time of kernel 0"
    assert at(2) == 8 * 2, "kernel 2 counts with the time of kernel 1"


def test_decided_candidates_score_nothing():
    found = collect((1, 5, False), (1, 5, False), sizes=[24, 24])
    found.open[0] = False
    assert score(found, list(range(6))) == [0, 240]


def test_tensors_without_bytes_are_no_candidates():
    assert collect((1, 5, False), (1, 5, False), sizes=[0, 24]).tensor.tolist() == [1]


def test_the_highest_score_comes_first_then_the_largest_area():
    found = collect((1, 4, False), (1, 5, False), (0, 5, False), sizes=[24, 24, 24])
    for tie_order in ("artifact", "stable"):
        assert Ranking(found, tie_order).best(np.array([1.0, 2.0, 2.0])) == 2
        assert Ranking(found, tie_order).best(np.array([3.0, 2.0, 2.0])) == 0


def test_the_artifact_does_not_tell_candidates_without_score_apart():
    found = collect((1, 4, False), (1, 5, False), sizes=[24, 24])
    assert Ranking(found, "artifact").best(np.zeros(2)) == 0
    assert Ranking(found, "stable").best(np.zeros(2)) == 1


def test_a_decided_candidate_in_front_ends_the_artifacts_search():
    found = collect((1, 4, False), (1, 5, False), sizes=[24, 24])
    found.open[0] = False
    assert Ranking(found, "artifact").best(np.zeros(2)) is None
    assert Ranking(found, "stable").best(np.zeros(2)) == 1
    found.open[1] = False
    assert Ranking(found, "stable").best(np.zeros(2)) is None


def test_by_area():
    found = collect((1, 4, False), (0, 5, False), (3, 4, False), sizes=[24, 24, 24])
    assert Ranking(found, "stable").by_area().tolist() == [1, 0, 2]
