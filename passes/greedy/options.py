"""Options of the greedy migration planner, each with its default and where that comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from g10c.ir.step import Tier

Preallocate = Literal["always", "until-fits", "never"]
TieOrder = Literal["artifact", "stable"]

ARTIFACT_GIGABYTE = (1 << 30) / 10**9
"""The artifact's planner reads GB/s as 2^30 bytes per second, its simulator as 10^9 (``analysis.cc``, ``simulationComponents.cc``)."""


@dataclass(frozen=True, slots=True)
class GreedyOptions:
    """What the planner may do, and the constants of its rules. The defaults are those of the G10 artifact, but for ``preallocate``."""

    memory_line: float = 1.0
    """Factor on the line below which memory use is to be brought. Above 1 it tolerates some demand paging."""
    line_fraction: float = 0.99
    """Share of GPU memory that the line stands for, before ``memory_line`` (artifact, ``scheduling_prefetch``)."""
    delta: float = 0.5
    """Safety margin: a period has to be longer than ``2 + delta`` transfers (artifact, configuration ``delta_parameter``)."""
    targets: tuple[Tier, ...] = ("host", "ssd")
    """Tiers that an eviction may go to."""
    preallocate: Preallocate = "always"
    """Which intermediates get ``alloc`` and ``free``. The artifact takes them in declaration order ``until-fits``: until memory use is
    below the line, and leaves the rest where it is. With ``never`` the plan counts on the runtime to allocate and free."""
    eager_prefetch: bool = True
    """Prefetch as early as memory allows, not just in time (G10, MICRO'23, section 4.3)."""
    eager_needs_room: bool = False
    """Prefetch early only while memory stays below the line with the tensor in it. The artifact looks at memory without the tensor, so that
    what it prefetches early may go above the line again."""
    evict_at_peak: bool = False
    """Last, evict to SSD what lies idle at the peak and is not moved yet, to be fetched on demand.

    The artifact does so for the explicit-copy runtime (G10-GDS and G10-Host)."""
    planner_bandwidth_factor: float = ARTIFACT_GIGABYTE
    """Factor on the machine's bandwidths while planning. 1 plans with what the simulator uses."""
    clock_ghz: float = 1.2
    """Kernel times are truncated to ticks of this clock (the artifact counts GPU cycles). 1 plans with whole ns."""
    first_tensor_is_input: bool = True
    """Take the first declared tensor for the input batch as the artifact does: neither allocated nor freed, and counted twice."""
    artifact_wrap_score: bool = True
    """Score periods across the step's end as the artifact does: a table index that is off by one takes the whole step's time off
    the score when the first kernel is above memory, and pairs the kernels after it with the time of the one before."""
    tie_order: TieOrder = "artifact"
    """Which of equal candidates, and of moves of one kernel, comes first: as the artifact's C++ library sorts, or in the given order."""
