"""What one period of page traffic may carry, and what it carried."""

from __future__ import annotations

from dataclasses import dataclass, field

from g10c.backends.uvm.runs import PageQueue, Parts, Run


@dataclass(frozen=True, slots=True)
class Limits:
    """Pages that one period can carry: over the PCIe link and to or from the SSD in each direction, and mapped in GPU memory."""

    pcie: int
    ssd: int
    allocations: int


class Lane:
    """A queue of pages that come in from one place. ``demand``: the current kernel waits for them."""

    __slots__ = ("demand", "place", "queue")

    def __init__(self, place: int, *, demand: bool) -> None:
        self.queue = PageQueue()
        self.place = place
        self.demand = demand


@dataclass(slots=True)
class Traffic:
    """Pages moved since the step began, and periods in which each direction was in use."""

    host_in: int = 0
    ssd_in: int = 0
    allocated: int = 0
    host_out: int = 0
    ssd_out: int = 0
    discarded: int = 0


@dataclass(slots=True)
class Period:
    """What one period did, so that it can be done again: pages taken from runs, pages queued to come back, and pages that came in."""

    planned: list[tuple[Run, Parts, int, int]] = field(default_factory=list)
    """Planned evictions: run, pages, their number, where to."""
    victims: list[tuple[Run, Parts, int, int, frozenset[int]]] = field(default_factory=list)
    """Evictions under pressure: run, pages, their number, where to, tensors passed over."""
    inward: list[tuple[Lane, Run, Parts, int]] = field(default_factory=list)
    """What came in: lane, run, pages, their number."""
    returning: list[tuple[int, Parts]] = field(default_factory=list)
    """Pages evicted although the current kernel needs them: where they are now, pages."""
    arrivals: Parts = field(default_factory=list)
    """Pages that came in, in order, and are not yet in the arrival order."""
    came: Parts = field(default_factory=list)
    """Pages that came in, in order."""
    out: int = 0
    out_ssd: int = 0
    into: int = 0
    into_ssd: int = 0
    mapped: int = 0

    @property
    def moved(self) -> bool:
        """Whether anything moved."""
        return bool(self.planned or self.victims or self.inward)


def consumption(cycle: list[Period]) -> tuple[dict[Run, int], dict[tuple[Run, frozenset[int]], int]]:
    """Pages that the periods took from runs: of queues, and of the arrival order by run and tensors passed over."""
    served: dict[Run, int] = {}
    victims: dict[tuple[Run, frozenset[int]], int] = {}
    for period in cycle:
        for run, _, count, _ in period.planned:
            served[run] = served.get(run, 0) + count
        for _, run, _, count in period.inward:
            served[run] = served.get(run, 0) + count
        for run, _, count, _, spared in period.victims:
            victims[run, spared] = victims.get((run, spared), 0) + count
    return served, victims
