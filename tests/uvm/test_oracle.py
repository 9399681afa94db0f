"""The runtime over runs of pages against one that moves page after page."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from uvm.page_by_page import PageByPage
from uvm.random_steps import cases

from g10c.backends.uvm.errors import StuckError
from g10c.backends.uvm.runner import simulate_uvm


@settings(max_examples=400, deadline=None)
@given(cases(st.integers(3, 8)), st.integers(1, 3))
def test_times_and_traffic_are_those_of_a_simulation_page_by_page(case, steps):
    step, moves, on = case
    try:
        found = simulate_uvm(step, moves, on, steps=steps)
    except StuckError:
        assume(False)
    oracle = PageByPage(step, moves, on)
    ends = oracle.run(steps)
    start = ends[-1] - found.iteration_time_ns
    assert [kernel.end_ns + start for kernel in found.kernels] == ends
    page = on.uvm.page
    names = {"gpu_to_host": "gpuhost", "host_to_gpu": "hostgpu", "gpu_to_ssd": "gpussd", "ssd_to_gpu": "ssdgpu"}
    assert {name: found.links[name].bytes for name in names} == {name: oracle.moved[key] * page for name, key in names.items()}
    assert found.allocated_bytes == oracle.moved["nowheregpu"] * page
    assert found.faults == oracle.faults
