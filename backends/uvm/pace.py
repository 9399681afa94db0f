"""What both ways of moving pages have in common: :mod:`batches <g10c.backends.uvm.batches>` and :mod:`fluid <g10c.backends.uvm.fluid>`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from g10c.backends.uvm.observer import Watch
from g10c.backends.uvm.period import Period

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

        Raises :class:`~g10c.backends.uvm.errors.StuckError` without a text when nothing can proceed.
        """
        ...


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
