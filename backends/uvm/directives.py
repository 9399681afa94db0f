"""Issues the memory directives of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.backends.uvm.pages import ABSENT, HOST, SSD
from g10c.backends.uvm.service import Service
from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step


class Directives:
    """Moves by the kernel at which they are issued.

    Those of the end of the step come at the first kernel of the next step, before that kernel's own. A byte range is taken as a number of
    pages, those that start in it: pages of a tensor are interchangeable, and the range takes those that came first. Pages in transfer
    are passed over (``KernelBeginEvent::guidedTransfer``).
    """

    def __init__(self, step: Step, moves: Sequence[Move], machine: Machine, service: Service) -> None:
        self._service = service
        self._page = machine.uvm.page
        self._slots: list[list[Move]] = [[] for _ in range(len(step.kernels) + 1)]
        for move in moves:
            self._slots[move.slot].append(move)

    def issue(self, step_number: int, kernel: int) -> None:
        """Issue the moves of a kernel as it becomes current."""
        if kernel == 0 and step_number > 0:
            for move in self._slots[-1]:
                self._issue(move)
        for move in self._slots[kernel]:
            self._issue(move)

    def _issue(self, move: Move) -> None:
        service, limit = self._service, self._pages(move)
        if move.kind == "free":
            service.pages.discard(move.tensor, limit)
        elif move.kind == "evict":
            queue = service.evict_ssd if move.tier == "ssd" else service.evict_host
            service.pages.request_eviction(move.tensor, queue, limit)
        else:
            self.bring(move.tensor, limit)

    def bring(self, tensor: int, limit: int) -> None:
        """Bring in up to ``limit`` pages of a tensor from wherever they are."""
        service = self._service
        for place in (ABSENT, SSD, HOST):
            limit -= service.pages.request(tensor, place, service.ahead[place].queue, limit)

    def _pages(self, move: Move) -> int:
        """Pages that start in the move's range."""
        return -(-move.end // self._page) - -(-move.start // self._page)
