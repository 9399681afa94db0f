"""What a simulation found: times in nanoseconds, sizes in bytes, all of the reported step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

LINKS = ("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu")
"""Directions of traffic, as they are keyed in :attr:`SimResult.links`."""


@dataclass(frozen=True, slots=True)
class LinkUse:
    """Bytes moved in one direction, and the time in which at least one byte was on its way.

    With pages in batches, a batch that begins in the step counts whole, also where it ends after it.
    """

    bytes: int = 0
    busy_ns: int = 0


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel of the reported step, in time from the start of that step.

    It became current, and may have begun to wait, at ``start_ns``; of the time until ``end_ns`` it waited ``stall_ns``, and the rest
    is its own.
    """

    name: str
    start_ns: int
    end_ns: int
    stall_ns: int

    @property
    def own_ns(self) -> int:
        """Time of the kernel itself."""
        return self.end_ns - self.start_ns - self.stall_ns


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes of a tensor on a link during a time, for a timeline. Under ``paging`` they are of any tensors, for any reason."""

    link: str
    tensor: str
    start_ns: int
    end_ns: int
    bytes: int
    cause: Literal["directive", "fault", "eviction", "policy", "paging"]


@dataclass(frozen=True, slots=True)
class MemorySample:
    """Bytes in use on each tier at a time."""

    time_ns: int
    gpu: int
    host: int
    ssd: int


@dataclass(frozen=True)
class SimResult:
    """The step's time and where it went."""

    program: str
    machine: str
    runtime: str
    iteration_time_ns: int
    ideal_time_ns: int
    bound_time_ns: int | None = None
    step_times_ns: tuple[int, ...] = ()
    """Time of every step that was simulated; the last is the one reported."""
    links: dict[str, LinkUse] = field(default_factory=dict)
    peak_bytes: dict[str, int] = field(default_factory=dict)
    """By tier: ``gpu``, ``host``, ``ssd``."""
    faults: int = 0
    """Pages that faulted."""
    fault_kernels: int = 0
    """Kernels that waited for a fault."""
    allocated_bytes: int = 0
    """Bytes of GPU memory that were given to data that is new, not moved."""
    kernels: tuple[KernelTime, ...] = ()
    copies: tuple[Copy, ...] = ()
    """Filled when a timeline was asked for."""
    memory: tuple[MemorySample, ...] = ()
    """Filled when a timeline was asked for."""
    queued: tuple[tuple[int, int], ...] = ()
    """Times, in order and apart, in which pages moved, were allocated or waited for that. Under demand paging; filled with a timeline."""
    notes: tuple[str, ...] = ()
    """What a reader has to know about these numbers."""

    @property
    def steps(self) -> int:
        """How many steps were simulated."""
        return len(self.step_times_ns)

    @property
    def stall_time_ns(self) -> int:
        """Time of the step beyond the kernels' own."""
        return self.iteration_time_ns - self.ideal_time_ns
