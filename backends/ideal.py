"""The step with unlimited GPU memory: kernels one after another, nothing moves."""

from __future__ import annotations

from g10c.compiler.summary import live_bytes
from g10c.compiler.vitality import liveness
from g10c.ir.machine import Machine
from g10c.ir.result import LINKS, KernelTime, LinkUse, SimResult
from g10c.ir.step import Step


def simulate_ideal(step: Step, machine: Machine, runtime: str = "uvm") -> SimResult:
    """Timing of a step in which every tensor is always in GPU memory; peak memory is that of the live tensors."""
    kernels, now = [], 0
    for kernel in step.kernels:
        kernels.append(KernelTime(kernel.name, now, now + kernel.time_ns, 0))
        now += kernel.time_ns
    return SimResult(
        program=step.name,
        machine=machine.name,
        runtime=runtime,
        iteration_time_ns=now,
        ideal_time_ns=now,
        step_times_ns=(now,),
        links={link: LinkUse() for link in LINKS},
        peak_bytes={"gpu": max(live_bytes(step, liveness(step)), default=0), "host": 0, "ssd": 0},
        kernels=tuple(kernels),
        notes=("ideal: GPU memory is unlimited",),
    )
