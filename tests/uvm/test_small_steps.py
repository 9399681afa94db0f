"""Steps small enough to work out by hand. A page is a byte; in batches of two a period is 2 ns, of which the SSD may have one page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_models import SmallModel as Model
from uvm.build import BYTE_PER_NS, Recorder, machine

from g10c.backends.ideal import simulate_ideal
from g10c.backends.uvm.runner import operands, simulate_uvm
from g10c.ir.step import Kernel


def ends(found):
    return [kernel.end_ns for kernel in found.kernels]


def moved(found):
    return {name: use.bytes for name, use in found.links.items() if use.bytes}


def test_ideal_is_the_sum_of_the_kernels():
    model = Model({"x": 50}, [(7, "", "x"), (5, "x", "")])
    found = simulate_ideal(model.step, machine(gpu=10))
    assert (found.iteration_time_ns, found.stall_time_ns, ends(found)) == (12, 0, [7, 12])


def test_allocations_come_with_the_first_batch_but_cost_what_their_bytes_take_on_the_link():
    model = Model({"x": 4}, [(7, "", "x"), (5, "x", "")])
    found = simulate_uvm(model.step, [], machine(), steps=1)
    assert ends(found) == [11, 16]
    assert [kernel.stall_ns for kernel in found.kernels] == [4, 0]
    assert (found.faults, found.fault_kernels, found.allocated_bytes) == (4, 1, 4)
    assert moved(found) == {}


def test_what_is_resident_stays_for_the_next_step():
    model = Model({"x": 4}, [(7, "", "x"), (5, "x", "")])
    found = simulate_uvm(model.step, [], machine())
    assert (found.faults, found.allocated_bytes, found.step_times_ns) == (0, 0, (16, 12))


def test_weights_fault_in_from_the_ssd_one_page_a_batch():
    model = Model({"w": (4,)}, [(3, "w", "")])
    found = simulate_uvm(model.step, [], machine(), steps=1)
    # Four batches at 0, 2, 4 and 6 ns; the cost of the faults, 4 bytes at 0.5 bytes/ns, delays the end to 3 + 8.
    assert ends(found) == [11]
    assert moved(found) == {"ssd_to_gpu": 4, "pcie_in": 4}
    assert found.links["ssd_to_gpu"].busy_ns == 8


def test_a_prefetch_in_time_costs_nothing():
    model = Model({"w": (4,), "x": 1}, [(20, "", "x"), (3, "w x", "")])
    found = simulate_uvm(model.step, model.moves("0 prefetch w ssd"), machine(), steps=1)
    assert ends(found) == [21, 24]
    assert found.faults == 1


def test_pages_on_their_way_are_waited_for_but_cost_nothing_more():
    model = Model({"w": (4,), "x": 1}, [(3, "", "x"), (1, "w x", "")])
    found = simulate_uvm(model.step, model.moves("0 prefetch w ssd"), machine(), steps=1)
    # Batches at 0 and 2 bring two of the four pages before 4 ns; those at 4 and 6 the rest.
    assert ends(found) == [4, 6]
    assert (found.faults, found.fault_kernels) == (1, 2)


def test_planned_evictions_and_prefetches_move_and_free_frees():
    model = Model({"x": 4, "y": 6}, [(10, "", "x"), (10, "", "y"), (10, "x", "")])
    plan = model.moves("1 evict x host", "2 free y", "2 prefetch x host")
    found = simulate_uvm(model.step, plan, machine(), steps=1)
    assert moved(found) == {"gpu_to_host": 4, "host_to_gpu": 4, "pcie_in": 4, "pcie_out": 4}
    # The first batch of k1 evicts two pages of x and maps all six of y.
    assert found.peak_bytes == {"gpu": 8, "host": 4, "ssd": 0}
    assert ends(found) == [14, 30, 40]


def test_moves_of_the_end_of_the_step_come_first_in_the_next():
    model = Model({"x": 4}, [(10, "", "x")])
    plan = model.moves("0 alloc x", "1 free x")
    found = simulate_uvm(model.step, plan, machine())
    assert (found.faults, found.allocated_bytes) == (0, 4)


def test_a_byte_range_moves_the_pages_that_start_in_it():
    model = Model({"x": 40}, [(10, "", "x"), (100, "", "")])
    found = simulate_uvm(model.step, model.moves("1 evict x host 6..21"), machine(gpu=100, page=5), steps=1)
    assert moved(found)["gpu_to_host"] == 15  # pages at 10, 15 and 20


def test_full_memory_pushes_out_what_came_first_to_the_host_and_then_to_the_ssd():
    model = Model({"a": 4, "b": 4, "c": 8}, [(10, "", "a"), (10, "", "b"), (10, "", "c")])
    found = simulate_uvm(model.step, [], machine(gpu=10, host=4), steps=1)
    # c needs 8 pages and 2 are free: all four pages of a go to the host, and two of b to the SSD.
    assert moved(found) == {"gpu_to_host": 4, "gpu_to_ssd": 2, "pcie_out": 6}
    assert found.peak_bytes == {"gpu": 10, "host": 4, "ssd": 2}


def test_what_the_kernel_needs_comes_back_when_it_is_pushed_out():
    model = Model({"a": 6, "b": 4, "c": 4}, [(10, "", "a"), (10, "", "b"), (10, "a", "c")])
    found = simulate_uvm(model.step, [], machine(gpu=10), steps=1)
    # c pushes out four pages of a, which push out the other two of a and two of b, and these two push out the rest of b.
    assert moved(found) == {"gpu_to_host": 10, "host_to_gpu": 6, "pcie_in": 6, "pcie_out": 10}
    assert found.faults == 14
    assert found.peak_bytes["host"] == 4


def test_a_swap_with_a_full_host_sends_one_page_to_the_ssd():
    model = Model({"a": 4, "b": 4}, [(10, "", "a"), (10, "", "b"), (10, "a", "")])
    found = simulate_uvm(model.step, [], machine(gpu=4, host=4, batch=4), steps=1)
    # b fills the host with a; the first page of a that comes back sends one of b to the SSD, and leaves a place for the next.
    assert moved(found) == {"gpu_to_host": 7, "host_to_gpu": 4, "gpu_to_ssd": 1, "pcie_in": 4, "pcie_out": 8}


def test_without_an_ssd_weights_start_on_the_host_and_swap_with_it_when_it_is_full():
    model = Model({"v": (6,), "w": (6,)}, [(10, "v", ""), (10, "w", "")])
    found = simulate_uvm(model.step, [], machine(gpu=6, host=12, ssd=0), steps=2)
    assert moved(found) == {"gpu_to_host": 12, "host_to_gpu": 12, "pcie_in": 12, "pcie_out": 12}


def test_without_ssd_and_host_weights_start_in_gpu_memory():
    model = Model({"v": (3,), "w": (4,)}, [(10, "v", ""), (10, "w", "")])
    found = simulate_uvm(model.step, [], machine(gpu=10, host=0, ssd=0))
    assert (found.faults, found.iteration_time_ns, found.peak_bytes["gpu"]) == (0, 20, 7)


def test_allocations_are_limited_by_their_cost():
    model = Model({"x": 8}, [(1, "", "x")])
    found = simulate_uvm(model.step, [], machine(malloc=0.5), steps=1)
    # Four pages a period: at 0 and 2 ns; the faults' own cost is 8 bytes at 1 byte/ns.
    assert ends(found) == [9]
    slow = simulate_uvm(model.step, [], machine(malloc=2.0), steps=1)
    assert ends(slow) == [14]  # one page a period, the last at 14 ns


def test_reserved_memory_is_not_available():
    model = Model({"a": 6, "b": 4}, [(10, "", "a"), (10, "", "b")])
    found = simulate_uvm(model.step, [], machine(gpu=12, reserved=4), steps=1)
    assert moved(found)["gpu_to_host"] == 2


def test_operands_fault_last_first():
    kernel = Kernel("k", 1, 1, 1, (3, 1, 2, 1), (5, 1, 4))
    assert operands(kernel) == ((1, 2, 3), (4, 5))


@pytest.mark.parametrize("batch", [2, 0])
def test_an_observer_sees_every_byte_and_every_kernel(batch):
    model = Model({"w": (40,), "x": 30, "y": 30}, [(10, "w", "x"), (10, "x", "y"), (10, "w", "x")])
    seen = Recorder()
    on = machine(gpu=80, batch=batch)
    found = simulate_uvm(model.step, [], on, steps=1, observer=seen)
    assert seen.steps == [(0, 0)]
    assert [(start, end) for _, start, end, _ in seen.kernels] == [(k.start_ns, k.end_ns) for k in found.kernels]
    for name in ("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu"):
        assert sum(size for link, _, _, size in seen.copies if link == name) == found.links[name].bytes
    assert all(gpu <= 80 for _, gpu, _, _ in seen.samples)
    assert found == simulate_uvm(model.step, [], on, steps=1)


def test_a_fluid_takes_bytes_over_bandwidth():
    model = Model({"w": (1000,), "x": 1}, [(10, "", "x"), (7, "x w", "")])
    on = machine(gpu=2000, batch=0)
    found = simulate_uvm(model.step, model.moves("0 prefetch w ssd"), on, steps=1)
    assert found.kernels[0].end_ns == 11  # x is mapped at once; its fault costs a nanosecond
    assert found.kernels[1].end_ns == 2000  # 1000 bytes at half a byte per ns, from 0 on
    faster = simulate_uvm(model.step, model.moves("0 prefetch w ssd"), replace(on, ssd=replace(on.ssd, bandwidth=BYTE_PER_NS)), steps=1)
    assert faster.kernels[1].end_ns == 1000


@pytest.mark.parametrize("page", [4, 64, 1024])
def test_what_is_issued_travels_no_earlier_although_a_page_of_another_flow_is_on_its_way(page):
    """One page of w is leaving when v is fetched: v takes all of its bytes over the link from then on, whatever the size of a page."""
    model = Model({"v": (2048,), "w": (2048,), "a": 4}, [(10, "v", "a"), (5000, "a", ""), (300, "a", ""), (10, "v a", ""), (10, "w a", "")])
    plan = model.moves("1 evict v host", "2 evict w host", "3 prefetch v host")
    found = simulate_uvm(model.step, plan, machine(gpu=8192, host=8192, page=page, batch=0, ssd=0), steps=2)
    assert found.kernels[3].end_ns - found.kernels[3].start_ns >= 2048
