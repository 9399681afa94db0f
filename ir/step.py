"""The array view of one rank's step: what planners and simulators read.

A :class:`Step` numbers the tensors and the kernels of a program, in declaration and in issue order.
Directives are not part of it: they are :class:`Move` values beside it, so a planner returns a list of moves and a simulator takes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MoveKind = Literal["alloc", "free", "evict", "prefetch"]
Tier = Literal["host", "ssd"]


@dataclass(frozen=True, slots=True)
class StepTensor:
    """Storage of ``size_bytes`` exact bytes; ``persistent`` tensors live across steps."""

    name: str
    size_bytes: int
    persistent: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """One op of the compute stream. ``reads`` and ``writes`` number tensors, as the op lists them; in place is both.

    ``all_fault_time_ns`` is the profiled time when every page faults, ``output_fault_time_ns`` when only pages written fault;
    both are ``time_ns`` where no such profile exists.
    """

    name: str
    time_ns: int
    all_fault_time_ns: int
    output_fault_time_ns: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def operands(self) -> tuple[int, ...]:
        """Its tensors, each once: those only written, then those read. G10's artifact asks for them so (``getRequiredTensors``)."""
        read = dict.fromkeys(self.reads)
        return (*(tensor for tensor in dict.fromkeys(self.writes) if tensor not in read), *read)


@dataclass(frozen=True, slots=True)
class Move:
    """A memory directive on bytes ``[start, end)`` of a tensor.

    It is issued when kernel ``slot`` becomes current; ``slot == len(kernels)`` is the end of the step.
    Moves of one slot keep their list order.
    ``tier`` is where an ``evict`` goes, or where a ``prefetch`` is expected to come from;
    ``None`` for ``alloc`` and ``free``.
    """

    slot: int
    kind: MoveKind
    tensor: int
    tier: Tier | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Step:
    """Tensors and kernels of one training step on one rank."""

    name: str
    tensors: tuple[StepTensor, ...]
    kernels: tuple[Kernel, ...]

    @property
    def ideal_time_ns(self) -> int:
        """Time of the step when memory is unlimited: kernels one after another."""
        return sum(kernel.time_ns for kernel in self.kernels)
