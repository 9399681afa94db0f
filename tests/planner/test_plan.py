"""Whole plans: small steps by hand, edge cases, and random steps against an independent checker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planner.checker import check, least_memory

from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.step import Kernel, Move, Step, StepTensor
from g10c.passes.greedy import GreedyOptions, plan_greedy

MIB = 1 << 20
EXACT = GreedyOptions(
    planner_bandwidth_factor=1.0,
    clock_ghz=1.0,
    line_fraction=1.0,
    first_tensor_is_input=False,
    artifact_wrap_score=False,
    tie_order="stable",
    eager_needs_room=True,
)
"""No peculiarity of the artifact: the machine as it is described, time in ns."""


def machine(gpu_mib: int = 100, host_mib: int = 1000, ssd: int = 2, pcie: int = 8) -> Machine:
    """Bandwidths in MiB per us; no latencies."""
    return Machine(
        "small",
        gpu=Gpu(memory=gpu_mib * MIB),
        host=Host(host_mib * MIB),
        pcie=Link(pcie * MIB * 1_000_000),
        ssd=Link(ssd * MIB * 1_000_000),
        uvm=Uvm(fault_latency_ns=0),
    )


def step(tensors: list[tuple[int, bool]], kernels: list[tuple[list[int], list[int]]], time_us: int = 10) -> Step:
    return Step(
        "small",
        tuple(StepTensor(f"t{number}", mib * MIB, persistent) for number, (mib, persistent) in enumerate(tensors)),
        tuple(
            Kernel(f"k{number}", time_us * 1000, time_us * 1000, time_us * 1000, tuple(reads), tuple(writes))
            for number, (reads, writes) in enumerate(kernels)
        ),
    )


def forward_backward(mib: int = 40, idle: int = 10) -> Step:
    """Tensor 0 is made by the first kernel and used by the last; tensor 1 fills the GPU from the third kernel to the third last."""
    kernels: list[tuple[list[int], list[int]]] = [([], [0]), ([], []), ([], [1])]
    kernels += [([1], [1])] * idle
    kernels += [([1], []), ([], []), ([0], [])]
    return step([(mib, False), (80, False)], kernels)


def directives(moves: tuple[Move, ...]) -> list[tuple[int, str, int, str | None]]:
    return [(move.slot, move.kind, move.tensor, move.tier) for move in moves if move.kind in {"evict", "prefetch"}]


def test_a_long_period_goes_to_ssd_and_comes_back_in_time():
    plan = plan_greedy(forward_backward(), machine(), replace(EXACT, eager_prefetch=False))
    assert directives(plan.moves) == [(1, "evict", 0, "ssd"), (13, "prefetch", 0, "ssd")]
    assert plan.statistics.evicted_to_ssd_bytes == 40 * MIB
    assert plan.statistics.taken == 1


def test_eager_prefetch_comes_as_soon_as_memory_is_below_the_line():
    lean = step([(40, False), (80, False)], [([], [0]), ([], []), ([], [1]), ([1], []), *([([], [])] * 10), ([0], [])])
    late = plan_greedy(lean, machine(), replace(EXACT, eager_prefetch=False))
    eager = plan_greedy(lean, machine(), EXACT)
    assert directives(late.moves) == [(1, "evict", 0, "ssd"), (12, "prefetch", 0, "ssd")]
    assert directives(eager.moves) == [(1, "evict", 0, "ssd"), (4, "prefetch", 0, "ssd")]
    artifact = plan_greedy(lean, machine(), replace(EXACT, eager_needs_room=False))
    assert directives(artifact.moves) == [(1, "evict", 0, "ssd"), (3, "prefetch", 0, "ssd")], "kernel 3 is below the line without it"
    assert artifact.statistics.peak_after_bytes == 120 * MIB


def test_a_period_too_short_for_the_ssd_goes_to_host():
    plan = plan_greedy(forward_backward(idle=0), machine(), EXACT)
    assert directives(plan.moves) == [(1, "evict", 0, "host"), (4, "prefetch", 0, "host")]
    assert plan.statistics.host_peak_bytes == 40 * MIB


def test_a_full_host_takes_nothing():
    plan = plan_greedy(forward_backward(idle=0), machine(host_mib=39), EXACT)
    assert directives(plan.moves) == []
    assert plan.statistics.rejected == {"host_full": 1}
    assert not plan.fits


@pytest.mark.parametrize("targets", [("host",), ("host", "ssd")])
def test_no_ssd(targets: tuple[str, ...]):
    small = machine(ssd=0 if "ssd" in targets else 2)
    plan = plan_greedy(forward_backward(), small, replace(EXACT, targets=targets))
    assert directives(plan.moves) == [(1, "evict", 0, "host"), (14, "prefetch", 0, "host")]


def test_no_host():
    plan = plan_greedy(forward_backward(), machine(host_mib=0), EXACT)
    assert [move.tier for move in plan.moves if move.kind == "evict"] == ["ssd"]
    assert plan_greedy(forward_backward(), machine(), replace(EXACT, targets=("ssd",))).moves == plan.moves


def test_an_ssd_as_fast_as_the_link():
    plan = plan_greedy(forward_backward(idle=2), machine(ssd=8), EXACT)
    assert directives(plan.moves) == [(1, "evict", 0, "host"), (6, "prefetch", 0, "host")], "over within a kernel: no SSD slot is looked at"
    plan = plan_greedy(forward_backward(idle=2), machine(ssd=8, host_mib=0), EXACT)
    assert directives(plan.moves) == [(1, "evict", 0, "ssd"), (6, "prefetch", 0, "ssd")]


def test_no_way_out():
    plan = plan_greedy(forward_backward(), machine(host_mib=0, ssd=0), EXACT)
    assert directives(plan.moves) == []
    assert plan.statistics.kernels_above_line == 12
    assert plan.statistics.peak_after_bytes == 120 * MIB


def test_a_step_that_fits_is_allocated_and_freed_only():
    plan = plan_greedy(forward_backward(), machine(gpu_mib=200), EXACT)
    assert [(move.slot, move.kind, move.tensor) for move in plan.moves] == [
        (0, "alloc", 0),
        (2, "alloc", 1),
        (14, "free", 1),
        (16, "free", 0),
    ]
    assert plan.fits
    assert plan.statistics.considered == 0


def test_the_artifact_allocates_until_the_step_fits():
    assert plan_greedy(forward_backward(), machine(gpu_mib=200), replace(EXACT, preallocate="until-fits")).moves == ()
    assert plan_greedy(forward_backward(), machine(gpu_mib=200), replace(EXACT, preallocate="never")).moves == ()
    plan = plan_greedy(forward_backward(), machine(), replace(EXACT, preallocate="never"))
    assert {move.kind for move in plan.moves} == {"evict", "prefetch"}


def test_allocation_begins_before_the_birth_by_what_it_costs():
    slow = machine(gpu_mib=200)
    slow = replace(slow, gpu=replace(slow.gpu, malloc_time_per_byte=15_000 / (80 * MIB)))
    plan = plan_greedy(forward_backward(), slow, EXACT)
    assert [(move.slot, move.tensor) for move in plan.moves if move.kind == "alloc"] == [(0, 0), (0, 1)]
    assert [move.slot for move in plan.moves if move.kind == "free"] == [14, 16]


def test_the_first_tensor_may_be_the_input():
    plan = plan_greedy(forward_backward(), machine(gpu_mib=200), replace(EXACT, first_tensor_is_input=True))
    assert {move.tensor for move in plan.moves} == {1}
    assert plan.statistics.peak_before_bytes == (40 + 40 + 80) * MIB


def test_a_persistent_tensor_travels_across_the_end():
    weights = step([(40, True), (80, False)], [([], [1]), ([1], []), ([], []), ([], []), *([([0], [])] * 2), *([([], [])] * 20)])
    plan = plan_greedy(weights, machine(), EXACT)
    assert directives(plan.moves) == [(1, "prefetch", 0, "ssd"), (6, "evict", 0, "ssd")], "30 us before kernel 4, in the next step"
    assert len(check(weights, machine(), plan.moves)) == 1


def test_persistent_tensors_only():
    weights = step([(60, True), (60, True)], [([0], [0]), *([([], [])] * 10), ([1], [1]), *([([], [])] * 10)])
    plan = plan_greedy(weights, machine(), EXACT)
    assert {move.kind for move in plan.moves} == {"evict", "prefetch"}
    assert len(check(weights, machine(), plan.moves)) >= 1


@pytest.mark.parametrize("empty", [Step("empty", (), ()), step([(1, False)], []), step([], [([], [])]), step([(500, True)], [])])
def test_nothing_to_plan(empty: Step):
    plan = plan_greedy(empty, machine())
    assert plan.moves == ()
    assert plan.statistics.considered == 0


def test_tensors_without_bytes_do_not_move():
    plan = plan_greedy(step([(0, False), (0, True), (200, False)], [([1], [0]), ([], [2]), ([], []), ([0, 2], [])]), machine(), EXACT)
    assert {move.tensor for move in plan.moves} == {2}


def test_at_the_peak_the_rest_is_evicted_without_prefetch():
    plan = plan_greedy(forward_backward(idle=0), machine(host_mib=0), replace(EXACT, evict_at_peak=True))
    assert directives(plan.moves) == [(1, "evict", 0, "ssd")]
    assert len(check(forward_backward(idle=0), machine(), plan.moves, demand_fetch=True)) == 1


@st.composite
def steps(draw: st.DrawFn) -> Step:
    tensors = draw(st.lists(st.tuples(st.integers(0, 40) | st.just(0), st.booleans()), max_size=8))
    some = st.lists(st.integers(0, len(tensors) - 1), max_size=3, unique=True) if tensors else st.just([])
    kernels = draw(st.lists(st.tuples(st.integers(0, 40_000), some, some), max_size=16))
    return Step(
        "random",
        tuple(StepTensor(f"t{number}", max(0, mib * MIB - number), persistent) for number, (mib, persistent) in enumerate(tensors)),
        tuple(Kernel(f"k{number}", ns, ns, ns, tuple(reads), tuple(writes)) for number, (ns, reads, writes) in enumerate(kernels)),
    )


machines = st.builds(
    machine,
    gpu_mib=st.integers(1, 120),
    host_mib=st.sampled_from([0, 10, 60, 1000]),
    ssd=st.sampled_from([0, 1, 4, 8]),
    pcie=st.sampled_from([8, 16]),
)
options = st.builds(
    GreedyOptions,
    memory_line=st.sampled_from([0.8, 1.0, 1.3]),
    targets=st.sampled_from([("host", "ssd"), ("ssd",), ("host",), ()]),
    preallocate=st.sampled_from(["always", "until-fits", "never"]),
    eager_prefetch=st.booleans(),
    evict_at_peak=st.booleans(),
    clock_ghz=st.sampled_from([1.0, 1.2]),
    first_tensor_is_input=st.booleans(),
    eager_needs_room=st.booleans(),
    artifact_wrap_score=st.booleans(),
    tie_order=st.sampled_from(["artifact", "stable"]),
)


@settings(max_examples=400, deadline=None)
@given(steps(), machines, options)
def test_any_plan_can_be_carried_out(random: Step, on: Machine, chosen: GreedyOptions):
    plan = plan_greedy(random, on, chosen)
    check(random, on, plan.moves, demand_fetch=chosen.evict_at_peak)
    assert {move.tier for move in plan.moves} <= {None, *chosen.targets}
    assert all(counted >= least for counted, least in zip(plan.pressure.tolist(), least_memory(random, on, plan.moves), strict=True))
    assert plan.statistics.kernels_above_line == int((plan.pressure > plan.statistics.memory_line_bytes).sum())
    assert plan.statistics.considered == plan.statistics.taken + sum(plan.statistics.rejected.values())
    again = plan_greedy(random, on, chosen)
    assert (again.moves, again.statistics) == (plan.moves, plan.statistics)
