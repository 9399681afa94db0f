"""Plays a lowered plan against time: kernels one after another, copies beside them, memory granted in order of issue.

GPU memory is granted in order of issue: an allocation or prefetch takes its room as soon as all before it have theirs and its own is free,
a prefetch before its copy starts. Copies of one engine and directives on one range of bytes keep the order of issue too. It follows that

* a plan never stops for want of memory while it fits when each directive takes effect at once, in order of issue: the earliest directive
  that has not ended can always go on;
* with one tier, so that no two copies share a link, all times are maxima of sums of earlier times: nothing gets slower when a link gets
  faster or a memory larger, as long as the first step begins in the same state. Two tiers that share PCIe have no such guarantee: a copy
  that starts earlier may take bandwidth from one that the next kernel waits for.

A plan that asks for more memory than there is comes to a point where nothing is on its way and nothing can start. There the directives that
the current kernel waits for overtake the others, if they fit together; if not, the run is stuck.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from g10c.backends.direct.actions import Action
from g10c.backends.direct.copies import CopyEngine, Task
from g10c.backends.direct.extents import Place, State
from g10c.backends.direct.links import SharedLink
from g10c.backends.direct.lower import Lowered
from g10c.backends.direct.memory import Ledger
from g10c.backends.engine import Engine
from g10c.ir.machine import Machine
from g10c.ir.result import KernelTime
from g10c.ir.step import Step

KERNEL_PRIORITY = 1


class Player:
    """One run. ``plan`` holds what each step does; the last step is the one that is reported."""

    def __init__(self, step: Step, machine: Machine, begin: State, plan: Sequence[Lowered], timeline: bool, on_demand: bool) -> None:
        self.step = step
        self.engine = Engine()
        self.ledger = Ledger(self.engine, step, machine, begin)
        self.pending: list[list[Task]] = [[] for _ in step.tensors]
        """Directives that have not ended, by tensor, in order of issue."""
        self.room: deque[Task] = deque()
        """Directives that wait for GPU memory, in order of issue."""
        self.step_number = 0
        self.kernel = 0
        self.waits = 0
        """Directives that the current kernel waits for."""
        self.kernels: list[KernelTime] = []
        self.begin_ns = 0
        self._ends_ns: list[int] = []
        """When the step began: the end of the last kernel of the one before."""
        self.overtakings = 0
        """How often in this step the current kernel's directives had to overtake earlier ones that could not proceed."""
        self.backlog = 0
        """Bytes of copies that were issued and had not arrived when the step began."""
        self._plan = plan
        self._timeline = timeline
        self._on_demand = on_demand
        self._issued = 0
        self._done: deque[Task] = deque()
        self._draining = False
        self._ready_ns = 0
        self._start_ns = 0
        self._uses = [tuple(dict.fromkeys(kernel.reads + kernel.writes)) for kernel in step.kernels]
        self.engines = self._engines(machine)

    def _engines(self, machine: Machine) -> dict[tuple[str, Place], CopyEngine]:
        out, back = (SharedLink(self.engine, machine.pcie.bandwidth) for _ in range(2))
        engines = {}
        for tier, own in ((Place.HOST, machine.pcie), (Place.SSD, machine.ssd)):
            for kind, name, link in (("evict", f"gpu_to_{tier}", out), ("prefetch", f"{tier}_to_gpu", back)):
                engines[kind, tier] = CopyEngine(name, self.engine, self.ledger, link, own, self._ended)
        return engines

    def run(self) -> bool:
        """Run all steps; false when nothing can proceed before the last step has ended."""
        self._begin_step()
        self.engine.schedule(0, KERNEL_PRIORITY, self._issue_slot)
        while not self.engine.run():
            if not self._overtake():
                return False
        return True

    @property
    def step_times_ns(self) -> list[int]:
        """Time of every step, once all have ended."""
        ends = [*self._ends_ns, self.engine.now_ns]
        return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]

    def _begin_step(self) -> None:
        if self.step_number:
            self._ends_ns.append(self.engine.now_ns)
        self.begin_ns = self.engine.now_ns
        self.step_number += 1
        self.kernel = 0
        self.backlog = self.pending_bytes()
        self.kernels = []
        self.overtakings = 0
        self.ledger.audit()
        self.ledger.restart_peak()
        for engine in self.engines.values():
            engine.restart()
        if self._timeline and self.step_number == len(self._plan):
            self.ledger.start_samples()
            for engine in self.engines.values():
                engine.start_log([tensor.name for tensor in self.step.tensors])

    def pending_bytes(self) -> int:
        """Bytes of copies that were issued and have not arrived."""
        return sum(engine.pending_bytes() for engine in self.engines.values())

    def _issue_slot(self) -> None:
        """Make the next kernel current, or end the step."""
        for action in self._plan[self.step_number - 1].slots[self.kernel]:
            self._issue(action)
        if self.kernel == len(self.step.kernels):
            self._end_step()
            return
        self._ready_ns = self.engine.now_ns
        for tensor in self._uses[self.kernel]:
            for task in self.pending[tensor]:
                task.blocks_kernel = True
                self.waits += 1
        if not self.waits:
            self._start_kernel()

    def _end_step(self) -> None:
        if self.step_number == len(self._plan):
            self.engine.stop()
            return
        self._begin_step()
        self.engine.schedule(self.engine.now_ns, KERNEL_PRIORITY, self._issue_slot)

    def _start_kernel(self) -> None:
        self._start_ns = self.engine.now_ns
        self.engine.schedule(self._start_ns + self.step.kernels[self.kernel].time_ns, KERNEL_PRIORITY, self._end_kernel)

    def _end_kernel(self) -> None:
        begin_ns = self.begin_ns
        times = (self._ready_ns - begin_ns, self.engine.now_ns - begin_ns, self._start_ns - self._ready_ns)
        self.kernels.append(KernelTime(self.step.kernels[self.kernel].name, *times))
        self.kernel += 1
        self._issue_slot()

    def _gives_up_eviction(self, action: Action) -> bool:
        """Whether a prefetch finds its bytes in GPU memory still, because their eviction has not begun: then both are void."""
        waiting = self.pending[action.tensor]
        if action.kind != "prefetch" or not waiting:
            return False
        last = waiting[-1]
        same = (last.action.kind, last.action.start, last.action.end, last.action.tier) == ("evict", action.start, action.end, action.tier)
        engine = self.engines["evict", action.tier]
        if not same or last.action.bytes != action.bytes or last not in engine.queue:
            return False
        engine.queue.remove(last)
        waiting.pop()
        for other in waiting:
            if last in other.dependents:
                other.dependents.remove(last)
        engine.kick()
        return True

    def _issue(self, action: Action) -> None:
        if self._on_demand and self._gives_up_eviction(action):
            return
        self._issued += 1
        task = Task(action, self._issued, self.step_number)
        earlier = self.pending[action.tensor]
        for other in reversed(earlier):
            if other.overlaps(task):
                other.dependents.append(task)
                task.waits += 1
            if other.covers(task):  # and waits itself for all before it that matter here
                break
        earlier.append(task)
        if action.kind in ("alloc", "prefetch"):
            self.room.append(task)
        if action.kind in ("evict", "prefetch"):
            engine = self.engines[action.kind, action.tier]
            engine.queue.append(task)
            engine.kick()
        if action.kind == "free":
            self._proceed(task)
        self._grant()

    def _grant(self) -> None:
        """Grant GPU memory in order of issue, as far as it goes."""
        while self.room and self.room[0].action.bytes <= self.ledger.free(Place.GPU):
            self._take_room(self.room.popleft())

    def _overtake(self) -> bool:
        """Let the current kernel's directives go before those that wait and would wait for ever; false where that does not help."""
        room = [task for task in self.room if task.blocks_kernel]
        if sum(task.action.bytes for task in room) > self.ledger.free(Place.GPU):
            return False
        queues = [engine.queue for engine in self.engines.values()]
        late = [any(task.blocks_kernel and task is not queue[0] for task in queue) for queue in queues]
        if not room and not any(late):
            return False
        self.overtakings += 1
        for queue in queues:
            ordered = sorted(queue, key=lambda task: not task.blocks_kernel)
            queue.clear()
            queue.extend(ordered)
        self.room = deque(task for task in self.room if not task.blocks_kernel)
        for task in room:
            self._take_room(task)
        for engine in self.engines.values():
            engine.kick()
        return True

    def _take_room(self, task: Task) -> None:
        self.ledger.claim(Place.GPU, task.action.bytes)
        task.granted = True
        self._proceed(task)

    def _proceed(self, task: Task) -> None:
        """Let a task go on to which something has happened; copies go on in their engine."""
        action = task.action
        if action.kind in ("evict", "prefetch"):
            self.engines[action.kind, action.tier].kick()
        elif not task.waits and (task.granted or action.kind == "free"):
            if action.kind == "alloc":
                self.ledger.settle(action.tensor, Place.ABSENT, Place.GPU, action.bytes)
            else:
                self._drop(action)
            self._ended(task)

    def _drop(self, action: Action) -> None:
        for tier, size_bytes in zip((Place.GPU, Place.HOST, Place.SSD), action.dropped, strict=True):
            if size_bytes:
                self.ledger.settle(action.tensor, tier, Place.ABSENT, size_bytes)

    def _ended(self, task: Task) -> None:
        """A task has ended. What follows from it is done in a loop, not by recursion: chains of directives may be long."""
        self._done.append(task)
        if not self._draining:
            self._draining = True
            while self._done:
                self._follow(self._done.popleft())
            self._draining = False

    def _follow(self, task: Task) -> None:
        """Let go on whoever waited for a task, or for the memory that it left."""
        action = task.action
        self.pending[action.tensor].remove(task)
        for dependent in task.dependents:
            dependent.waits -= 1
            self._proceed(dependent)
        if task.blocks_kernel:
            self.waits -= 1
            if not self.waits:
                self._start_kernel()
        if action.kind in ("evict", "free"):
            self._grant()
        if action.kind in ("prefetch", "free"):
            self.engines["evict", Place.HOST].kick()
