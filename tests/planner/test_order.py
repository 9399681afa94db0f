"""The order of equal elements, against what libstdc++ (GCC 12) returned for the same keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.passes.greedy.order import _heapsort, introsort_order

SORTED_BY_LIBSTDCXX = {
    "seventeen equal": ([0] * 17, "8 16 15 14 13 12 11 10 9 0 7 6 5 4 3 2 1"),
    "forty equal": (
        [0] * 40,
        "30 21 22 23 24 25 26 27 28 29 20 31 32 33 34 35 36 37 38 39 10 1 2 3 4 5 6 7 8 9 0 11 12 13 14 15 16 17 18 19",
    ),
    "five values": (
        [i * 7 % 5 for i in range(50)],
        "0 25 30 20 35 15 40 10 45 5 8 43 38 13 23 33 18 28 3 48 1 26 31 46 36 41 11 21 6 16 34 44 9 39 24 14 4 19 29 49 "
        "12 47 2 7 42 37 17 32 22 27",
    ),
    "up and down in pairs": (
        [min(i, 79 - i) // 2 for i in range(80)],
        "1 79 78 0 3 2 77 76 4 75 74 5 6 7 73 72 8 9 71 70 11 10 69 68 12 67 66 13 14 15 64 65 16 17 62 63 18 19 60 61 58 59 21 20 57 56 "
        "23 22 55 54 25 24 26 53 52 27 28 29 51 50 48 30 31 49 47 46 32 33 45 34 44 35 36 37 42 43 38 39 40 41",
    ),
}
HEAPSORTED_BY_LIBSTDCXX = {
    20: "10 15 0 5 13 18 8 3 1 16 11 6 9 19 4 14 7 17 2 12",
    21: "15 20 0 10 5 18 3 8 13 16 1 11 6 4 9 19 14 7 17 2 12",
}


@pytest.mark.parametrize("case", SORTED_BY_LIBSTDCXX)
def test_introsort(case: str):
    key, order = SORTED_BY_LIBSTDCXX[case]
    assert introsort_order(np.array(key, np.int64)).tolist() == [int(number) for number in order.split()]


@pytest.mark.parametrize("count", HEAPSORTED_BY_LIBSTDCXX)
def test_heapsort(count: int):
    key = np.arange(count) * 7 % 5
    order = np.arange(count)
    _heapsort(key, order)
    assert order.tolist() == [int(number) for number in HEAPSORTED_BY_LIBSTDCXX[count].split()]


def test_short_runs_are_stable():
    assert introsort_order(np.zeros(16, np.int64)).tolist() == list(range(16))
    assert introsort_order(np.zeros(0, np.int64)).tolist() == []


@given(st.lists(st.integers(0, 40), max_size=300))
def test_a_sorting_permutation(key: list[int]):
    order = introsort_order(np.array(key, np.int64)).tolist()
    assert sorted(order) == list(range(len(key)))
    assert [key[index] for index in order] == sorted(key)
