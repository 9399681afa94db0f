"""Where the pages of every tensor are, and how full each tier is."""

from __future__ import annotations

from g10c.backends.uvm.order import ArrivalOrder
from g10c.backends.uvm.runs import PageQueue, Parts
from g10c.ir.errors import InternalError

HOST = 0
SSD = 1
ABSENT = 2
"""Places outside GPU memory: host memory, SSD, and nowhere (not allocated, or freed)."""

PLACES = (HOST, SSD, ABSENT)


class Pages:
    """Pages by tensor and state; the states are disjoint and their sum is the tensor's size.

    ``resident``: in GPU memory and evictable; ``leaving``: in GPU memory, queued for a planned eviction;
    ``away[place]``: outside and not queued; ``coming[place]``: outside and queued to come in. Queued pages are *in transfer* in the
    artifact's terms: directives on them are dropped.
    """

    def __init__(self, sizes: list[int], gpu_pages: int, host_pages: int) -> None:
        tensors = len(sizes)
        self.sizes = sizes
        self.gpu_pages = gpu_pages
        self.host_pages = host_pages
        self.free = gpu_pages
        self.used = [0, 0, 0]
        """Pages at each place outside GPU memory, queued ones included."""
        self.resident = [0] * tensors
        self.leaving = [0] * tensors
        self.away = [[0] * tensors for _ in PLACES]
        self.coming = [[0] * tensors for _ in PLACES]
        self.order = ArrivalOrder(tensors)
        self.total = sum(sizes)
        self.peak_gpu = 0
        self.peak_used = [0, 0, 0]

    def place(self, tensor: int, place: int) -> None:
        """Put a whole tensor at a place before the first step."""
        self.away[place][tensor] = self.sizes[tensor]
        self.used[place] += self.sizes[tensor]

    def place_on_gpu(self, tensor: int) -> None:
        """Put a whole tensor in GPU memory before the first step."""
        pages = self.sizes[tensor]
        if pages:
            self.resident[tensor] = pages
            self.free -= pages
            self.order.append([(tensor, pages)])

    def is_resident(self, tensor: int) -> bool:
        """Whether all pages of a tensor are in GPU memory and none is queued to leave."""
        return self.resident[tensor] == self.sizes[tensor]

    def in_transfer(self, tensor: int) -> bool:
        """Whether a page of the tensor is queued in either direction."""
        coming = self.coming
        return bool(self.leaving[tensor] or coming[HOST][tensor] or coming[SSD][tensor] or coming[ABSENT][tensor])

    def request(self, tensor: int, place: int, queue: PageQueue, limit: int) -> int:
        """Queue up to ``limit`` pages of a tensor that are at ``place``; the number queued."""
        pages = min(limit, self.away[place][tensor])
        if pages:
            self.away[place][tensor] -= pages
            self.coming[place][tensor] += pages
            queue.push(tensor, pages)
        return pages

    def request_eviction(self, tensor: int, queue: PageQueue, limit: int) -> int:
        """Queue up to ``limit`` evictable pages of a tensor for a planned eviction; the number queued."""
        pages = self.order.remove(tensor, min(limit, self.resident[tensor]))
        if pages:
            self.resident[tensor] -= pages
            self.leaving[tensor] += pages
            queue.push(tensor, pages)
        return pages

    def discard(self, tensor: int, limit: int) -> None:
        """Free up to ``limit`` pages that are not in transfer at once, in GPU memory first, then on SSD and on the host."""
        pages = self.order.remove(tensor, min(limit, self.resident[tensor]))
        self.resident[tensor] -= pages
        self.free += pages
        left = limit - pages
        for place in (SSD, HOST):
            count = min(left, self.away[place][tensor])
            self.away[place][tensor] -= count
            self.used[place] -= count
            pages += count
            left -= count
        self.away[ABSENT][tensor] += pages
        self.used[ABSENT] += pages

    def land_outside(self, parts: Parts, pages: int, place: int) -> None:
        """Pages that left GPU memory are now at ``place``."""
        away = self.away[place]
        for tensor, count in parts:
            away[tensor] += count
        self.free += pages
        self.used[place] += pages

    def land_inside(self, parts: Parts, pages: int, place: int) -> None:
        """Queued pages of ``place`` are now in GPU memory; the caller enters them into the arrival order."""
        coming = self.coming[place]
        for tensor, count in parts:
            coming[tensor] -= count
            self.resident[tensor] += count
        self.free -= pages
        self.used[place] -= pages

    def check(self) -> None:
        """Verify the tiers' limits, and update peaks. Constant time: called after every service."""
        used = self.used
        gpu = self.gpu_pages - self.free
        if not 0 <= gpu <= self.gpu_pages or used[HOST] > self.host_pages or min(used) < 0:
            raise InternalError.at(f"tier over-full: gpu {gpu}/{self.gpu_pages} pages, host {used[HOST]}/{self.host_pages}, all {used}")
        if gpu + used[HOST] + used[SSD] + used[ABSENT] != self.total:
            raise InternalError.at(f"pages lost: gpu {gpu} + outside {used} is not {self.total}")
        if gpu > self.peak_gpu:
            self.peak_gpu = gpu
        peak = self.peak_used
        if used[HOST] > peak[HOST]:
            peak[HOST] = used[HOST]
        if used[SSD] > peak[SSD]:
            peak[SSD] = used[SSD]

    def check_tensor(self, tensor: int) -> None:
        """Verify that the states of a tensor's pages sum to its size. Called for the tensors of a kernel as it ends."""
        count = self.resident[tensor] + self.leaving[tensor]
        count += sum(self.away[place][tensor] + self.coming[place][tensor] for place in PLACES)
        if count != self.sizes[tensor]:
            raise InternalError.at(f"tensor {tensor} has {count} pages in all states, not {self.sizes[tensor]}")

    def reset_peaks(self) -> None:
        """Start measuring peaks anew."""
        self.peak_gpu = self.gpu_pages - self.free
        self.peak_used = list(self.used)
