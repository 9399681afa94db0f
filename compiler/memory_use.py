"""What each kernel of a step keeps in memory, and what it is: weights, inputs, intermediates (figures 2, 20 and 21 of G10, MICRO'23)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from g10c.compiler.analyses import LIFETIMES, STEP
from g10c.compiler.analysis import AnalysisCache
from g10c.ir.program import Role

if TYPE_CHECKING:
    from g10c.ir.program import Program

PARTS = ("weights", "inputs", "intermediates")
"""What memory is divided into. Optimizer state counts as weights, all that a step makes as intermediates."""
_PART_OF = {Role.WEIGHT: 0, Role.OPTIMIZER: 0, Role.INPUT: 1}


@dataclass(frozen=True, slots=True)
class Use:
    """Exact bytes, by part."""

    weights: int
    inputs: int
    intermediates: int

    @property
    def total(self) -> int:
        """All parts."""
        return self.weights + self.inputs + self.intermediates


@dataclass(frozen=True)
class MemoryUse:
    """By kernel. *Live*: between birth and death, weights always; *active*: read or written by the kernel."""

    live: tuple[Use, ...]
    active: tuple[Use, ...]


def memory_use(program: Program) -> MemoryUse:
    """Live and active memory of every kernel, when everything stays in GPU memory from birth to death."""
    cache = AnalysisCache()
    step, lifetimes = cache.get(STEP, program), cache.get(LIFETIMES, program)
    kinds = [_PART_OF.get(tensor.role, 2) for tensor in program.tensors.values()]
    changes = [[0] * (len(step.kernels) + 1) for _ in PARTS]
    for number, tensor in enumerate(step.tensors):
        birth, death = int(lifetimes.birth[number]), int(lifetimes.death[number])
        if birth < death:
            changes[kinds[number]][birth] += tensor.size_bytes
            changes[kinds[number]][death] -= tensor.size_bytes
    live = zip(*(list(accumulate(change))[: len(step.kernels)] for change in changes), strict=True)
    active = []
    for kernel in step.kernels:
        sizes = [0, 0, 0]
        for number in kernel.operands:
            sizes[kinds[number]] += step.tensors[number].size_bytes
        active.append(Use(*sizes))
    return MemoryUse(tuple(Use(*sizes) for sizes in live), tuple(active))
