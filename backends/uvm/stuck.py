"""Says why a step cannot run: which kernel waits, for what, and how much there is."""

from __future__ import annotations

from g10c.backends.uvm.errors import StuckError
from g10c.backends.uvm.pages import ABSENT, HOST, SSD
from g10c.backends.uvm.service import Service
from g10c.ir.machine import Machine
from g10c.ir.step import Kernel, Step


def _operands(kernel: Kernel) -> list[int]:
    return list(dict.fromkeys((*kernel.reads, *kernel.writes)))


def _named(step: Step, tensors: list[int], machine: Machine) -> str:
    page = machine.uvm.page
    return ", ".join(f"{step.tensors[t].name} ({machine.pages(step.tensors[t].size_bytes) * page} bytes)" for t in tensors)


def check_fits(step: Step, machine: Machine) -> None:
    """Raise :class:`StuckError` if a kernel alone does not fit in GPU memory."""
    page = machine.uvm.page
    available = machine.gpu.usable // page * page
    for number, kernel in enumerate(step.kernels):
        tensors = _operands(kernel)
        needed = sum(machine.pages(step.tensors[tensor].size_bytes) for tensor in tensors) * page
        if needed > available:
            raise StuckError(
                f"kernel {number} ({kernel.name}) does not fit in GPU memory: it needs {needed} bytes at once, {available} are available; "
                f"its tensors are {_named(step, tensors, machine)}"
            )


def explain(step: Step, number: int, service: Service, machine: Machine) -> str:
    """Why nothing proceeds although kernel ``number`` waits for pages."""
    pages, page, kernel = service.pages, machine.uvm.page, step.kernels[number]
    missing = []
    for tensor in _operands(kernel):
        count = pages.sizes[tensor] - pages.resident[tensor]
        if count:
            where = [
                f"{pages.coming[place][tensor] * page} {label}"
                for place, label in ((HOST, "in host memory"), (SSD, "on SSD"), (ABSENT, "not allocated"))
                if pages.coming[place][tensor]
            ]
            if pages.leaving[tensor]:
                where.append(f"{pages.leaving[tensor] * page} queued to leave")
            missing.append(f"{step.tensors[tensor].name} ({count * page} bytes: {', '.join(where)})")
    leaving = sum(pages.leaving) * page
    waiting = f" and {leaving} waiting to leave" if leaving else ""
    text = (
        f"nothing can proceed: kernel {number} ({kernel.name}) waits for {', '.join(missing)}; "
        f"GPU memory has {pages.free * page} of {pages.gpu_pages * page} bytes free{waiting}, "
        f"host memory {(pages.host_pages - pages.used[HOST]) * page} of {pages.host_pages * page}, "
    )
    if not machine.ssd.bandwidth:
        return text + "and there is no SSD"
    if machine.uvm.batch_pages and machine.uvm.batch_pages * machine.ssd.bandwidth < machine.pcie.bandwidth:
        return text + (
            f"and the SSD ({machine.ssd.bandwidth} bytes/s) moves less than a page in one batch of {machine.uvm.batch_pages} pages: "
            "larger batches, or uvm.batch_pages = 0, can use it"
        )
    return text + "and no page in GPU memory may leave"
