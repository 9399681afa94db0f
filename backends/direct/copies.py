"""Issued directives, and the copy engines: one for each direction and tier, first in, first out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from g10c.backends.direct.actions import Action
from g10c.backends.direct.extents import Place
from g10c.backends.direct.links import TRANSFER_PRIORITY, Flow, SharedLink
from g10c.backends.direct.memory import Ledger
from g10c.backends.engine import Engine
from g10c.ir.machine import Link
from g10c.ir.result import Copy, LinkUse


@dataclass(slots=True, eq=False)
class Task:
    """An action that has been issued."""

    action: Action
    number: int
    """Order of issue, over all steps."""
    step_number: int
    """The step it was issued in, from 1."""
    waits: int = 0
    """Earlier directives on some of the same bytes that have not ended."""
    granted: bool = False
    """Whether it has the GPU memory that it needs."""
    blocks_kernel: bool = False
    """Whether the current kernel waits for it."""
    dependents: list[Task] = field(default_factory=list)

    def overlaps(self, other: Task) -> bool:
        """Whether two directives on one tensor concern some of the same bytes, so that one has to end before the other begins."""
        return self.action.start < other.action.end and other.action.start < self.action.end

    def covers(self, other: Task) -> bool:
        """Whether it concerns all bytes of another directive on the tensor."""
        return self.action.start <= other.action.start and other.action.end <= self.action.end


class CopyEngine:
    """Copies one task after another, in order of issue, between GPU memory and one tier.

    The task at the head starts when earlier directives on its bytes have ended, when a ``prefetch`` has its room in GPU memory, and when an
    ``evict`` finds room on its tier. It takes the latency of its ``own`` link first, during which no bandwidth is used, and then shares the
    ``shared`` one at no more than its own bandwidth.
    """

    def __init__(self, name: str, engine: Engine, ledger: Ledger, shared: SharedLink, own: Link, on_end: Callable[[Task], None]) -> None:
        self.name = name
        self.queue: deque[Task] = deque()
        self.task: Task | None = None
        self.log: list[Copy] | None = None
        self._tensor_names: list[str] = []
        self._engine = engine
        self._ledger = ledger
        self._link = shared
        self._bandwidth = own.bandwidth
        self._latency_ns = own.latency_ns
        self._on_end = on_end
        self._flow: Flow | None = None
        self._since_ns = 0
        self._counted = 0
        self._bytes = 0
        self._busy_ns = 0

    def kick(self) -> None:
        """Start the task at the head of the queue, if it can start now."""
        if self.task is not None or not self.queue:
            return
        task = self.queue[0]
        action = task.action
        if task.waits or (action.kind == "prefetch" and not task.granted):
            return
        if action.kind == "evict":
            if self._ledger.free(action.tier) < action.bytes:
                return
            self._ledger.claim(action.tier, action.bytes)
        self.task = self.queue.popleft()
        self._since_ns, self._counted = self._engine.now_ns, 0
        if self._latency_ns:
            self._engine.schedule(self._engine.now_ns + self._latency_ns, TRANSFER_PRIORITY, partial(self._send, action.bytes))
        else:
            self._send(action.bytes)

    def pending_bytes(self) -> int:
        """Bytes of tasks that have not ended, less those that have arrived."""
        queued = sum(task.action.bytes for task in self.queue)
        return queued + (self.task.action.bytes - self._sent() if self.task else 0)

    def restart(self) -> None:
        """Count bytes and busy time from now."""
        self._close()
        self._bytes = self._busy_ns = 0

    def start_log(self, tensor_names: list[str]) -> None:
        """Record copies from now on in ``log``."""
        self.log, self._tensor_names = [], tensor_names

    def use(self) -> LinkUse:
        """Bytes moved since :meth:`restart`, and the time in which a copy was under way, its latency included."""
        self._close()
        return LinkUse(self._bytes, self._busy_ns)

    def _send(self, size_bytes: int) -> None:
        self._flow = self._link.start(size_bytes, self._bandwidth, self._end)

    def _sent(self) -> int:
        return self._link.sent_bytes(self._flow) if self._flow else 0

    def _close(self) -> None:
        """Count what the task under way has moved until now."""
        if self.task is None:
            return
        sent, now_ns = self._sent(), self._engine.now_ns
        self._bytes += sent - self._counted
        self._busy_ns += now_ns - self._since_ns
        if self.log is not None and now_ns > self._since_ns:
            action = self.task.action
            name = self._tensor_names[action.tensor]
            self.log.append(Copy(self.name, name, self._since_ns, now_ns, sent - self._counted, action.cause))
        self._counted, self._since_ns = sent, now_ns

    def _end(self) -> None:
        self._close()
        task, self.task, self._flow = self.task, None, None
        if task is not None:
            action = task.action
            outward = action.kind == "evict"
            source, target = (Place.GPU, action.tier) if outward else (action.tier, Place.GPU)
            self._ledger.settle(action.tensor, source, target, action.bytes)
            self._on_end(task)
        self.kick()
