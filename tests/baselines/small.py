"""Small machines and runs for tests of the pool: a page is a byte, PCIe carries 4 bytes per ns, the SSD 1, so that host copies carry 3."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from small_models import SmallModel

from g10c.backends.direct.places import Places
from g10c.backends.pool.runner import simulate_pool
from g10c.compiler.protocols import CopyPolicy, CopyRules, Pool
from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.result import SimResult
from g10c.ir.step import Move, Step


def machine(gpu: int = 100, host: int = 1000, pcie: int = 4, ssd: int = 1) -> Machine:
    return Machine("small", Gpu(memory=gpu), Host(host), Link(pcie * 10**9), Link(ssd * 10**9), Uvm(page=1))


@dataclass
class Told(CopyPolicy):
    """Fetches what it is told, by kernel, under rules with changes."""

    changes: dict[str, object] = dataclasses.field(default_factory=dict)
    fetches: dict[int, Sequence[int]] = dataclasses.field(default_factory=dict)
    seen: Callable[[int, Pool], None] | None = None

    def begin(self, step: Step, moves: Sequence[Move], machine: Machine) -> CopyRules:
        return dataclasses.replace(CopyRules.of(machine), **self.changes)

    def fetch_after(self, kernel: int, pool: Pool) -> Sequence[int]:
        if self.seen:
            self.seen(kernel, pool)
        return self.fetches.get(kernel, ())


def play(model: SmallModel, *moves: str, on: Machine | None = None, policy: CopyPolicy | None = None, steps: int = 1) -> SimResult:
    return simulate_pool(Places(model.step), model.moves(*moves), on or machine(), policy or Told(), steps=steps, timeline=True)


def spans(found: SimResult) -> list[tuple[int, int]]:
    """When each kernel ran: its begin, after its stall, and its end."""
    return [(kernel.start_ns + kernel.stall_ns, kernel.end_ns) for kernel in found.kernels]


def copies(found: SimResult) -> list[tuple[str, str, int, int]]:
    return [(copy.tensor, copy.link, copy.start_ns, copy.end_ns) for copy in found.copies]
