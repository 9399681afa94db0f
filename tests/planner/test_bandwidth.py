"""Bandwidth budgets: by hand, and against walking kernel by kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.passes.greedy.bandwidth import (
    Budget,
    Budgets,
    cumulative,
    finish_kernel,
    finish_kernels,
    full_budgets,
    latest_start,
    latest_starts,
    take_host,
    take_ssd,
)
from g10c.passes.greedy.costs import Costs

COSTS = Costs(ssd_rate=1.0, pcie_rate=4.0, ssd_latency=0.0, fault_latency=0.0, allocation=0.0)


def fresh(ticks: list[int]) -> Budgets:
    return full_budgets(np.array(ticks), COSTS)


def test_capacity_is_rate_times_kernel_time():
    budget = fresh([10, 20]).outgoing
    assert budget.ssd.tolist() == [10, 20]
    assert budget.pcie.tolist() == [40, 80]


@pytest.mark.parametrize(("size", "last"), [(5, 1), (10, 1), (11, 3), (500, 3)])
def test_a_transfer_ends_where_its_bytes_are_through(size: int, last: int):
    assert finish_kernel(np.array([10.0, 10.0, 0.0, 10.0]), 1, size) == last


@pytest.mark.parametrize(("size", "first"), [(5, 1), (10, 1), (11, 0), (500, 0)])
def test_a_transfer_begins_as_late_as_it_can(size: int, first: int):
    assert latest_start(np.array([10.0, 10.0, 0.0, 10.0]), 3, size) == first


def test_transfers_to_ssd_use_the_link_too():
    budget = fresh([10, 10, 10]).outgoing
    take_ssd(budget, 0, 15)
    assert budget.ssd.tolist() == [0, 5, 10]
    assert budget.pcie.tolist() == [30, 35, 40]


def test_transfers_to_host_leave_the_ssd_what_the_link_has_left():
    budget = fresh([10, 10, 10]).outgoing
    take_host(budget, 0, 75)
    assert budget.pcie.tolist() == [0, 5, 40]
    assert budget.ssd.tolist() == [0, 5, 10]


def test_what_the_link_lacks_is_counted_with_each_transfer_that_ends_there():
    budget = fresh([10]).outgoing
    take_host(budget, 0, 33)
    assert (budget.pcie[0], budget.ssd[0]) == (7, 7)
    take_host(budget, 0, 1)
    assert (budget.pcie[0], budget.ssd[0]) == (6, 3)


def test_a_transfer_that_does_not_fit_takes_all_until_the_end():
    budget = fresh([10, 10]).outgoing
    take_ssd(budget, 1, 100)
    assert budget.ssd.tolist() == [10, 0]


def test_the_directions_have_budgets_of_their_own():
    budgets = fresh([10])
    take_host(budgets.outgoing, 0, 40)
    assert budgets.incoming.pcie.tolist() == [40]


FREE = st.lists(st.floats(0, 50) | st.just(0.0), min_size=1, max_size=30)


@given(FREE, st.data())
def test_many_transfers_at_once_are_like_one_at_a_time(slots: list[float], data: st.DataObject):
    free = np.array(slots)
    starts = np.array(data.draw(st.lists(st.integers(0, len(slots) - 1), min_size=1, max_size=5)))
    ends = starts + 1
    sizes = np.array(data.draw(st.lists(st.integers(1, 400), min_size=len(starts), max_size=len(starts))))
    assert finish_kernels(cumulative(free), starts, sizes).tolist() == [
        finish_kernel(free, *pair) for pair in zip(starts, sizes, strict=True)
    ]
    assert latest_starts(cumulative(free), ends, sizes).tolist() == [latest_start(free, *pair) for pair in zip(ends, sizes, strict=True)]


@given(FREE, st.data())
def test_walking_kernel_by_kernel_gives_the_same(slots: list[float], data: st.DataObject):
    start, size = data.draw(st.integers(0, len(slots) - 1)), data.draw(st.integers(1, 400))
    rest, kernel = size, start
    while True:
        rest -= math.ceil(slots[kernel])
        if rest <= 0 or kernel == len(slots) - 1:
            break
        kernel += 1
    assert finish_kernel(np.array(slots), start, size) == kernel


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.lists(st.tuples(st.booleans(), st.integers(0, 11), st.integers(1, 300)), max_size=12),
)
def test_no_budget_is_overdrawn_and_bytes_are_conserved(ticks: list[int], transfers: list[tuple[bool, int, int]]):
    budget = fresh(ticks).outgoing
    for to_ssd, at, size in transfers:
        start = min(at, len(ticks) - 1)
        before = Budget(budget.ssd.copy(), budget.pcie.copy(), budget.ssd_capacity)
        (take_ssd if to_ssd else take_host)(budget, start, size)
        own, own_before = (budget.ssd, before.ssd) if to_ssd else (budget.pcie, before.pcie)
        assert (own_before - own).sum() == pytest.approx(min(size, own_before[start:].sum()))
        assert (budget.ssd >= 0).all()
        assert (budget.pcie >= 0).all()
        assert (budget.pcie <= before.pcie).all()
        assert (budget.ssd <= before.ssd).all()
