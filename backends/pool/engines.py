"""Copy engines: one for each direction and tier, each at a bandwidth of its own, first in, first out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from g10c.backends.engine import Engine
from g10c.ir.result import Copy, LinkUse
from g10c.ir.step import Tier

Cause = Literal["directive", "fault", "policy"]
"""Who wants a transfer: the plan, a kernel that did not find its data, or the policy."""
NS = 1_000_000_000
"""Nanoseconds of a second."""


@dataclass(slots=True, eq=False)
class Transfer:
    """A tensor on its way, or waiting for that."""

    tensor: int
    size_bytes: int
    tier: Tier
    cause: Cause


class CopyEngine:
    """Copies one transfer after another. The first in line begins when ``may_begin`` says so."""

    def __init__(
        self, name: str, engine: Engine, bandwidth: int, may_begin: Callable[[Transfer], bool], on_end: Callable[[Transfer], None]
    ) -> None:
        self.name = name
        self.queue: deque[Transfer] = deque()
        self.current: Transfer | None = None
        self.log: list[Copy] | None = None
        self.tensor_names: list[str] = []
        self._engine = engine
        self._bandwidth = bandwidth
        self._may_begin = may_begin
        self._on_end = on_end
        self._since_ns = 0
        self._from_ns = 0
        self._bytes = 0
        self._busy_ns = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way or waits."""
        return self.current is None and not self.queue

    def kick(self) -> None:
        """Begin with the first in line, if it can begin."""
        if self.current is None and self.queue and self._may_begin(self.queue[0]):
            transfer = self.current = self.queue.popleft()
            self._since_ns = self._engine.now_ns
            duration_ns = -(-transfer.size_bytes * NS // self._bandwidth)
            self._engine.schedule(self._since_ns + duration_ns, 0, partial(self._end, transfer))

    def restart(self) -> None:
        """Count from now; a transfer counts where it ends."""
        self._bytes = self._busy_ns = 0
        self._from_ns = self._engine.now_ns

    def use(self) -> LinkUse:
        """Bytes and busy time of the transfers that have ended since :meth:`restart`."""
        return LinkUse(self._bytes, self._busy_ns)

    def _end(self, transfer: Transfer) -> None:
        now_ns = self._engine.now_ns
        self._bytes += transfer.size_bytes
        self._busy_ns += now_ns - max(self._since_ns, self._from_ns)
        if self.log is not None:
            name = self.tensor_names[transfer.tensor]
            self.log.append(Copy(self.name, name, self._since_ns, now_ns, transfer.size_bytes, transfer.cause))
        self.current = None
        self._on_end(transfer)
        self.kick()
