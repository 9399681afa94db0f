"""What holds of every valid plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from direct.build import BYTE_PER_NS, Model, machine
from direct.plans import kernel_ends, plans, read, sized
from hypothesis import given, settings
from hypothesis import strategies as st

from g10c.backends.direct import simulate_direct
from g10c.ir.errors import InfeasibleError
from g10c.ir.machine import Gpu, Host, Link

BANDWIDTHS = st.sampled_from([BYTE_PER_NS // 7, BYTE_PER_NS // 2, BYTE_PER_NS, 3 * BYTE_PER_NS])
LATENCIES = st.integers(0, 20)
SPARE = st.integers(0, 40)
MACHINES = st.builds(
    lambda pcie, ssd, one, two: machine(pcie=pcie, ssd=ssd, pcie_latency=one, ssd_latency=two), BANDWIDTHS, BANDWIDTHS, LATENCIES, LATENCIES
)
ONE_TIER = st.one_of(plans(tiers=("host",), shortest=1), plans(tiers=("ssd",), shortest=1))


@settings(max_examples=100, deadline=None)
@given(plans(), MACHINES, SPARE, SPARE, st.integers(1, 3))
def test_a_plan_that_fits_in_order_of_issue_runs_and_every_link_has_time_for_its_bytes(plan, on, gpu_spare, host_spare, steps):
    step, moves = plan
    reading = read(step, moves, steps)
    on = sized(on, reading, gpu_spare, host_spare)
    result = simulate_direct(step, moves, on, steps=steps, timeline=True)
    assert not [note for note in result.notes if "overtake" in note]
    assert result.iteration_time_ns >= result.ideal_time_ns
    assert result.peak_bytes["gpu"] <= on.gpu.memory
    assert result.peak_bytes["host"] <= on.host.memory
    assert all(getattr(at, tier) <= peak for tier, peak in result.peak_bytes.items() for at in result.memory)
    for name, use in result.links.items():
        bandwidth = min(on.pcie.bandwidth, on.ssd.bandwidth) if "ssd" in name else on.pcie.bandwidth
        assert use.bytes * 10**9 <= (use.busy_ns + 1) * bandwidth
        assert use.busy_ns <= result.iteration_time_ns
        assert use.bytes == sum(copy.bytes for copy in result.copies if copy.link == name)
    for way in ("gpu_to_{}", "{}_to_gpu"):
        both = sum(result.links[way.format(tier)].bytes for tier in ("host", "ssd"))
        assert both * 10**9 <= (result.iteration_time_ns + 2) * on.pcie.bandwidth
    assert result == simulate_direct(step, moves, on, steps=steps, timeline=True), "twice the same"


@settings(max_examples=100, deadline=None)
@given(ONE_TIER, MACHINES, SPARE, SPARE)
def test_times_are_those_of_the_rules_where_no_two_copies_share_a_link(plan, on, gpu_spare, host_spare):
    step, moves = plan
    reading = read(step, moves, 2)
    on = sized(on, reading, gpu_spare, host_spare)
    ends, count = kernel_ends(step, reading, on, 2), len(step.kernels)
    result = simulate_direct(step, moves, on)
    assert [kernel.end_ns for kernel in result.kernels] == [end - ends[count - 1] for end in ends[count:]]


@settings(max_examples=100, deadline=None)
@given(ONE_TIER, MACHINES, MACHINES, SPARE, SPARE)
def test_no_plan_gets_slower_with_a_better_machine_where_no_two_copies_share_a_link(plan, one, two, gpu_spare, host_spare):
    step, moves = plan
    reading = read(step, moves, 1)

    def best(left, right):
        return Link(max(left.bandwidth, right.bandwidth), min(left.latency_ns, right.latency_ns))

    base = sized(one, reading)
    better = replace(sized(one, reading, gpu_spare, host_spare), pcie=best(one.pcie, two.pcie), ssd=best(one.ssd, two.ssd))
    times = [simulate_direct(step, moves, on, steps=1).iteration_time_ns for on in (base, better)]
    assert times[1] <= times[0]


def test_a_faster_ssd_may_delay_a_copy_from_the_host_that_a_kernel_waits_for():
    """The anomaly that sharing has: the restriction of the test above is needed."""
    model = Model({"x": 40, "y": 40}, [(10, "", "x y"), (1000, "", ""), (10, "x", ""), (500, "", ""), (10, "y", "")])
    plan = "1 evict x host\n1 evict y ssd\n2 prefetch x host\n2 prefetch y ssd"
    slow, fast = (model.run(plan, machine(ssd=ssd)).iteration_time_ns for ssd in (BYTE_PER_NS // 4, BYTE_PER_NS // 2))
    assert (slow, fast) == (1530 + 54, 1530 + 80)


@settings(max_examples=100, deadline=None)
@given(plans(), MACHINES, st.integers(0, 60), st.integers(0, 40), st.booleans())
def test_with_any_memory_a_plan_runs_within_it_or_is_refused_with_a_reason(plan, on, gpu, host, on_demand):
    step, moves = plan
    on = replace(on, gpu=Gpu(memory=gpu), host=Host(host))
    try:
        result = simulate_direct(step, moves, on, on_demand=on_demand)
    except InfeasibleError as error:
        reasons = [one.message for one in error.diagnostics]
    else:
        reasons = []
    if reasons:
        assert any(word in reasons[0] for word in ("nothing can proceed", "alone needs", "do not fit"))
        return
    assert result.peak_bytes["gpu"] <= gpu
    assert result.peak_bytes["host"] <= host
    assert result.iteration_time_ns >= result.ideal_time_ns


@pytest.mark.parametrize("kernels", [1369])
def test_a_large_plan_runs_in_its_memory(kernels):
    """The size of BERT-base: activations of the first half swapped out, and back in the second."""
    half = kernels // 2
    sizes = {f"a{n}": 40 for n in range(half)} | {"w": (100,)}
    work = [(50, "w", f"a{n}") for n in range(half)] + [(50, f"w a{n}", "") for n in reversed(range(half))] + [(50, "w", "")]
    out = [f"{n + 1} evict a{n} host" for n in range(half - 20)]
    back = [f"{2 * half - 1 - n - 5} prefetch a{n} host" for n in reversed(range(half - 20))]
    result = Model(sizes, work).run("\n".join(out + back), machine(gpu=1100, host=40 * half), steps=2)
    assert result.iteration_time_ns == result.ideal_time_ns == 50 * kernels
    assert result.links["gpu_to_host"].bytes == result.links["host_to_gpu"].bytes == 40 * (half - 20)
