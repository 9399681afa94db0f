"""What a policy decides while the step runs: what to bring in, and what eviction under pressure passes over or drops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from g10c.backends.uvm.runs import NOTHING
from g10c.ir.machine import Machine
from g10c.ir.step import Step


class Residency(Protocol):
    """What a policy may see of the memory of one GPU while a step runs."""

    @property
    def free_bytes(self) -> int:
        """Free bytes of GPU memory."""
        ...

    def resident_bytes(self, tensor: int) -> int:
        """Bytes of a tensor in GPU memory."""
        ...


class EvictionPolicy(Protocol):
    """Hooks of the runtime. Tensors and kernels are numbered as the step numbers them.

    Victims are the pages that came first; the hooks only narrow that down. A fault of the current kernel may evict any page (the
    artifact's ``selectEvictPTE`` with ``is_pf``); what else comes in evicts only tensors that are not spared, and waits where there are
    none.
    """

    def begin(self, step: Step, machine: Machine) -> None:
        """Called once, before the first kernel of the first step."""
        ...

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """Tensors to bring in when ``kernel`` becomes current, in order."""
        ...

    def spared(self, kernel: int) -> frozenset[int]:
        """Tensors that pages not needed by the current kernel must not push out."""
        ...

    def discarded(self, kernel: int) -> frozenset[int]:
        """Tensors whose contents are dead: their pages are dropped, not moved, when they are pushed out."""
        ...


class FifoEviction:
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
