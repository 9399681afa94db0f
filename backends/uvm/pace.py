"""What both ways of moving pages have in common: :mod:`batches <g10c.backends.uvm.batches>` and :mod:`fluid <g10c.backends.uvm.fluid>`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from g10c.backends.uvm.errors import StalledError
from g10c.backends.uvm.observer import Watch
from g10c.backends.uvm.period import Period
from g10c.backends.uvm.service import Service

NS = 1_000_000_000
"""Nanoseconds of a second."""

NO_LIMIT = 1 << 60
"""Pages of a limit that does not bind."""


@dataclass(slots=True)
class Busy:
    """Nanoseconds of the step in which a direction carried at least one page."""

    host_in: int = 0
    ssd_in: int = 0
    host_out: int = 0
    ssd_out: int = 0
    pcie_in: int = 0
    pcie_out: int = 0


class Pace(Protocol):
    """Moves pages as time passes."""

    busy: Busy
    watch: Watch | None

    def advance(self, until_ns: int) -> None:
        """Let time pass until ``until_ns`` while a kernel runs."""
        ...

    def settle(self) -> int:
        """Let time pass until the current kernel has all its pages; the time at which the last arrives (ns).

        Raises :class:`~g10c.backends.uvm.errors.StalledError` without a text when nothing can proceed.
        """
        ...


class Patience:
    """Notices that the current kernel will never have all its pages although pages move.

    Victims leave in order of arrival, so while a kernel waits and nothing but its faults is served, each page of GPU memory goes at most
    once round before only the kernel's own are left. More than that without any progress of other queues is a livelock.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._left = 0
        self._limit = 0
        self._extend()

    def _came(self) -> int:
        traffic = self._service.traffic
        return traffic.host_in + traffic.ssd_in + traffic.allocated

    def _extend(self) -> None:
        service = self._service
        queued = sum(queue.pages for queue in service.queues)
        self._left = queued - sum(lane.queue.pages for lane in service.faults)
        self._limit = self._came() + 2 * (service.pages.gpu_pages + queued)

    @property
    def ends(self) -> bool:
        """Whether waiting longer is pointless."""
        if self._came() <= self._limit:
            return False
        before = self._left
        self._extend()
        return self._left == before


def serve_kernel(service: Service, serve: Callable[[], bool]) -> None:
    """Call ``serve``, which says whether anything moved, until the current kernel has all its pages.

    Raises :class:`~g10c.backends.uvm.errors.StalledError` when it never will.
    """
    service.waiting = True
    patience = Patience(service)
    while waits(service):
        if patience.ends or not serve():
            raise StalledError
    service.waiting = False


def waits(service: Service) -> bool:
    """Whether a page fault is unresolved, or a page of the current kernel is on its way."""
    pages = service.pages
    return service.faulting or any(pages.in_transfer(tensor) for tensor in service.required)


def account(last: Period, busy: Busy, duration_ns: int) -> None:
    """Add ``duration_ns`` to the directions that a period used."""
    if last.into:
        busy.pcie_in += duration_ns
        if last.into_ssd:
            busy.ssd_in += duration_ns
        if last.into > last.into_ssd:
            busy.host_in += duration_ns
    if last.out:
        busy.pcie_out += duration_ns
        if last.out_ssd:
            busy.ssd_out += duration_ns
        if last.out > last.out_ssd:
            busy.host_out += duration_ns
