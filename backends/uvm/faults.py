"""What resolving the page faults of a kernel costs beyond its own time."""

from __future__ import annotations

from dataclasses import dataclass

from g10c.ir.machine import Machine
from g10c.ir.step import Kernel

MS = 1_000_000
"""Nanoseconds of a millisecond, the unit of the formula."""

UNLIMITED_RATE = 1_063_004_400.0
"""Bytes per ms where the profiles show no difference (the artifact's stand-in for infinity, about 1.06 TB/s)."""


@dataclass(slots=True)
class Faults:
    """Pages of one kind of operand: ``total``, and those that fault at each place. Pages already in transfer are not counted."""

    total: int = 0
    host: int = 0
    ssd: int = 0
    absent: int = 0

    @property
    def pages(self) -> int:
        """Pages that fault."""
        return self.host + self.ssd + self.absent

    @property
    def share(self) -> float:
        """Share of the operands' pages that fault."""
        return self.pages / self.total if self.total else 0.0

    @property
    def ssd_share(self) -> float:
        """Share of the faults that are on SSD."""
        return self.ssd / self.pages if self.pages else 0.0


class FaultModel:
    """The far-fault model of G10 (section 5; ``performance_model`` in ``simulationEvents.cc``).

    Two profiles of every kernel, all pages faulting and only pages written faulting, give the rate at which faults on what is read and on
    what is written are resolved. Faults on SSD are slower by (system + SSD latency) / system latency; the links cap both.

    With ``uvm.fault_model = "artifact"`` the profiled times enter in whole seconds, as the artifact's integer division has it: they
    are 0 for all but the longest kernels, and the cost is bytes over link bandwidth. Where faults on SSD leave nothing of the PCIe link to
    other faults of both kinds, the cost is infinite there and turns into 0 as it becomes an integer (with none of one kind it is 0/0, and
    the SSD's time counts). ``"profiled"`` is what the formula means.
    """

    def __init__(self, machine: Machine) -> None:
        self._page = machine.uvm.page
        self._whole_seconds = machine.uvm.fault_model == "artifact"
        self._pcie = machine.pcie.bandwidth / 1000
        self._ssd = machine.ssd.bandwidth / 1000
        system_us, ssd_us = machine.uvm.fault_latency_ns / 1000, machine.ssd.latency_ns / 1000
        self._ssd_slowdown = system_us / (system_us + ssd_us) if system_us + ssd_us else 1.0

    def _milliseconds(self, time_ns: int) -> float:
        if self._whole_seconds:
            return time_ns // 1_000_000_000 * 1000.0
        return time_ns / MS

    def cost_ns(self, kernel: Kernel, read: Faults, written: Faults) -> int:
        """Nanoseconds by which the faults delay the end of ``kernel``."""
        output_fault_time_ns = max(kernel.time_ns, kernel.output_fault_time_ns)
        own = self._milliseconds(kernel.time_ns)
        outputs = self._milliseconds(output_fault_time_ns)
        every = self._milliseconds(max(output_fault_time_ns, kernel.all_fault_time_ns))
        read_bytes, written_bytes = read.total * self._page, written.total * self._page
        read_rate = UNLIMITED_RATE if every == outputs else read_bytes / (every - outputs)
        write_rate = UNLIMITED_RATE if outputs == own else written_bytes / (outputs - own)
        read_ssd_rate = min(read_rate * self._ssd_slowdown, self._ssd) if read.ssd else 0.0
        write_ssd_rate = min(write_rate * self._ssd_slowdown, self._ssd) if written.ssd else 0.0
        rest = self._pcie - max(read_ssd_rate, write_ssd_rate)
        other_read = read.share * (1 - read.ssd_share) * read_bytes
        other_written = written.share * (1 - written.ssd_share) * written_bytes
        if self._whole_seconds and rest <= 0 and other_read and other_written:
            return 0
        other_ms = _time(other_read, min(read_rate, rest)) + _time(other_written, min(write_rate, rest))
        ssd_ms = _time(read.share * read.ssd_share * read_bytes, read_ssd_rate)
        ssd_ms += _time(written.share * written.ssd_share * written_bytes, write_ssd_rate)
        return int(max(ssd_ms, other_ms) * MS)


def _time(size: float, rate: float) -> float:
    """Milliseconds for ``size`` bytes at ``rate`` bytes per millisecond; nothing takes no time even at rate 0."""
    return size / rate if size and rate else 0.0
