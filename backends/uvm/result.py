"""What the UVM runtime found about the reported step."""

from __future__ import annotations

from dataclasses import dataclass, field

from g10c.ir.result import KernelTime, LinkUse


@dataclass(frozen=True, slots=True)
class UvmResult:
    """Times in nanoseconds, sizes in bytes, all of the last step."""

    iteration_time_ns: int
    ideal_time_ns: int
    links: dict[str, LinkUse] = field(default_factory=dict)
    """By direction, as in :data:`g10c.ir.result.LINKS`, and ``pcie_in`` and ``pcie_out`` for the link that they share."""
    peak_bytes: dict[str, int] = field(default_factory=dict)
    """By tier: ``gpu``, ``host``, ``ssd``."""
    faults: int = 0
    """Pages that faulted."""
    fault_kernels: int = 0
    """Kernels that waited for a fault."""
    allocated_bytes: int = 0
    """Bytes mapped in GPU memory that came from nowhere."""
    kernels: tuple[KernelTime, ...] = ()
    step_times_ns: tuple[int, ...] = ()
    """Time of every step that was run. (The artifact's own scripts publish the shorter of two: ``gatherKernelInfo.py``.)"""

    @property
    def stall_time_ns(self) -> int:
        """Time of the step beyond the kernels' own."""
        return self.iteration_time_ns - self.ideal_time_ns
