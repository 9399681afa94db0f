"""What holds of every step, plan and machine."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_models import SmallModel as Model
from uvm.build import BYTE_PER_NS, Recorder, machine
from uvm.random_steps import cases

from g10c.backends.uvm.fluid import chunk_pages
from g10c.backends.uvm.runner import simulate_uvm
from g10c.ir.errors import InfeasibleError
from g10c.ir.machine import Link

RUNTIMES = st.sampled_from([0, 3, 6])


@settings(max_examples=150, deadline=None)
@given(cases(RUNTIMES), st.integers(1, 2))
def test_memories_hold_kernels_wait_and_links_have_time_for_their_bytes(case, steps):
    step, moves, on = case
    seen = Recorder()
    try:
        found = simulate_uvm(step, moves, on, steps=steps, observer=seen)
    except InfeasibleError:
        assume(False)
    assert found.iteration_time_ns >= found.ideal_time_ns
    page, persistent = on.uvm.page, sum(on.pages(t.size_bytes) for t in step.tensors if t.persistent) * on.uvm.page
    total = sum(on.pages(t.size_bytes) for t in step.tensors) * page
    for _, gpu, host, ssd in seen.samples:
        assert 0 <= gpu <= on.gpu.usable
        assert 0 <= host <= on.host.memory
        assert ssd >= 0
        assert persistent <= gpu + host + ssd <= total or moves
    for kernel, own in zip(found.kernels, step.kernels, strict=True):
        assert kernel.end_ns - kernel.start_ns == own.time_ns + kernel.stall_ns
        assert kernel.stall_ns >= 0
    for name, use in found.links.items():
        bandwidth = on.ssd.bandwidth if "ssd" in name else on.pcie.bandwidth
        assert use.bytes * BYTE_PER_NS // bandwidth <= use.busy_ns + len(seen.copies) + 1


@settings(max_examples=100, deadline=None)
@given(cases(st.just(0)))
def test_the_fluid_moves_all_that_has_to_move(case):
    step, _, on = case
    try:
        found = simulate_uvm(step, [], on, steps=1)
    except InfeasibleError:
        assume(False)
    used = {t for kernel in step.kernels for t in (*kernel.reads, *kernel.writes)}
    page = on.uvm.page
    need = {True: 0, False: 0}
    for t in used:
        need[step.tensors[t].persistent] += on.pages(step.tensors[t].size_bytes) * page
    assert found.links["ssd_to_gpu"].bytes >= need[True]
    assert found.allocated_bytes == need[False]


CHAIN = st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 4000)), min_size=2, max_size=6)


def chain(parts, home="ssd"):
    """Kernel k reads weight k, fetched while kernel k - 1 runs: one flow at a time."""
    sizes = {f"w{k}": (size,) for k, (size, _) in enumerate(parts)}
    model = Model(sizes, [(time, f"w{k}", "") for k, (_, time) in enumerate(parts)])
    fetches = [f"{k} prefetch w{k + 1} {home}" for k in range(len(parts) - 1)]
    return model, model.moves(*fetches)


BANDWIDTH = st.integers(BYTE_PER_NS // 50, 3 * BYTE_PER_NS)


@settings(max_examples=150, deadline=None)
@given(CHAIN, BANDWIDTH, BANDWIDTH, BANDWIDTH, BANDWIDTH)
def test_more_bandwidth_never_makes_one_flow_at_a_time_slower(parts, pcie, more_pcie, ssd, more_ssd):
    model, plan = chain(parts)
    slow = replace(machine(gpu=30_000, batch=0), pcie=Link(pcie), ssd=Link(ssd))
    fast = replace(slow, pcie=Link(max(pcie, more_pcie)), ssd=Link(max(ssd, more_ssd)))
    assert (
        simulate_uvm(model.step, plan, fast, steps=1).iteration_time_ns <= simulate_uvm(model.step, plan, slow, steps=1).iteration_time_ns
    )


@settings(max_examples=150, deadline=None)
@given(CHAIN, st.integers(0, 8000), st.integers(0, 8000))
def test_more_memory_never_makes_one_flow_at_a_time_slower(parts, spare, more):
    model, plan = chain(parts)
    pair = max(a + b for (a, _), (b, _) in pairwise(parts))
    small, large = (machine(gpu=pair + extra, host=100_000, batch=0) for extra in (spare, spare + more))
    assert (
        simulate_uvm(model.step, plan, large, steps=1).iteration_time_ns <= simulate_uvm(model.step, plan, small, steps=1).iteration_time_ns
    )


@given(st.integers(10**8, 10**11), st.integers(10**7, 10**11))
def test_a_chunk_wastes_little_of_the_link(pcie, ssd):
    ssd = min(pcie, ssd)
    pages = chunk_pages(pcie, ssd)
    share = -(-pages * ssd // pcie)
    assert share * pcie <= 1.1 * pages * ssd or pages * ssd < 10 * pcie


@settings(max_examples=60, deadline=None)
@given(cases(st.integers(3, 8)))
def test_runs_are_reproducible(case):
    step, moves, on = case
    try:
        first = simulate_uvm(step, moves, on)
    except InfeasibleError:
        assume(False)
    assert simulate_uvm(step, moves, on) == first
