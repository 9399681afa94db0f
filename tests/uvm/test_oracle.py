"""The runtime over runs of pages against one that moves page after page."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from uvm.page_by_page import PageByPage
from uvm.random_steps import cases, whims

from g10c.backends.uvm.runner import simulate_uvm
from g10c.ir.errors import InfeasibleError

BATCHES = st.integers(3, 8)
NAMES = {"gpu_to_host": "gpuhost", "host_to_gpu": "hostgpu", "gpu_to_ssd": "gpussd", "ssd_to_gpu": "ssdgpu"}


def check(case, steps, policy=None):
    step, moves, on = case
    try:
        found = simulate_uvm(step, moves, on, steps=steps, policy=policy)
    except InfeasibleError:
        assume(False)
    oracle = PageByPage(step, moves, on, policy)
    ends = oracle.run(steps)
    start = ends[-1] - found.iteration_time_ns
    assert [kernel.end_ns + start for kernel in found.kernels] == ends
    page = on.uvm.page
    assert {name: found.links[name].bytes for name in NAMES} == {name: oracle.moved[key] * page for name, key in NAMES.items()}
    assert found.allocated_bytes == oracle.moved["nowheregpu"] * page
    assert found.faults == oracle.faults


@settings(max_examples=300, deadline=None)
@given(cases(BATCHES), st.integers(1, 3))
def test_times_and_traffic_are_those_of_a_simulation_page_by_page(case, steps):
    check(case, steps)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(st.integers(3, 12), largest=3000), st.integers(1, 3))
def test_long_repetitions_are_exact(case, steps):
    check(case, steps)


@settings(max_examples=200, deadline=None)
@given(st.data(), cases(BATCHES))
def test_under_a_policy_too(data, case):
    step, _, on = case
    check((step, [], on), 2, data.draw(whims(step)))
