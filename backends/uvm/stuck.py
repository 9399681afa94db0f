"""Says why a step cannot run: which kernel waits, for what, and how much there is."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.backends.uvm.pages import ABSENT, HOST, SSD
from g10c.backends.uvm.service import Service
from g10c.ir.errors import Diagnostic, InfeasibleError
from g10c.ir.machine import Machine
from g10c.ir.source import Location
from g10c.ir.step import Kernel, Step
from g10c.ir.values import human_size

NAMED = 6
"""Tensors named in a message; the rest is counted."""


def _operands(kernel: Kernel) -> list[int]:
    return list(dict.fromkeys((*kernel.reads, *kernel.writes)))


def _place(locations: Sequence[Location | None], kernel: int) -> Location | None:
    return locations[kernel] if kernel < len(locations) else None


def check_fits(step: Step, machine: Machine, locations: Sequence[Location | None] = ()) -> None:
    """Raise :class:`InfeasibleError` for the first kernel that alone does not fit in GPU memory, counting the others."""
    page = machine.uvm.page
    available = machine.gpu.usable // page
    sizes = [machine.pages(tensor.size_bytes) for tensor in step.tensors]
    needed = [sum(sizes[tensor] for tensor in _operands(kernel)) for kernel in step.kernels]
    too_large = [number for number, pages in enumerate(needed) if pages > available]
    if not too_large:
        return
    first = too_large[0]
    tensors = sorted(_operands(step.kernels[first]), key=lambda tensor: -sizes[tensor])
    message = (
        f"kernel {first} ({step.kernels[first].name}) alone needs {human_size(needed[first] * page)} of GPU memory, "
        f"{machine.name} has {human_size(available * page)}"
    )
    hint = "its tensors: " + _listed([f"%{step.tensors[tensor].name} {human_size(sizes[tensor] * page)}" for tensor in tensors])
    if len(too_large) > 1:
        hint += f"; {len(too_large)} kernels do not fit, the largest needs {human_size(max(needed) * page)}"
    raise InfeasibleError(Diagnostic(message, _place(locations, first), hint))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def stuck(step: Step, number: int, service: Service, machine: Machine, locations: Sequence[Location | None] = ()) -> InfeasibleError:
    """The error when nothing proceeds although kernel ``number`` waits for pages: who waits for what, and how much there is."""
    pages, page, kernel = service.pages, machine.uvm.page, step.kernels[number]
    missing = []
    for tensor in _operands(kernel):
        count = pages.sizes[tensor] - pages.resident[tensor]
        if count:
            where = [
                f"{human_size(pages.coming[place][tensor] * page)} {label}"
                for place, label in ((HOST, "in host memory"), (SSD, "on SSD"), (ABSENT, "not allocated"))
                if pages.coming[place][tensor]
            ]
            if pages.leaving[tensor]:
                where.append(f"{human_size(pages.leaving[tensor] * page)} queued to leave")
            missing.append(f"%{step.tensors[tensor].name} ({', '.join(where)})")
    leaving = sum(pages.leaving) * page
    free = f"{human_size(pages.free * page)} of {human_size(pages.gpu_pages * page)} of GPU memory"
    host = f"{human_size((pages.host_pages - pages.used[HOST]) * page)} of {human_size(pages.host_pages * page)} of host memory"
    waiting = f", {human_size(leaving)} waits to leave" if leaving else ""
    message = f"nothing can proceed: kernel {number} ({kernel.name}) waits for {_listed(missing)}; free are {free} and {host}{waiting}"
    return InfeasibleError(Diagnostic(message, _place(locations, number), _way_out(machine)))


def _way_out(machine: Machine) -> str:
    ssd, pcie, batch = machine.ssd.bandwidth, machine.pcie.bandwidth, machine.uvm.batch_pages
    if not ssd:
        return "there is no SSD: give the machine one, or more host memory: --set ssd.bandwidth=4GB/s"
    if batch and batch * ssd < pcie:
        return f"the SSD moves less than a page in one batch of {batch} pages: --set uvm.batch_pages=0, or larger batches, can use it"
    return "no page in GPU memory may leave: give the machine more GPU or host memory"
