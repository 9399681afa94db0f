"""Where the time of kernels goes, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from g10c.compiler.kernel_parts import KernelParts, busy_stretches, kernel_parts
from g10c.ir.result import Copy, KernelTime, SimResult
from g10c.models.g10.outcomes import artifact_parts


def copy(start: int, end: int, link: str = "gpu_to_host") -> Copy:
    return Copy(link, "x", start, end, 1, "directive")


def result(kernels: list[tuple[int, int, int]], copies: list[Copy], runtime: str = "uvm") -> SimResult:
    times = tuple(KernelTime(f"k{number}", *kernel) for number, kernel in enumerate(kernels))
    return SimResult("p", "m", runtime, kernels[-1][1], sum(kernel.own_ns for kernel in times), kernels=times, copies=tuple(copies))


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ([], []),
        ([copy(5, 9), copy(0, 3)], [(0, 3), (5, 9)]),
        ([copy(0, 4), copy(4, 6, "ssd_to_gpu")], [(0, 6)]),
        ([copy(0, 10), copy(2, 3), copy(9, 12)], [(0, 12)]),
    ],
)
def test_stretches_are_apart(copies, expected):
    assert busy_stretches(copies) == expected


@pytest.mark.parametrize(
    ("stall", "copies", "expected"),
    [
        (0, [], KernelParts(100, 0, 0, 0)),
        (0, [copy(20, 50)], KernelParts(70, 30, 0, 30)),
        (0, [copy(20, 50), copy(40, 60, "ssd_to_gpu")], KernelParts(60, 40, 0, 40)),
        (40, [copy(0, 40)], KernelParts(60, 0, 40, 40)),
        (40, [copy(-30, 70)], KernelParts(30, 30, 40, 70)),
        (40, [copy(10, 20)], KernelParts(60, 0, 40, 10)),  # it waits for something else than data
        (0, [copy(-10, 300)], KernelParts(0, 100, 0, 100)),
    ],
)
def test_one_kernel_of_100_ns(stall, copies, expected):
    (found,) = kernel_parts(result([(0, 100, stall)], copies))
    assert found == expected
    assert found.total_ns == 100


def test_a_transfer_across_kernels_counts_in_each():
    found = kernel_parts(result([(0, 100, 0), (100, 150, 20), (150, 200, 0)], [copy(80, 160), copy(190, 200)]))
    assert found == [KernelParts(80, 20, 0, 20), KernelParts(0, 30, 20, 50), KernelParts(30, 20, 0, 20)]


def test_the_artifact_counts_a_stall_without_traffic_twice():
    """Of a kernel that takes 100 ns, 40 of them waiting, data move for 10 only: 90 compute, 40 + 30 stall."""
    assert artifact_parts(result([(0, 100, 40)], [copy(10, 20)])) == {"compute": 90, "overlap": 0, "stall": 70}
    assert artifact_parts(result([(0, 100, 40)], [copy(0, 70)])) == {"compute": 30, "overlap": 30, "stall": 40}


def test_with_explicit_copies_the_artifact_sums_over_the_step():
    kernels, copies = [(0, 100, 40), (100, 200, 0)], [copy(50, 120)]
    assert artifact_parts(result(kernels, copies, "direct")) == {"compute": 130, "overlap": 30, "stall": 40}


def test_under_demand_paging_the_artifact_counts_waiting_pages_as_moving():
    found = replace(result([(0, 100, 0)], [copy(10, 20)]), queued=((10, 60),))
    assert artifact_parts(found) == {"compute": 50, "overlap": 50, "stall": 0}
    assert kernel_parts(found) == [KernelParts(90, 10, 0, 10)]
