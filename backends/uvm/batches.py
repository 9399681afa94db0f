"""Pages in batches of a fixed period, as the artifact has it."""

from __future__ import annotations

from g10c.backends.uvm.observer import Watch
from g10c.backends.uvm.pace import NO_LIMIT, NS, Busy, account, serve_kernel
from g10c.backends.uvm.period import Limits, Period
from g10c.backends.uvm.repetition import Repetition
from g10c.backends.uvm.service import Service
from g10c.ir.machine import Machine


def allocation_limit(machine: Machine) -> int:
    """Pages that can be mapped in one period (the artifact's ``alloc_batch_num``)."""
    cost_ns = machine.gpu.malloc_time_per_byte * machine.uvm.page
    if cost_ns <= 0:
        return NO_LIMIT
    return max(1, int(machine.uvm.batch_pages * machine.uvm.page * NS / machine.pcie.bandwidth / cost_ns))


class BatchPace:
    """Batches of ``uvm.batch_pages`` pages, one per PCIe period, from time 0 on.

    Batch ``j`` is at ``j * pages * page_size / bandwidth``, rounded down to a nanosecond, so that no error accumulates. (The artifact
    truncates the period to a cycle of 1.2 GHz: with 15.754 GB/s its batches are faster by 5.4e-5.)
    """

    def __init__(self, service: Service, machine: Machine) -> None:
        batch = machine.uvm.batch_pages
        self.service = service
        self.busy = Busy()
        self.watch: Watch | None = None
        self._bandwidth = machine.pcie.bandwidth
        self._period = batch * machine.uvm.page * NS  # in 1/bandwidth of a nanosecond
        ssd = min(batch, batch * machine.ssd.bandwidth // machine.pcie.bandwidth)
        self.limits = Limits(batch, ssd, allocation_limit(machine))
        self._repetition = Repetition(service)
        self._slack = 4 * batch
        self._next = 0

    def _time_ns(self, batch: int) -> int:
        return batch * self._period // self._bandwidth

    def advance(self, until_ns: int) -> None:
        """Run all batches before ``until_ns``."""
        end = -(-until_ns * self._bandwidth // self._period)
        self._repetition.restart()
        while self._next < end and not self.service.idle:
            if not self._serve(end - self._next):
                break
        if self.watch is not None and self._next < end and not self.service.idle:
            self.watch.queued(self._time_ns(self._next), self._time_ns(end))
        self._next = max(self._next, end)

    def settle(self) -> int:
        """Run batches until the current kernel has all its pages; the time of the last of them (ns)."""
        self._repetition.restart()
        serve_kernel(self.service, lambda: self._serve(NO_LIMIT))
        return self._time_ns(self._next - 1)

    def _serve(self, limit: int) -> bool:
        """One batch, and those of its repetitions, at most ``limit`` batches in all, that are exact; whether anything moved."""
        service, repetition = self.service, self._repetition
        repetition.before(self._slack)
        period = service.serve(self.limits)
        self._next += 1
        self._account([period], 1)
        if not period.moved:
            return False
        cycle, times = repetition.after(period, self._slack, limit - 1)
        if times:
            service.repeat(cycle, times, self._slack)
            repetition.restart()
            self._next += times * len(cycle)
            self._account(cycle, times)
        return True

    def _account(self, cycle: list[Period], times: int) -> None:
        """Account for the last ``times`` repetitions of ``cycle``."""
        start, end = self._time_ns(self._next - times * len(cycle)), self._time_ns(self._next)
        for period in cycle:
            account(period, self.busy, (end - start) // len(cycle))
        if self.watch is not None:
            self.watch.report(start, end)
