"""The batched runtime once more, one page at a time and one batch after another: slow, plain, and what the fast one is compared with."""

from __future__ import annotations

from collections import deque

from g10c.backends.uvm.faults import FaultModel, Faults
from g10c.backends.uvm.policy import FifoEviction
from g10c.compiler.protocols import Policy
from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step

Page = tuple[int, int]
NOWHERE, SSD, HOST, GPU = "nowhere", "ssd", "host", "gpu"


class PageByPage:
    """Whole-tensor moves only."""

    def __init__(self, step: Step, moves: list[Move], machine: Machine, policy: Policy | None = None) -> None:
        self.policy: Policy = policy or FifoEviction()
        self.spared: frozenset[int] = frozenset()
        self.dead: frozenset[int] = frozenset()
        self.waiting = False
        self.step, self.moves, self.machine = step, moves, machine
        page, batch = machine.uvm.page, machine.uvm.batch_pages
        self.pages = [[(t, n) for n in range(machine.pages(tensor.size_bytes))] for t, tensor in enumerate(step.tensors)]
        self.where = {p: SSD if step.tensors[t].persistent else NOWHERE for t, pages in enumerate(self.pages) for p in pages}
        self.moving: set[Page] = set()
        self.arrived: dict[Page, None] = {}
        self.gpu_limit, self.host_limit = machine.gpu.usable // page, machine.host.memory // page
        self.gpu = self.host = 0
        self.batch, self.ssd = batch, batch * machine.ssd.bandwidth // machine.pcie.bandwidth
        cost = machine.gpu.malloc_time_per_byte * page
        self.maps = max(1, int(batch * page * 10**9 / machine.pcie.bandwidth / cost)) if cost else 10**9
        names = ("evict_ssd", "evict_host", "fault_ssd", "fault_host", "fault_nowhere", "ahead_ssd", "ahead_host", "ahead_nowhere")
        self.queues: dict[str, deque[Page]] = {name: deque() for name in names}
        self.required: set[int] = set()
        self.model = FaultModel(machine)
        self.next = 0
        self.moved = dict.fromkeys((HOST + GPU, SSD + GPU, NOWHERE + GPU, GPU + HOST, GPU + SSD), 0)
        self.faults = 0

    def time(self, batch: int) -> int:
        return batch * self.batch * self.machine.uvm.page * 10**9 // self.machine.pcie.bandwidth

    def run(self, steps: int) -> list[int]:
        """End of every kernel of the last step."""
        now, ends = 0, []
        for number in range(steps):
            self.moved = dict.fromkeys(self.moved, 0)
            self.faults = 0
            ends = []
            for k in range(len(self.step.kernels)):
                now = self.kernel(number, k, now)
                ends.append(now)
        return ends

    def kernel(self, number: int, k: int, now: int) -> int:
        kernel = self.step.kernels[k]
        reads = list(dict.fromkeys(reversed(kernel.reads)))
        writes = [t for t in dict.fromkeys(reversed(kernel.writes)) if t not in reads]
        self.required = {*reads, *writes}
        for move in [m for m in self.moves if k == 0 and number and m.slot == len(self.step.kernels)] + [
            m for m in self.moves if m.slot == k
        ]:
            self.issue(move)
        self.spared, self.dead = self.policy.spared(k), self.policy.discarded(k)
        for t in self.policy.prefetch(k, None):
            self.issue(Move(k, "prefetch", t, None, 0, self.step.tensors[t].size_bytes))
        end = now + kernel.time_ns
        needed = [p for t in (*reads, *writes) for p in self.pages[t]]
        if self.faulting() or any(self.where[p] != GPU or p in self.moving for p in needed):
            end += self.model.cost_ns(kernel, self.fault(reads), self.fault(writes))
            self.waiting = True
            while self.faulting() or any(p in self.moving for p in needed):
                self.serve()
            self.waiting = False
            end = max(end, self.time(self.next - 1))
        while self.time(self.next) < end:
            self.serve()
        return end

    def issue(self, move: Move) -> None:
        for p in self.pages[move.tensor]:
            if p in self.moving:
                continue
            place = self.where[p]
            if move.kind == "free":
                self.arrived.pop(p, None)
                self.gpu -= place == GPU
                self.host -= place == HOST
                self.where[p] = NOWHERE
            elif move.kind == "evict" and place == GPU:
                self.arrived.pop(p)
                self.enter(f"evict_{move.tier}", p)
            elif move.kind != "evict" and place != GPU:
                self.enter(f"ahead_{place}", p)

    def enter(self, queue: str, p: Page) -> None:
        self.queues[queue].append(p)
        self.moving.add(p)

    def faulting(self) -> bool:
        return any(self.queues[name] for name in ("fault_ssd", "fault_host", "fault_nowhere"))

    def fault(self, tensors: list[int]) -> Faults:
        found = Faults(total=sum(len(self.pages[t]) for t in tensors))
        for p in (p for t in tensors for p in self.pages[t]):
            if p not in self.moving and self.where[p] != GPU:
                field = "absent" if self.where[p] == NOWHERE else self.where[p]
                setattr(found, field, getattr(found, field) + 1)
                self.enter(f"fault_{self.where[p]}", p)
        self.faults += found.pages
        return found

    def serve(self) -> None:
        self.next += 1
        self.out = self.out_ssd = self.into = self.into_ssd = self.mapped = 0
        queues = self.queues
        while queues["evict_ssd"] and self.out_ssd < self.ssd and self.out < self.batch:
            self.leave(queues["evict_ssd"].popleft(), SSD)
        while queues["evict_host"] and self.may_leave():
            self.leave(queues["evict_host"].popleft(), HOST if self.host < self.host_limit else SSD)
        before = dict(self.moved)
        for kind in ("fault", "ahead"):
            self.bring(kind, demand=kind == "fault")
        if self.waiting and self.spared and self.moved == before and not self.out:
            self.bring("ahead", demand=True)

    def bring(self, kind: str, *, demand: bool) -> None:
        for place in (SSD, HOST, NOWHERE):
            queue = self.queues[f"{kind}_{place}"]
            while queue and self.may_come(place):
                if self.gpu == self.gpu_limit:
                    victim = self.victim(demand or queue[0][0] in self.required)
                    if victim is None:
                        break
                    p = queue.popleft()
                    dead = victim[0] in self.dead
                    self.leave(victim, NOWHERE if dead else HOST if self.host < self.host_limit else SSD)
                else:
                    p = queue.popleft()
                self.come(p, place)

    def victim(self, demand: bool) -> Page | None:
        return next((p for p in self.arrived if demand or p[0] not in self.spared), None)

    def may_leave(self) -> bool:
        return self.out < self.batch and (self.host < self.host_limit or self.out_ssd < self.ssd)

    def may_come(self, place: str) -> bool:
        if self.mapped == self.maps or (place != NOWHERE and self.into == self.batch) or (place == SSD and self.into_ssd == self.ssd):
            return False
        return self.gpu < self.gpu_limit or (self.may_leave() and bool(self.arrived))

    def leave(self, p: Page, place: str) -> None:
        self.arrived.pop(p, None)
        self.moving.discard(p)
        self.gpu -= 1
        self.out += place != NOWHERE
        self.host += place == HOST
        self.out_ssd += place == SSD
        self.where[p] = place
        self.moved[GPU + place] = self.moved.get(GPU + place, 0) + 1
        if p[0] in self.required:
            self.enter(f"fault_{place}", p)

    def come(self, p: Page, place: str) -> None:
        self.moving.discard(p)
        self.gpu += 1
        self.mapped += 1
        self.host -= place == HOST
        self.into += place != NOWHERE
        self.into_ssd += place == SSD
        self.where[p] = GPU
        self.arrived[p] = None
        self.moved[place + GPU] += 1
