"""The machine in the planner's unit of time: ticks of ``GreedyOptions.clock_ghz``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from g10c.ir.machine import Machine
from g10c.ir.step import Step
from g10c.passes.greedy.options import GreedyOptions

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Costs:
    """What moving and allocating cost. A rate is 0 where there is no such path, or where it is not to be used."""

    ssd_rate: float
    """Bytes per tick."""
    pcie_rate: float
    """Bytes per tick."""
    ssd_latency: float
    """Ticks, beyond the fault latency."""
    fault_latency: float
    """Ticks."""
    allocation: float
    """Ticks per byte."""


def planner_costs(machine: Machine, options: GreedyOptions) -> Costs:
    """Convert the machine's values (bytes per second, ns) to ticks."""
    clock = options.clock_ghz
    rate_scale = options.planner_bandwidth_factor / (clock * 1e9)
    return Costs(
        ssd_rate=machine.ssd.bandwidth * rate_scale if "ssd" in options.targets else 0.0,
        pcie_rate=machine.pcie.bandwidth * rate_scale,
        ssd_latency=machine.ssd.latency_ns * clock,
        fault_latency=machine.uvm.fault_latency_ns * clock,
        allocation=machine.gpu.malloc_time_per_byte * clock,
    )


def start_ticks(step: Step, options: GreedyOptions) -> IntArray:
    """Return the ideal start of each kernel and, last, the end of the step.

    The artifact reads ms, multiplies by Hz, divides by 1000 and truncates (``main.cc``, ``loadKernelTimes``); in another order some kernels
    would have a cycle more or less.
    """
    time_ms = np.array([kernel.time_ns for kernel in step.kernels], dtype=np.int64) / 1e6
    starts = np.zeros(len(step.kernels) + 1, dtype=np.int64)
    starts[1:] = np.cumsum((time_ms * (options.clock_ghz * 1e9) / 1000.0).astype(np.int64))
    return starts
