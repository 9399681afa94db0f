"""Small steps, plans and machines, written short: a byte takes a nanosecond on PCIe and two on the SSD's link."""

from __future__ import annotations

from g10c.backends.direct import simulate_direct
from g10c.ir.machine import Gpu, Host, Link, Machine
from g10c.ir.step import Kernel, Move, Step, StepTensor

BYTE_PER_NS = 10**9


def machine(gpu=100, host=1000, pcie=BYTE_PER_NS, ssd=BYTE_PER_NS // 2, pcie_latency=0, ssd_latency=0, reserved=0) -> Machine:
    return Machine("small", Gpu(memory=gpu, reserved=reserved), Host(host), Link(pcie, pcie_latency), Link(ssd, ssd_latency))


class Model:
    """A step by names. ``sizes`` of persistent tensors are given as ``(size,)``; kernels as ``(time, "reads", "writes")``."""

    def __init__(self, sizes: dict[str, int | tuple[int]], kernels: list[tuple[int, str, str]]) -> None:
        self.names = list(sizes)
        tensors = [StepTensor(name, size[0] if isinstance(size, tuple) else size, isinstance(size, tuple)) for name, size in sizes.items()]
        number = self.names.index
        self.step = Step(
            "model",
            tuple(tensors),
            tuple(
                Kernel(f"k{n}", time, time, time, tuple(map(number, reads.split())), tuple(map(number, writes.split())))
                for n, (time, reads, writes) in enumerate(kernels)
            ),
        )

    def move(self, text: str) -> Move:
        """``"3 evict x host 0..10"``: slot, directive, tensor, and where needed tier and range."""
        slot, kind, name, *rest = text.split()
        tier = next((word for word in rest if ".." not in word), None)
        tensor = self.names.index(name)
        span = next((word for word in rest if ".." in word), f"0..{self.step.tensors[tensor].size_bytes}")
        start, end = map(int, span.split(".."))
        return Move(int(slot), kind, tensor, tier, start, end)

    def run(self, moves="", on=None, steps=1, **options):
        """Simulate with moves given one a line."""
        lines = [line for line in moves.splitlines() if line.strip()]
        return simulate_direct(self.step, [self.move(line) for line in lines], on or machine(), steps=steps, **options)


def starts(result) -> list[int]:
    return [kernel.start_ns + kernel.stall_ns for kernel in result.kernels]


def stalls(result) -> list[int]:
    return [kernel.stall_ns for kernel in result.kernels]


def used(result) -> dict[str, tuple[int, int]]:
    """Bytes and busy time of the links that moved anything."""
    return {name: (use.bytes, use.busy_ns) for name, use in result.links.items() if use.bytes or use.busy_ns}
