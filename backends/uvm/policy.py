"""The policy of plain demand paging."""

from __future__ import annotations

from dataclasses import dataclass

from g10c.compiler.protocols import Policy


@dataclass(frozen=True)
class FifoEviction(Policy):
    """Nothing is fetched ahead, everything may be evicted in order of arrival, and dead tensors are moved like any other."""

    name = "fifo"
