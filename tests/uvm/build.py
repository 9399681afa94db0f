"""Small steps, plans and machines, written short: a page is one byte, and crosses PCIe in a nanosecond."""

from __future__ import annotations

from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.step import Kernel, Move, Step, StepTensor

BYTE_PER_NS = 10**9


def machine(
    gpu: int = 10,
    host: int = 100,
    pcie: int = BYTE_PER_NS,
    ssd: int = BYTE_PER_NS // 2,
    batch: int = 2,
    page: int = 1,
    reserved: int = 0,
    malloc: float = 0.0,
    fault_model: str = "artifact",
) -> Machine:
    return Machine(
        "small",
        gpu=Gpu(memory=gpu, reserved=reserved, malloc_time_per_byte=malloc),
        host=Host(host),
        pcie=Link(pcie),
        ssd=Link(ssd),
        uvm=Uvm(fault_latency_ns=0, fault_model=fault_model, batch_pages=batch, page=page),
    )


class Model:
    """A step by names. Sizes of persistent tensors are given as ``(size,)``; kernels as ``(time, "reads", "writes")``."""

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

    def moves(self, *texts: str) -> list[Move]:
        """``"3 evict x host 0..10"``: slot, directive, tensor, and where needed tier and range."""
        return [self._move(text) for text in texts]

    def _move(self, text: str) -> Move:
        slot, kind, name, *rest = text.split()
        tensor = self.names.index(name)
        tier = next((word for word in rest if ".." not in word), None)
        span = next((word for word in rest if ".." in word), f"0..{self.step.tensors[tensor].size_bytes}")
        start, end = map(int, span.split(".."))
        return Move(int(slot), kind, tensor, tier, start, end)


class Recorder:
    """Keeps what an observer is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []
        self.kernels: list[tuple[int, int, int, int]] = []
        self.copies: list[tuple[str, int, int, int]] = []
        self.samples: list[tuple[int, int, int, int]] = []

    def step(self, number: int, start_ns: int) -> None:
        self.steps.append((number, start_ns))

    def kernel(self, kernel: int, start_ns: int, end_ns: int, fault_ns: int) -> None:
        self.kernels.append((kernel, start_ns, end_ns, fault_ns))

    def copy(self, link: str, start_ns: int, end_ns: int, size_bytes: int) -> None:
        self.copies.append((link, start_ns, end_ns, size_bytes))

    def memory(self, time_ns: int, gpu: int, host: int, ssd: int) -> None:
        self.samples.append((time_ns, gpu, host, ssd))
