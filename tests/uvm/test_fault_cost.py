"""The far-fault model, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from g10c.backends.uvm.faults import FaultModel, Faults
from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.step import Kernel

MS = 1_000_000
MACHINE = Machine(
    "m",
    gpu=Gpu(),
    host=Host(),
    pcie=Link(10**10),  # 10^7 bytes per ms
    ssd=Link(2 * 10**9, latency_ns=45_000),  # 2 x 10^6 bytes per ms, and as slow again as the system
    uvm=Uvm(fault_latency_ns=45_000, fault_model="profiled", page=1000),
)
KERNEL = Kernel("k", 1 * MS, 5 * MS, 2 * MS, (), ())


def cost(read, written, machine=MACHINE, kernel=KERNEL):
    return FaultModel(machine).cost_ns(kernel, read, written)


def test_no_faults_cost_nothing():
    assert cost(Faults(total=5), Faults(total=7)) == 0
    assert cost(Faults(), Faults()) == 0


def test_faults_on_what_is_read_take_their_share_of_the_profile():
    # All 3000 pages: 3 ms more than with faults on outputs only, at 10^6 bytes per ms; half of them half of that.
    assert cost(Faults(total=3000, host=3000), Faults(total=1000)) == 3 * MS
    assert cost(Faults(total=3000, host=1000, absent=500), Faults(total=1000)) == 3 * MS // 2


def test_faults_on_what_is_written_take_the_difference_to_the_plain_time():
    assert cost(Faults(total=3000), Faults(total=1000, absent=1000)) == 1 * MS


def test_the_link_caps_what_the_profile_says():
    assert cost(Faults(total=60_000, host=60_000), Faults()) == 6 * MS  # 20 x 10^6 bytes per ms profiled, 10^7 possible


def test_faults_on_ssd_are_slower_by_both_latencies():
    assert cost(Faults(total=3000, ssd=3000), Faults()) == 6 * MS


def test_the_ssd_caps_too_and_leaves_the_rest_of_the_link_to_the_host():
    # Profiled 10^7 bytes per ms: the SSD gives 2 x 10^6, the host what is left of the link, 8 x 10^6; the longer counts.
    assert cost(Faults(total=30_000, ssd=15_000, host=15_000), Faults()) == 15 * MS // 2
    assert cost(Faults(total=30_000, ssd=3_000, host=27_000), Faults()) == 27 * MS // 8


def test_the_artifact_sees_whole_seconds_only():
    artifact = replace(MACHINE, uvm=replace(MACHINE.uvm, fault_model="artifact"))
    assert cost(Faults(total=3000, host=3000), Faults(), artifact) == 3 * MS // 10  # bytes over bandwidth
    long = replace(KERNEL, all_fault_time_ns=3_500_000_000, output_fault_time_ns=1_999_999_999)
    # 3 s, 1 s and 0 s: what is read at 1500 bytes per ms.
    assert cost(Faults(total=3000, host=3000), Faults(total=1000), artifact, long) == 2000 * MS


def test_where_the_ssd_fills_the_link_the_artifact_forgets_other_faults_of_both_kinds():
    wide = replace(MACHINE, ssd=Link(10**10), uvm=replace(MACHINE.uvm, fault_model="artifact"))
    mixed = Faults(total=2000, ssd=1000, host=1000)
    assert cost(mixed, Faults(total=1000, host=1000), wide) == 0
    assert cost(mixed, Faults(total=1000), wide) == MS // 10


@pytest.mark.parametrize("output_ms", [1, 2, 5, 9])
def test_profiles_out_of_order_are_put_in_order(output_ms):
    kernel = replace(KERNEL, time_ns=4 * MS, output_fault_time_ns=output_ms * MS)
    assert cost(Faults(total=10, host=5), Faults(total=10, host=5), kernel=kernel) >= 0
