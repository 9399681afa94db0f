"""The policy of plain demand paging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from g10c.backends.uvm.runs import NOTHING
from g10c.compiler.protocols import Policy, Residency
from g10c.ir.machine import Machine
from g10c.ir.step import Step


@dataclass(frozen=True)
class FifoEviction(Policy):
    """Nothing is fetched ahead, everything may be evicted in order of arrival, and dead tensors are moved like any other."""

    def begin(self, step: Step, machine: Machine) -> None:
        """Keeps nothing."""

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """Nothing."""
        return ()

    def spared(self, kernel: int) -> frozenset[int]:
        """No tensor."""
        return NOTHING

    def discarded(self, kernel: int) -> frozenset[int]:
        """No tensor."""
        return NOTHING
