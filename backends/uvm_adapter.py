"""From the UVM runtime's own result and timeline to the simulator's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from g10c.ir.result import Copy, MemorySample, SimResult

if TYPE_CHECKING:
    from g10c.compiler.protocols import Policy
    from g10c.ir.machine import Machine
    from g10c.ir.source import Location
    from g10c.ir.step import Move, Step


@dataclass
class Timeline:
    """Keeps the copies and memory samples of the last step."""

    start_ns: int = 0
    copies: list[Copy] = field(default_factory=list)
    samples: list[MemorySample] = field(default_factory=list)

    def step(self, number: int, start_ns: int) -> None:
        """A step begins: forget the one before."""
        self.start_ns = start_ns
        self.copies.clear()
        self.samples.clear()

    def kernel(self, kernel: int, start_ns: int, end_ns: int, fault_ns: int) -> None:
        """Kernels are in the result already."""

    def copy(self, link: str, start_ns: int, end_ns: int, size_bytes: int) -> None:
        """A stretch of uniform traffic on one link; stretches that touch and have the same rate become one."""
        start, end = start_ns - self.start_ns, end_ns - self.start_ns
        last = next((copy for copy in reversed(self.copies[-8:]) if copy.link == link), None)
        if last is not None and last.end_ns == start and last.bytes * (end - start) == size_bytes * (last.end_ns - last.start_ns):
            self.copies[self.copies.index(last, -8 if len(self.copies) > 8 else 0)] = Copy(
                link, "pages", last.start_ns, end, last.bytes + size_bytes, "paging"
            )
            return
        self.copies.append(Copy(link, "pages", start, end, size_bytes, "paging"))

    def memory(self, time_ns: int, gpu: int, host: int, ssd: int) -> None:
        """Bytes in use on each tier, where they change."""
        sample = MemorySample(time_ns - self.start_ns, gpu, host, ssd)
        if not self.samples or (self.samples[-1].gpu, self.samples[-1].host, self.samples[-1].ssd) != (gpu, host, ssd):
            self.samples.append(sample)


def simulate_paged(
    step: Step,
    moves: Sequence[Move],
    machine: Machine,
    *,
    steps: int,
    timeline: bool,
    policy: Policy | None = None,
    locations: Sequence[Location | None] = (),
) -> SimResult:
    """Run the UVM runtime. Raises :class:`~g10c.ir.errors.InfeasibleError` when it cannot proceed, saying who waits for what."""
    from g10c.backends.uvm.runner import simulate_uvm

    observer = Timeline() if timeline else None
    found = simulate_uvm(step, moves, machine, steps=steps, observer=observer, policy=policy, locations=locations)
    return SimResult(
        program=step.name,
        machine=machine.name,
        runtime="uvm",
        iteration_time_ns=found.iteration_time_ns,
        ideal_time_ns=found.ideal_time_ns,
        step_times_ns=found.step_times_ns,
        links=found.links,
        peak_bytes=found.peak_bytes,
        faults=found.faults,
        fault_kernels=found.fault_kernels,
        kernels=found.kernels,
        copies=tuple(observer.copies) if observer else (),
        memory=tuple(observer.samples) if observer else (),
    )
