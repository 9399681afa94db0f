"""The order in which the C++ library that the artifact was built with (libstdc++ ``std::sort``) leaves equal elements.

The artifact sorts its candidates anew for every decision, most of them with equal keys, and its moves by kernel only. Which of the equal
ones comes first is then a matter of the sorting algorithm: introsort, that is quicksort with the median of three down to runs of 16,
heapsort for what quicksort does not split well, and insertion sort at last. Only the first two reorder equal elements; the last is stable.
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
    """
    key = rank.copy()
    order = np.arange(key.size, dtype=np.int64)
    tied = np.bincount(key) > 1 if key.size else np.zeros(0, np.bool_)
    runs = [(0, key.size, 2 * (key.size.bit_length() - 1))]
    while runs:
        low, high, depth = runs.pop()
        run, moved = key[low:high], order[low:high]
        if high - low <= RUN or not tied[run].any():
            continue
        if (run == run[0]).all():
            moved[:] = moved[_order_of_equals(high - low, min(depth, (high - low).bit_length()))]
        elif depth == 0:
            _heapsort(run, moved)
        else:
            cut = low + _partition(run, moved)
            runs += [(low, cut, depth - 1), (cut, high, depth - 1)]
    return order[np.argsort(key, kind="stable")]


@lru_cache(maxsize=512)
def _order_of_equals(count: int, depth: int) -> IntArray:
    """Return what quicksort makes of ``count`` equal elements when it may go ``depth`` levels deep."""
    order = np.arange(count, dtype=np.int64)
    if count > RUN and depth == 0:
        _heapsort(np.zeros(count, np.int64), order)
    elif count > RUN:
        cut = _partition(np.zeros(count, np.int64), order)
        for part in (order[:cut], order[cut:]):
            part[:] = part[_order_of_equals(part.size, min(depth - 1, part.size.bit_length()))]
    order.flags.writeable = False
    return order


def _partition(key: IntArray, order: IntArray) -> int:
    """Partition both views in place around the median of three; return where the second part begins.

    The k-th element from the left that is not below the pivot changes places with the k-th from the right that is not above it, until
    they cross.
    """
    median = _median_position(key)
    for view in (key, order):
        view[0], view[median] = view[median], view[0]
    rest, moved = key[1:], order[1:]
    left = (rest >= key[0]).nonzero()[0]
    right = (rest <= key[0]).nonzero()[0][::-1]
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
    second, middle, last = 1, key.size // 2, key.size - 1
    a, b, c = int(key[second]), int(key[middle]), int(key[last])
    if a < b:
        return middle if b < c else last if a < c else second
    return second if a < c else last if b < c else middle


def _heapsort(key: IntArray, order: IntArray) -> None:
    """Sort both views by key in place: build a heap with the largest first, then take the first again and again."""
    heap = list(zip(key.tolist(), order.tolist(), strict=True))
    for parent in range(len(heap) // 2 - 1, -1, -1):
        _sift(heap, parent, len(heap))
    for size in range(len(heap) - 1, 0, -1):
        heap[0], heap[size] = heap[size], heap[0]
        _sift(heap, 0, size)
    key[:], order[:] = ([pair[part] for pair in heap] for part in (0, 1))


def _sift(heap: list[tuple[int, int]], top: int, size: int) -> None:
    """Restore the heap below ``top``: larger children move up along one path to the bottom, then the element climbs back to its place."""
    element, hole = heap[top], top
    while (child := 2 * hole + 2) <= size:
        if child == size or heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole], hole = heap[child], child
    while hole > top and heap[parent := (hole - 1) // 2][0] < element[0]:
        heap[hole], hole = heap[parent], parent
    heap[hole] = element
