"""Small steps, plans and machines, written short: a page is one byte, and crosses PCIe in a nanosecond."""

from __future__ import annotations

from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm

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


class Recorder:
    """Keeps what an observer is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []
        self.kernels: list[tuple[int, int, int, int]] = []
        self.copies: list[tuple[str, int, int, int]] = []
        self.stretches: list[tuple[int, int]] = []
        self.samples: list[tuple[int, int, int, int]] = []

    def step(self, number: int, start_ns: int) -> None:
        self.steps.append((number, start_ns))

    def kernel(self, kernel: int, start_ns: int, end_ns: int, fault_ns: int) -> None:
        self.kernels.append((kernel, start_ns, end_ns, fault_ns))

    def copy(self, link: str, start_ns: int, end_ns: int, size_bytes: int) -> None:
        self.copies.append((link, start_ns, end_ns, size_bytes))

    def queued(self, start_ns: int, end_ns: int) -> None:
        self.stretches.append((start_ns, end_ns))

    def memory(self, time_ns: int, gpu: int, host: int, ssd: int) -> None:
        self.samples.append((time_ns, gpu, host, ssd))
