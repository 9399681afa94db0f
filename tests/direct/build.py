"""Small steps, plans and machines, written short: a byte takes a nanosecond on PCIe and two on the SSD's link."""

from __future__ import annotations

from small_models import SmallModel

from g10c.backends.direct import simulate_direct
from g10c.ir.machine import Gpu, Host, Link, Machine

BYTE_PER_NS = 10**9


def machine(gpu=100, host=1000, pcie=BYTE_PER_NS, ssd=BYTE_PER_NS // 2, pcie_latency=0, ssd_latency=0, reserved=0) -> Machine:
    return Machine("small", Gpu(memory=gpu, reserved=reserved), Host(host), Link(pcie, pcie_latency), Link(ssd, ssd_latency))


class Model(SmallModel):
    """A step that runs under the direct runtime."""

    def run(self, moves="", on=None, steps=1, **options):
        """Simulate with moves given one a line."""
        lines = [line for line in moves.splitlines() if line.strip()]
        return simulate_direct(self.step, self.moves(*lines), on or machine(), steps=steps, **options)


def starts(result) -> list[int]:
    return [kernel.start_ns + kernel.stall_ns for kernel in result.kernels]


def stalls(result) -> list[int]:
    return [kernel.stall_ns for kernel in result.kernels]


def used(result) -> dict[str, tuple[int, int]]:
    """Bytes and busy time of the links that moved anything."""
    return {name: (use.bytes, use.busy_ns) for name, use in result.links.items() if use.bytes or use.busy_ns}
