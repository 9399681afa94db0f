"""DeepUM's window of kernels to come, as G10's artifact models it (policy ``DEEPUM``; DeepUM is ASPLOS'23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from g10c.compiler.operand_order import OperandOrder, operands_of
from g10c.compiler.options import OptionError
from g10c.compiler.pass_base import option
from g10c.compiler.protocols import Policy, Residency
from g10c.compiler.vitality import Lifetimes, liveness
from g10c.ir.machine import Machine
from g10c.ir.step import Step

MAX_DEGREE = 1 << 20
"""Kernels of a window."""


@dataclass
class DeepUm(Policy):
    """At kernel i what kernel i + degree needs is fetched; what kernels i to i + degree - 1 need is spared; dead tensors are dropped.

    The window goes on in the next step (``scheduling_prefetch``, ``KernelBeginEvent::execute`` and ``GPUPageTable::selectEvictPTE``). The
    correlation tables from which DeepUM learns that order are taken to be right.
    """

    name = "deepum"

    degree: int = option(8, "kernels of the window")
    operand_order: OperandOrder = option("listed", "the order of a kernel's tensors: as listed, or as in the artifact's hash sets")
    _needed: list[tuple[int, ...]] = field(default_factory=list, init=False, repr=False)
    _windows: list[frozenset[int]] = field(default_factory=list, init=False, repr=False)
    _dead: list[frozenset[int]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse windows without kernels."""
        if not 1 <= self.degree <= MAX_DEGREE:
            raise OptionError(f"degree: expected 1 to {MAX_DEGREE} kernels, found {self.degree}", "G10's artifact uses 8")

    def begin(self, step: Step, machine: Machine) -> None:
        """Note what each kernel needs, the window from each kernel on, and what is dead at each."""
        self._needed = [operands_of(kernel, self.operand_order) for kernel in step.kernels]
        self._windows = windows(self._needed, self.degree)
        self._dead = dead_tensors(step, liveness(step))

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """What the first kernel behind the window needs."""
        return self._needed[(kernel + self.degree) % len(self._needed)]

    def spared(self, kernel: int) -> frozenset[int]:
        """What the kernels of the window need."""
        return self._windows[kernel]

    def discarded(self, kernel: int) -> frozenset[int]:
        """What has not been born yet, or has died."""
        return self._dead[kernel]


def windows(needed: Sequence[Sequence[int]], degree: int) -> list[frozenset[int]]:
    """The tensors of ``degree`` kernels from each kernel on, those of the next step included."""
    count = len(needed)
    users: dict[int, int] = {}
    for kernel in range(min(degree, count)):
        for tensor in needed[kernel]:
            users[tensor] = users.get(tensor, 0) + 1
    found = []
    for kernel in range(count):
        found.append(frozenset(users))
        if degree < count:
            for tensor in needed[kernel]:
                users[tensor] -= 1
                if not users[tensor]:
                    del users[tensor]
            for tensor in needed[(kernel + degree) % count]:
                users[tensor] = users.get(tensor, 0) + 1
    return found


def dead_tensors(step: Step, lifetimes: Lifetimes) -> list[frozenset[int]]:
    """The tensors that hold no data at each kernel: those of a later birth or an earlier death, and those that nothing uses."""
    lives = list(zip(lifetimes.birth.tolist(), lifetimes.death.tolist(), strict=True))
    passing = [tensor for tensor, storage in enumerate(step.tensors) if not storage.persistent]
    dead = {tensor for tensor in passing if lives[tensor][0] > 0 or lives[tensor][1] == 0}
    changes: dict[int, list[int]] = {}
    for tensor in passing:
        birth, death = lives[tensor]
        for kernel in {birth, death} if birth < death else ():
            changes.setdefault(kernel, []).append(tensor)
    found, now = [], frozenset(dead)
    for kernel in range(len(step.kernels)):
        if kernel in changes:
            for tensor in changes[kernel]:
                birth, death = lives[tensor]
                (dead.discard if birth <= kernel < death else dead.add)(tensor)
            now = frozenset(dead)
        found.append(now)
    return found
