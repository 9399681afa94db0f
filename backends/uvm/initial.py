"""Where everything is before the first step."""

from __future__ import annotations

from g10c.backends.uvm.pages import ABSENT, HOST, SSD, Pages
from g10c.ir.errors import InfeasibleError
from g10c.ir.machine import Machine
from g10c.ir.step import Step
from g10c.ir.values import human_size


def initial_pages(step: Step, machine: Machine) -> Pages:
    """Persistent tensors on SSD, all others nowhere (``EventSimulator`` in ``simulator.cc``).

    Without an SSD persistent tensors start in host memory, and those that do not fit there in GPU memory.
    """
    page = machine.uvm.page
    sizes = [machine.pages(tensor.size_bytes) for tensor in step.tensors]
    pages = Pages(sizes, machine.gpu.usable // page, machine.host.memory // page)
    for number, tensor in enumerate(step.tensors):
        if not tensor.persistent:
            pages.place(number, ABSENT)
        elif machine.ssd.bandwidth > 0:
            pages.place(number, SSD)
        elif pages.used[HOST] + sizes[number] <= pages.host_pages:
            pages.place(number, HOST)
        elif pages.free >= sizes[number]:
            pages.place_on_gpu(number)
        else:
            raise _no_room(step, machine)
    pages.check()
    return pages


def _no_room(step: Step, machine: Machine) -> InfeasibleError:
    size = sum(tensor.size_bytes for tensor in step.tensors if tensor.persistent)
    return InfeasibleError.at(
        f"the persistent tensors of {step.name} ({human_size(size)}) fit nowhere: {machine.name} has {human_size(machine.gpu.usable)} "
        f"of GPU memory, {human_size(machine.host.memory)} of host memory and no SSD",
        None,
        "give the machine more host memory or an SSD: --set host.memory=64GiB",
    )
