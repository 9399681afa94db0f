"""Liveness and inactive periods: small steps by hand, and the artifact's own tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from planner.structures import CONVOLUTIONAL, TRANSFORMERS, load_step, rows

from g10c.compiler.vitality import Period, inactive_periods, liveness, start_times_ns
from g10c.ir.step import Kernel, Step, StepTensor


def step(persistent: str, kernels: list[tuple[str, str]], names: str = "abcd") -> Step:
    """Build a step; kernel ``k`` takes ``10 ** k`` ns and names what it reads and writes by letters."""
    tensors = tuple(StepTensor(name, 4096, name in persistent) for name in names)
    index = names.index
    return Step(
        "hand",
        tensors,
        tuple(Kernel(f"k{k}", 10**k, 10**k, 10**k, tuple(map(index, r)), tuple(map(index, w))) for k, (r, w) in enumerate(kernels)),
    )


def test_birth_is_the_first_use_and_death_follows_the_last():
    lives = liveness(step("", [("", "a"), ("a", "b"), ("", ""), ("b", "c"), ("c", "")]))
    assert lives.birth.tolist() == [0, 1, 3, 0]
    assert lives.death.tolist() == [2, 4, 5, 0]


def test_a_tensor_never_read_dies_after_its_birth():
    lives = liveness(step("", [("", "a"), ("a", "bc"), ("c", "")]))
    assert lives.never_read.tolist() == [False, True, False, True]
    assert (lives.birth[1], lives.death[1]) == (1, 2)


def test_storage_lasts_until_the_last_write():
    lives = liveness(step("", [("", "a"), ("a", ""), ("", ""), ("", "a")]))
    assert (lives.birth[0], lives.death[0]) == (0, 4)


def test_persistent_tensors_live_all_the_time():
    lives = liveness(step("ab", [("", ""), ("a", ""), ("", "")]))
    assert lives.birth.tolist()[:2] == [0, 0]
    assert lives.death.tolist()[:2] == [3, 3]
    assert lives.used.tolist() == [True, False, False, False]


def periods(persistent: str, kernels: list[tuple[str, str]]) -> list[Period]:
    hand = step(persistent, kernels)
    return inactive_periods(hand, liveness(hand))


def test_periods_lie_between_uses():
    assert periods("", [("", "a"), ("", ""), ("", ""), ("a", ""), ("", ""), ("a", "a"), ("", "")]) == [
        Period(0, 1, 3, False, 110),
        Period(0, 4, 5, False, 10_000),
    ]


def test_an_update_in_place_is_one_use():
    assert periods("", [("", "a"), ("a", "a"), ("a", "")]) == []


def test_a_persistent_tensor_is_idle_across_the_end():
    (period,) = periods("a", [("", ""), ("a", ""), ("", "a"), ("", ""), ("", "")])
    assert period == Period(0, 3, 1, True, 11_001)
    assert period.kernels(5) == 3


def test_the_period_across_the_end_may_begin_with_the_step():
    assert periods("a", [("", ""), ("", ""), ("a", "")]) == [Period(0, 0, 2, False, 11)]


def test_the_period_across_the_end_may_end_with_it():
    assert periods("a", [("a", ""), ("", ""), ("", "")]) == [Period(0, 1, 0, True, 110)]


def test_no_period_without_an_idle_kernel():
    assert periods("a", [("a", ""), ("a", "")]) == []
    assert periods("a", [("", ""), ("", "")]) == []
    assert periods("", []) == []


def test_an_empty_step():
    empty = Step("empty", (), ())
    assert liveness(empty).birth.size == 0
    assert inactive_periods(empty, liveness(empty)) == []
    assert start_times_ns(empty).tolist() == [0]


@pytest.mark.parametrize("structure", TRANSFORMERS + CONVOLUTIONAL)
def test_lifetimes_are_the_artifacts(structure: str, g10_data: Path):
    lives = liveness(load_step(g10_data, structure))
    for row in rows(g10_data, structure, "tensors"):
        tensor = int(row["tensor"])
        assert lives.persistent[tensor] == (row["global"] == "1")
        if row["global"] == "0":
            death = -1 if lives.never_read[tensor] else int(lives.death[tensor])
            assert (int(lives.birth[tensor]), death) == (int(row["birth"]), int(row["death"])), tensor


@pytest.mark.parametrize("structure", TRANSFORMERS + CONVOLUTIONAL)
def test_periods_are_the_artifacts_in_its_order(structure: str, g10_data: Path):
    loaded = load_step(g10_data, structure)
    ours = [(period.tensor, period.start, period.end) for period in inactive_periods(loaded, liveness(loaded))]
    assert ours == [tuple(map(int, row.values())) for row in rows(g10_data, structure, "inactive_periods")]
