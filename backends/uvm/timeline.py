"""The timeline of the reported step: copies and memory in use, as an observer keeps them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from g10c.ir.result import Copy, MemorySample, SimResult


@dataclass
class Timeline:
    """Keeps the copies and memory samples of the last step."""

    start_ns: int = 0
    copies: list[Copy] = field(default_factory=list)
    samples: list[MemorySample] = field(default_factory=list)
    stretches: list[tuple[int, int]] = field(default_factory=list)
    """Times in which pages moved or waited."""
    _last: dict[str, int] = field(default_factory=dict)
    """By link, the number of its latest copy."""

    def step(self, number: int, start_ns: int) -> None:
        """A step begins: forget the one before."""
        self.start_ns = start_ns
        self.copies.clear()
        self.samples.clear()
        self.stretches.clear()
        self._last.clear()

    def kernel(self, kernel: int, start_ns: int, end_ns: int, fault_ns: int) -> None:
        """Kernels are in the result already."""

    def copy(self, link: str, start_ns: int, end_ns: int, size_bytes: int) -> None:
        """A stretch of uniform traffic on one link; stretches that touch and have the same rate become one."""
        start, end = start_ns - self.start_ns, end_ns - self.start_ns
        number = self._last.get(link)
        last = self.copies[number] if number is not None else None
        if (
            number is not None
            and last
            and last.end_ns == start
            and last.bytes * (end - start) == size_bytes * (last.end_ns - last.start_ns)
        ):
            self.copies[number] = dataclasses.replace(last, end_ns=end, bytes=last.bytes + size_bytes)
            return
        self._last[link] = len(self.copies)
        self.copies.append(Copy(link, "pages", start, end, size_bytes, "paging"))

    def queued(self, start_ns: int, end_ns: int) -> None:
        """Pages moved or waited; stretches that touch become one."""
        start, end = start_ns - self.start_ns, end_ns - self.start_ns
        if self.stretches and start <= self.stretches[-1][1]:
            start, end = self.stretches[-1][0], max(end, self.stretches.pop()[1])
        self.stretches.append((start, end))

    def memory(self, time_ns: int, gpu: int, host: int, ssd: int) -> None:
        """Bytes in use on each tier, where they change."""
        sample = MemorySample(time_ns - self.start_ns, gpu, host, ssd)
        if not self.samples or (self.samples[-1].gpu, self.samples[-1].host, self.samples[-1].ssd) != (gpu, host, ssd):
            self.samples.append(sample)

    def added_to(self, result: SimResult) -> SimResult:
        """The result with what was kept, cut to the step: a page may be on its way when the step begins or ends."""
        end = result.iteration_time_ns
        copies = [dataclasses.replace(c, start_ns=max(0, c.start_ns), end_ns=min(end, c.end_ns)) for c in self.copies]
        samples = [dataclasses.replace(s, time_ns=min(max(0, s.time_ns), end)) for s in self.samples]
        kept = tuple(copy for copy in copies if copy.start_ns <= copy.end_ns)
        queued = tuple((max(0, first), min(end, last)) for first, last in self.stretches if last > 0 and first < end)
        return dataclasses.replace(result, copies=kept, memory=tuple(samples), queued=queued)
