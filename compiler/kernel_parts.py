"""Where the time of each kernel went: computing alone, computing while data move, and waiting (figures 12 and 13 of G10, MICRO'23)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from g10c.ir.result import Copy, SimResult


@dataclass(frozen=True, slots=True)
class KernelParts:
    """Parts of the time from a kernel becoming current to its end, in ns; ``compute``, ``overlap`` and ``stall`` add up to it.

    A kernel waits first and computes then, so that traffic counts as met while waiting before it counts as overlapped.
    """

    compute_ns: int
    """Computing while nothing moves."""
    overlap_ns: int
    """Computing while data move on some link."""
    stall_ns: int
    """Waiting."""
    transfer_ns: int
    """Time in which data move on some link, whatever the kernel does."""

    @property
    def own_ns(self) -> int:
        """Time of the kernel itself."""
        return self.compute_ns + self.overlap_ns

    @property
    def total_ns(self) -> int:
        """Time from becoming current to the end."""
        return self.own_ns + self.stall_ns


def kernel_parts(result: SimResult, busy: Sequence[tuple[int, int]] | None = None) -> list[KernelParts]:
    """The parts of every kernel, in order. The result has to hold its copies: simulate with the option ``timeline``.

    ``busy`` are other times, in order and apart, to count as those in which data move.
    """
    if busy is None:
        busy = busy_stretches(result.copies)
    parts, first = [], 0
    for kernel in result.kernels:
        while first < len(busy) and busy[first][1] <= kernel.start_ns:
            first += 1
        transfer_ns, number = 0, first
        while number < len(busy) and busy[number][0] < kernel.end_ns:
            transfer_ns += min(kernel.end_ns, busy[number][1]) - max(kernel.start_ns, busy[number][0])
            number += 1
        overlap_ns = min(kernel.own_ns, max(0, transfer_ns - kernel.stall_ns))
        parts.append(KernelParts(kernel.own_ns - overlap_ns, overlap_ns, kernel.stall_ns, transfer_ns))
    return parts


def busy_stretches(copies: Iterable[Copy]) -> list[tuple[int, int]]:
    """The times in which at least one copy is on its way, in order and apart."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((copy.start_ns, copy.end_ns) for copy in copies):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
