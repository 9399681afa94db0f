"""The order in which the C++ library that the artifact was built with (libstdc++ ``std::sort``) leaves equal elements.

The artifact sorts its candidates anew for every decision, most of them with equal keys, and its moves by kernel only. Which of the equal ones
comes first is then a matter of the sorting algorithm: introsort, that is quicksort with the median of three down to runs of 16, then
insertion sort. Only the first part reorders equal elements; the second is stable.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

RUN = 16
"""Runs that quicksort leaves to insertion sort (``_S_threshold``)."""


def introsort_order(rank: IntArray) -> IntArray:
    """Return the permutation that sorts ``rank`` (small non-negative integers) ascending: position in the input of each output element.

    Quicksort is followed only where it can make a difference: a run without equal elements comes out sorted whatever happens to it.
    Its fallback to heapsort, after ``2 log2 n`` levels, is not modelled.
    """
    key = rank.copy()
    order = np.arange(key.size, dtype=np.int64)
    tied = np.bincount(key) > 1 if key.size else np.zeros(0, np.bool_)
    runs = [(0, key.size)]
    while runs:
        low, high = runs.pop()
        if high - low <= RUN or not tied[key[low:high]].any():
            continue
        if (key[low:high] == key[low]).all():
            order[low:high] = order[low:high][_order_of_equals(high - low)]
            continue
        cut = low + _partition(key[low:high], order[low:high])
        runs += [(low, cut), (cut, high)]
    return order[np.argsort(key, kind="stable")]


@lru_cache(maxsize=512)
def _order_of_equals(count: int) -> IntArray:
    """Return what quicksort makes of ``count`` equal elements."""
    order = np.arange(count, dtype=np.int64)
    if count > RUN:
        cut = _partition(np.zeros(count, np.int64), order)
        order[:cut] = order[:cut][_order_of_equals(cut)]
        order[cut:] = order[cut:][_order_of_equals(count - cut)]
    order.flags.writeable = False
    return order


def _partition(key: IntArray, order: IntArray) -> int:
    """Partition both views in place around the median of three; return where the second part begins.

    The k-th element from the left that is not below the pivot changes places with the k-th from the right that is not above it, until they cross.
    """
    median = _median_position(key)
    for view in (key, order):
        view[0], view[median] = view[median], view[0]
    rest, moved = key[1:], order[1:]
    left = np.flatnonzero(rest >= key[0])
    right = np.flatnonzero(rest <= key[0])[::-1]
    shorter = min(left.size, right.size)
    swaps = int(np.count_nonzero(left[:shorter] < right[:shorter]))
    for view in (rest, moved):
        view[left[:swaps]], view[right[:swaps]] = view[right[:swaps]], view[left[:swaps]]
    stops = [int(left[swaps])] if swaps < left.size else []
    if swaps:
        stops.append(int(right[swaps - 1]))
    return 1 + min(stops)


def _median_position(key: IntArray) -> int:
    """Return the position of the median of the second, the middle and the last element."""
    candidates = (1, key.size // 2, key.size - 1)
    a, b, c = (int(key[position]) for position in candidates)
    if a < b:
        chosen = 1 if b < c else 2 if a < c else 0
    else:
        chosen = 0 if a < c else 2 if b < c else 1
    return candidates[chosen]
