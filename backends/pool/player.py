"""Plays a step: kernels one after another, copies beside them, places in the pool.

A kernel becomes current when the one before it has ended. Its directives are issued, then each of its tensors gets a place, and its data
where they are elsewhere; then it runs. What no later kernel uses is freed when it ends. Directives move whole tensors:

* ``evict`` copies a tensor out and frees its place when the copy ends. Where a kernel or a prefetch wants the tensor meanwhile, it stays.
* ``prefetch`` waits for a place, one after the other in order of issue, and copies the tensor in.
* ``alloc`` and ``free`` change nothing: places come with the first kernel and go with the last.

Weights start in the pool. :class:`~g10c.compiler.protocols.CopyRules` says where the artifact does otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from g10c.backends.direct.places import Places
from g10c.backends.engine import Engine
from g10c.backends.pool.engines import Cause, CopyEngine, Transfer
from g10c.backends.pool.errors import no_room, nothing_proceeds, weights_do_not_fit
from g10c.backends.pool.space import Piece, Space
from g10c.compiler.operand_order import operands_of
from g10c.compiler.protocols import CopyPolicy, CopyRules
from g10c.compiler.vitality import liveness
from g10c.ir.machine import Machine
from g10c.ir.result import KernelTime, MemorySample
from g10c.ir.step import Move, Step, Tier

KERNEL_PRIORITY = 1
TIERS: tuple[Tier, ...] = ("host", "ssd")


class Player:
    """One run. What is counted is that of the step last begun."""

    def __init__(self, places: Places, moves: Sequence[Move], machine: Machine, rules: CopyRules, policy: CopyPolicy) -> None:
        self.places, self.machine, self.rules = places, machine, rules
        self.step: Step = places.step
        self.engine = Engine()
        self.page = machine.uvm.page
        self.pages = [machine.pages(tensor.size_bytes) for tensor in self.step.tensors]
        self.space = Space(rules.memory_bytes // self.page)
        self.place: dict[int, Piece] = {}
        self.away: dict[int, Tier] = {}
        """Where the data of a tensor are, or will be when its eviction ends."""
        self.leaving: dict[int, Transfer] = {}
        self.arriving: set[int] = set()
        self.waiting: deque[int] = deque()
        """Prefetches that wait for a place."""
        self.kernels: list[KernelTime] = []
        self.begin_ns = 0
        self.peak = {"gpu": 0, "host": 0, "ssd": 0}
        self.samples: list[MemorySample] | None = None
        self.fetched_on_demand = 0
        """Bytes copied for kernels that did not find them."""
        self._policy = policy
        self._slots: list[list[Move]] = [[] for _ in range(len(self.step.kernels) + 1)]
        for move in moves:
            self._slots[move.slot].append(move)
        self._operands = [operands_of(kernel, rules.operand_order) for kernel in self.step.kernels]
        self._claims: dict[int, Tier] = {}
        self._outside = {"host": 0, "ssd": 0}
        self._scratch: set[int] = set()
        self._dying: list[list[int]] = []
        bandwidths = {"host": rules.host_bandwidth, "ssd": rules.ssd_bandwidth}
        self._out = {t: CopyEngine(f"gpu_to_{t}", self.engine, bandwidths[t], self._may_leave, self._left) for t in TIERS}
        self._in = {t: CopyEngine(f"{t}_to_gpu", self.engine, bandwidths[t], lambda transfer: True, self._arrived) for t in TIERS}
        self.engines = [*self._out.values(), *self._in.values()]
        self._find_ends()

    def _find_ends(self) -> None:
        """Note which tensors die with each kernel, and which share the place of scratch."""
        lifetimes = liveness(self.step)
        self._dying = [[] for _ in self.step.kernels]
        for tensor, storage in enumerate(self.step.tensors):
            if storage.persistent or not lifetimes.used[tensor]:
                continue
            if self.rules.shared_scratch and lifetimes.never_read[tensor]:
                self._scratch.add(tensor)
            else:
                self._dying[int(lifetimes.death[tensor]) - 1].append(tensor)

    # What a policy may see

    @property
    def largest_hole_bytes(self) -> int:
        """Bytes of the largest free piece."""
        return self.space.largest_hole * self.page

    def has_place(self, tensor: int) -> bool:
        """Whether a tensor has its place."""
        return tensor in self.place

    def place_bytes(self, tensor: int) -> int:
        """Bytes of the place of a tensor."""
        return self.pages[tensor] * self.page

    # The run

    def run(self, steps: int, timeline: bool) -> list[int]:
        """Run the steps; the time of each (ns)."""
        self._place_weights()
        times = []
        for number in range(steps):
            self._begin_step(timeline and number == steps - 1)
            for kernel in range(len(self.step.kernels)):
                self._run_kernel(kernel)
            self._issue(len(self.step.kernels))
            times.append(self.engine.now_ns - self.begin_ns)
        return times

    def _place_weights(self) -> None:
        scratch = [sum(self.pages[tensor] for tensor in tensors if tensor in self._scratch) for tensors in self._operands]
        for tensor, storage in enumerate(self.step.tensors):
            if storage.persistent and not self._take(tensor):
                raise weights_do_not_fit(self)
        if self.space.take(max(scratch, default=0)) is None:
            raise weights_do_not_fit(self)

    def _begin_step(self, timeline: bool) -> None:
        self.begin_ns = self.engine.now_ns
        self.kernels = []
        self.fetched_on_demand = 0
        self.peak = {"gpu": 0, **self._outside}
        for engine in self.engines:
            engine.restart()
            if timeline:
                engine.log, engine.tensor_names = [], [tensor.name for tensor in self.step.tensors]
        if timeline:
            self.samples = []
        self._note_use()

    def _run_kernel(self, kernel: int) -> None:
        ready_ns = self.engine.now_ns
        self._issue(kernel)
        if kernel == self.rules.drained_at:
            self._wait(kernel, lambda: all(engine.idle for engine in self._out.values()))
        for tensor in self._operands[kernel]:
            self._make_ready(kernel, tensor)
        start_ns = self.engine.now_ns
        ended: list[bool] = []
        self.engine.schedule(start_ns + self.step.kernels[kernel].time_ns, KERNEL_PRIORITY, lambda: ended.append(True))
        self._wait(kernel, lambda: bool(ended))
        times = (ready_ns - self.begin_ns, self.engine.now_ns - self.begin_ns, start_ns - ready_ns)
        self.kernels.append(KernelTime(self.step.kernels[kernel].name, *times))
        for tensor in self._dying[kernel]:
            self._drop(tensor)
        self._grant()
        for tensor in self._policy.fetch_after(kernel, self):
            if tensor not in self.place and tensor in self.away and tensor not in self.waiting and self._take(tensor):
                self._fetch(tensor, "policy")

    def _wait(self, kernel: int, until: Callable[[], bool]) -> None:
        while not until():
            if not self._advance():
                raise nothing_proceeds(self, kernel)

    def _advance(self) -> bool:
        """Let the next thing happen; false when nothing will."""
        if not self.engine.step():
            return False
        self._grant()
        return True

    def _make_ready(self, kernel: int, tensor: int) -> None:
        """Give a tensor its place and its data."""
        if tensor in self._scratch:
            return
        if tensor not in self.place:
            if tensor in self.waiting:
                self.waiting.remove(tensor)
            while not self._take(tensor):
                if not self._advance():
                    raise no_room(self, kernel, tensor)
            if self.rules.weights_return_free and self.step.tensors[tensor].persistent:
                self._forget(tensor)
            if tensor in self.away:
                self.fetched_on_demand += self.step.tensors[tensor].size_bytes
                self._fetch(tensor, "fault")
        if tensor in self.arriving:
            self._wait(kernel, lambda: tensor not in self.arriving)
        if tensor in self.leaving and not self.rules.copies_again:
            self._stay(tensor)

    # Directives

    def _issue(self, slot: int) -> None:
        for move in self._slots[slot]:
            if move.kind == "evict" and move.tier is not None:
                self._evict(move.tensor, move.tier)
            elif move.kind == "prefetch":
                self._prefetch(move.tensor)

    def _evict(self, tensor: int, tier: Tier) -> None:
        if tensor not in self.place or tensor in self.leaving:
            return
        self.away[tensor] = tier
        self.leaving[tensor] = Transfer(tensor, self.step.tensors[tensor].size_bytes, tier, "directive")
        self._out[tier].queue.append(self.leaving[tensor])
        self._out[tier].kick()

    def _prefetch(self, tensor: int) -> None:
        if tensor in self.place and self.rules.copies_again:
            if not self.step.tensors[tensor].persistent:
                self._fetch(tensor, "directive")
        elif tensor in self.leaving:
            self._stay(tensor)
        elif tensor not in self.place and tensor in self.away and tensor not in self.waiting:
            self.waiting.append(tensor)
            self._grant()

    def _stay(self, tensor: int) -> None:
        """Give up an eviction: one that has begun goes on to its end, and changes nothing."""
        transfer = self.leaving.pop(tensor)
        del self.away[tensor]
        queue = self._out[transfer.tier].queue
        if transfer in queue:
            queue.remove(transfer)

    def _grant(self) -> None:
        """Give places to prefetches, in order, as far as it goes."""
        while self.waiting and self._take(self.waiting[0]):
            self._fetch(self.waiting.popleft(), "directive")

    def _fetch(self, tensor: int, cause: Cause) -> None:
        tier = self.away.get(tensor, "ssd")
        if cause == "fault" and self.rules.demand_from_ssd and self.rules.ssd_bandwidth:
            tier = "ssd"
        self.arriving.add(tensor)
        self._in[tier].queue.append(Transfer(tensor, self.step.tensors[tensor].size_bytes, tier, cause))
        self._in[tier].kick()

    # Copies

    def _may_leave(self, transfer: Transfer) -> bool:
        """Whether an eviction can begin: the tensor is there, and host memory has room for it; that room is taken."""
        if transfer.tensor in self.arriving and not self.rules.copies_again:
            return False
        if transfer.tier == "host" and self._outside["host"] + transfer.size_bytes > self.machine.host.memory:
            return False
        self._release(transfer.tensor)
        self._claims[transfer.tensor] = transfer.tier
        self._outside[transfer.tier] += transfer.size_bytes
        self._note_use()
        return True

    def _left(self, transfer: Transfer) -> None:
        tensor = transfer.tensor
        if self.leaving.get(tensor) is transfer:
            del self.leaving[tensor]
            self.away[tensor] = transfer.tier
            self._free(tensor)
        else:
            self._release(tensor)

    def _arrived(self, transfer: Transfer) -> None:
        self.arriving.discard(transfer.tensor)
        if transfer.tensor in self.place:  # else it left on the way: see CopyRules.copies_again
            self._release(transfer.tensor)
            if transfer.tensor not in self.leaving:
                self.away.pop(transfer.tensor, None)
        for engine in self._out.values():
            engine.kick()

    # Places

    def _take(self, tensor: int) -> bool:
        piece = self.space.take(self.pages[tensor], upper=tensor in self.rules.upper)
        if piece is None:
            return False
        self.place[tensor] = piece
        self._note_use()
        return True

    def _free(self, tensor: int) -> None:
        if tensor in self.place:
            self.space.give(self.place.pop(tensor))
            self._note_use()

    def _forget(self, tensor: int) -> None:
        """There is no copy of a tensor outside any more."""
        self.away.pop(tensor, None)
        self._release(tensor)

    def _release(self, tensor: int) -> None:
        tier = self._claims.pop(tensor, None)
        if tier is not None:
            self._outside[tier] -= self.step.tensors[tensor].size_bytes
            self._note_use()

    def _drop(self, tensor: int) -> None:
        """A tensor has died."""
        transfer = self.leaving.pop(tensor, None)
        if transfer is not None and not self.rules.copies_again and transfer in self._out[transfer.tier].queue:
            self._out[transfer.tier].queue.remove(transfer)
        if tensor in self.waiting:
            self.waiting.remove(tensor)
        self._free(tensor)
        self._forget(tensor)

    def _note_use(self) -> None:
        used = {"gpu": (self.space.size - self.space.free) * self.page, **self._outside}
        self.peak = {tier: max(self.peak[tier], size) for tier, size in used.items()}
        if self.samples is not None:
            now_ns = self.engine.now_ns - self.begin_ns
            if self.samples and self.samples[-1].time_ns == now_ns:
                self.samples.pop()
            self.samples.append(MemorySample(now_ns, used["gpu"], used["host"], used["ssd"]))
