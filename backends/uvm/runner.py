"""Plays the kernels of a step against the pages' traffic."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.backends.uvm.batches import BatchPace
from g10c.backends.uvm.directives import Directives
from g10c.backends.uvm.errors import StalledError
from g10c.backends.uvm.faults import FaultModel, Faults
from g10c.backends.uvm.fluid import FluidPace
from g10c.backends.uvm.initial import initial_pages
from g10c.backends.uvm.observer import Observer, Watch
from g10c.backends.uvm.pace import Busy, Pace
from g10c.backends.uvm.pages import ABSENT, HOST, PLACES, SSD, Pages
from g10c.backends.uvm.period import Traffic
from g10c.backends.uvm.policy import FifoEviction
from g10c.backends.uvm.service import Service
from g10c.backends.uvm.stuck import check_fits, stuck
from g10c.compiler.protocols import Policy
from g10c.ir.machine import Machine
from g10c.ir.result import KernelTime, LinkUse, SimResult
from g10c.ir.source import Location
from g10c.ir.step import Kernel, Move, Step

EVERYTHING = 1 << 60
"""More pages than a tensor has."""


def simulate_uvm(
    step: Step,
    moves: Sequence[Move],
    machine: Machine,
    *,
    steps: int = 2,
    observer: Observer | None = None,
    policy: Policy | None = None,
    locations: Sequence[Location | None] = (),
) -> SimResult:
    """Run ``steps`` steps, memory carried over from one to the next, and report the last.

    ``moves`` are issued in every step; ``locations`` of kernels are for messages. Raises
    :class:`~g10c.ir.errors.InfeasibleError` when a kernel does not fit, or when nothing can proceed.
    """
    check_fits(step, machine, locations)
    return _Player(step, moves, machine, observer, policy or FifoEviction(), locations).play(steps)


class _Player:
    """State of a simulation: kernels one after another, pages in between."""

    def __init__(
        self,
        step: Step,
        moves: Sequence[Move],
        machine: Machine,
        observer: Observer | None,
        policy: Policy,
        locations: Sequence[Location | None],
    ) -> None:
        self._locations = locations
        self._step = step
        self._machine = machine
        self._page = machine.uvm.page
        self._pages: Pages = initial_pages(step, machine)
        self._service = Service(self._pages)
        self._pace: Pace = BatchPace(self._service, machine) if machine.uvm.batch_pages else FluidPace(self._service, machine)
        self._directives = Directives(step, moves, machine, self._service)
        self._fault_model = FaultModel(machine)
        self._operands = [operands(kernel) for kernel in step.kernels]
        self._required = [frozenset((*read, *written)) for read, written in self._operands]
        self._policy = policy
        self._observer = observer
        if observer is not None:
            self._pace.watch = Watch(observer, self._service, self._page)
        self._faults = self._fault_kernels = 0
        self._kernels: list[KernelTime] = []
        policy.begin(step, machine)

    # Residency, as a policy sees it

    @property
    def free_bytes(self) -> int:
        """Free bytes of GPU memory."""
        return self._pages.free * self._page

    def resident_bytes(self, tensor: int) -> int:
        """Bytes of a tensor in GPU memory."""
        return (self._pages.resident[tensor] + self._pages.leaving[tensor]) * self._page

    def play(self, steps: int) -> SimResult:
        """Run the steps; the result of the last."""
        now, times = 0, []
        for number in range(steps):
            start = now
            self._begin_step(number, start)
            for index in range(len(self._step.kernels)):
                now = self._run_kernel(number, index, now, start)
            times.append(now - start)
        return self._result(tuple(times))

    def _begin_step(self, number: int, start_ns: int) -> None:
        self._service.traffic = Traffic()
        self._pace.busy = Busy()
        self._pages.reset_peaks()
        self._faults = self._fault_kernels = 0
        self._kernels = []
        if self._observer is not None:
            self._observer.step(number, start_ns)
            if self._pace.watch is not None:
                self._pace.watch.restart()

    def _run_kernel(self, step_number: int, index: int, now: int, step_start: int) -> int:
        """Make the kernel current at ``now``; the time at which it ends."""
        kernel, service, pages = self._step.kernels[index], self._service, self._pages
        service.required = self._required[index]
        service.spared = self._policy.spared(index)
        service.discarded = self._policy.discarded(index)
        self._directives.issue(step_number, index)
        for tensor in self._policy.prefetch(index, self):
            self._directives.bring(tensor, EVERYTHING)
        end = now + kernel.time_ns
        if service.faulting or not all(pages.is_resident(tensor) for tensor in self._required[index]):
            end += self._fault(index)
            self._fault_kernels += 1
            try:
                end = max(end, self._pace.settle())
            except StalledError:
                raise stuck(self._step, index, service, self._machine, self._locations) from None
        self._pace.advance(end)
        for tensor in self._required[index]:
            pages.check_tensor(tensor)
        fault_ns = end - now - kernel.time_ns
        self._kernels.append(KernelTime(kernel.name, now - step_start, end - step_start, fault_ns))
        if self._observer is not None:
            self._observer.kernel(index, now, end, fault_ns)
        return end

    def _fault(self, index: int) -> int:
        """Queue the missing pages of a kernel as faults; what resolving them costs (ns)."""
        kinds = []
        for tensors in self._operands[index]:
            kind = Faults(total=sum(self._pages.sizes[tensor] for tensor in tensors))
            for tensor in tensors:
                found = [self._pages.request(tensor, place, self._service.faults[place].queue, EVERYTHING) for place in PLACES]
                kind.host += found[HOST]
                kind.ssd += found[SSD]
                kind.absent += found[ABSENT]
            kinds.append(kind)
            self._faults += kind.pages
        return self._fault_model.cost_ns(self._step.kernels[index], kinds[0], kinds[1])

    def _result(self, times_ns: tuple[int, ...]) -> SimResult:
        page, traffic, busy, pages = self._page, self._service.traffic, self._pace.busy, self._pages
        moved = {
            "gpu_to_host": (traffic.host_out, busy.host_out),
            "host_to_gpu": (traffic.host_in, busy.host_in),
            "gpu_to_ssd": (traffic.ssd_out, busy.ssd_out),
            "ssd_to_gpu": (traffic.ssd_in, busy.ssd_in),
            "pcie_in": (traffic.host_in + traffic.ssd_in, busy.pcie_in),
            "pcie_out": (traffic.host_out + traffic.ssd_out, busy.pcie_out),
        }
        links = {name: LinkUse(count * page, busy_ns) for name, (count, busy_ns) in moved.items()}
        return SimResult(
            program=self._step.name,
            machine=self._machine.name,
            runtime="uvm",
            iteration_time_ns=times_ns[-1],
            ideal_time_ns=self._step.ideal_time_ns,
            links=links,
            peak_bytes={"gpu": pages.peak_gpu * page, "host": pages.peak_used[HOST] * page, "ssd": pages.peak_used[SSD] * page},
            faults=self._faults,
            fault_kernels=self._fault_kernels,
            allocated_bytes=traffic.allocated * page,
            kernels=tuple(self._kernels),
            step_times_ns=times_ns,
        )


def operands(kernel: Kernel) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tensors that a kernel reads, and those it only writes, each in the order in which they fault.

    The last operand faults first: the artifact keeps operands in hash sets (``CUDAKernel::inputs``), which iterate from the newest
    element to the oldest.
    """
    read = tuple(dict.fromkeys(reversed(kernel.reads)))
    return read, tuple(tensor for tensor in dict.fromkeys(reversed(kernel.writes)) if tensor not in read)
