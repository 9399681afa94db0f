"""The ledger of memory: bytes in use on each tier and where each tensor's bytes are, checked at every change."""

from __future__ import annotations

from g10c.backends.direct.extents import Place, State
from g10c.backends.engine import Engine
from g10c.ir.errors import InternalError
from g10c.ir.machine import UNLIMITED, Machine
from g10c.ir.result import MemorySample
from g10c.ir.step import Step

TIER_NAMES = ("gpu", "host", "ssd")


class Ledger:
    """Bytes in use by tier: held by tensors, or claimed for bytes on their way.

    Every change goes through :meth:`claim` and :meth:`settle`, which raise :class:`~g10c.ir.errors.InternalError` when a tier is overfull
    or when bytes would appear or vanish. ``samples`` is filled while it is a list.
    """

    def __init__(self, engine: Engine, step: Step, machine: Machine, begin: State) -> None:
        self._engine = engine
        self._step = step
        self.capacity = (machine.gpu.usable, machine.host.memory, UNLIMITED)
        self.used = [0, 0, 0]
        self.peak = [0, 0, 0]
        self.samples: list[MemorySample] | None = None
        self._claimed = [0, 0, 0]
        self._held = [[0, 0, 0, 0] for _ in step.tensors]
        for held, extents in zip(self._held, begin, strict=True):
            for start, end, place in extents:
                held[place] += end - start
                if place < Place.ABSENT:
                    self.used[place] += end - start
        self.restart_peak()
        self.audit()

    def free(self, tier: Place) -> int:
        """Free bytes of a tier."""
        return self.capacity[tier] - self.used[tier]

    def held(self, tensor: int, tier: Place) -> int:
        """Bytes of a tensor on a tier."""
        return self._held[tensor][tier]

    def restart_peak(self) -> None:
        """Forget peaks before now."""
        self.peak = list(self.used)

    def start_samples(self) -> None:
        """Record samples from now on."""
        self.samples = []
        self._sample()

    def claim(self, tier: Place, size_bytes: int) -> None:
        """Take free room of a tier for bytes that are to come."""
        self.used[tier] += size_bytes
        self._claimed[tier] += size_bytes
        if self.used[tier] > self.capacity[tier]:
            raise InternalError.at(f"{TIER_NAMES[tier]} memory is overfull: {self.used[tier]} of {self.capacity[tier]} bytes in use")
        if self.used[tier] > self.peak[tier]:
            self.peak[tier] = self.used[tier]
        self._sample()

    def settle(self, tensor: int, source: Place, target: Place, size_bytes: int) -> None:
        """Bytes of a tensor have come from ``source`` to ``target``: what was claimed there is held now, and the room they left is free."""
        held = self._held[tensor]
        held[source] -= size_bytes
        held[target] += size_bytes
        if target < Place.ABSENT:
            self._claimed[target] -= size_bytes
        if source < Place.ABSENT:
            self.used[source] -= size_bytes
        if min(held) < 0 or min(self._claimed) < 0 or sum(held) != self._step.tensors[tensor].size_bytes:
            raise InternalError.at(f"bytes of %{self._step.tensors[tensor].name} are not conserved: {held} on GPU, host, ssd and nowhere")
        self._sample()

    def audit(self) -> None:
        """Add everything up anew and compare."""
        for tier in (Place.GPU, Place.HOST, Place.SSD):
            total = sum(held[tier] for held in self._held) + self._claimed[tier]
            if not total == self.used[tier] <= self.capacity[tier]:
                raise InternalError.at(
                    f"{TIER_NAMES[tier]} memory: {total} bytes found, {self.used[tier]} noted, {self.capacity[tier]} there are"
                )
        for tensor, held in zip(self._step.tensors, self._held, strict=True):
            if sum(held) != tensor.size_bytes:
                raise InternalError.at(f"{sum(held)} bytes of %{tensor.name} found, it has {tensor.size_bytes}")

    def _sample(self) -> None:
        if self.samples is None:
            return
        if self.samples and self.samples[-1].time_ns == self._engine.now_ns:
            self.samples.pop()
        self.samples.append(MemorySample(self._engine.now_ns, *self.used))
