"""Says why a step cannot run in a pool: which kernel wants what, and how much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from g10c.backends.direct.actions import kernel_text, sizes
from g10c.ir.errors import Diagnostic, InfeasibleError
from g10c.ir.values import human_size

if TYPE_CHECKING:
    from g10c.backends.pool.player import Player


def no_room(player: Player, kernel: int, tensor: int) -> InfeasibleError:
    """The error when a kernel's tensor finds no place, and nothing that is on its way will make room."""
    step, page = player.step, player.page
    needed, hole, free = player.place_bytes(tensor), player.largest_hole_bytes, player.space.free * page
    message = (
        f"{kernel_text(step, kernel)} needs {human_size(needed)} in one piece for %{step.tensors[tensor].name}; the largest free piece of "
        f"{human_size(player.rules.memory_bytes)} of GPU memory has {human_size(hole)}: {human_size(needed - hole)} are missing, "
        f"{human_size(free)} are free in all"
    )
    held = sizes(step, [(player.place_bytes(other), other) for other in player.place])
    return InfeasibleError(Diagnostic(message, player.places.kernel(kernel), f"in the pool are {held}"))


def nothing_proceeds(player: Player, kernel: int) -> InfeasibleError:
    """The error when a kernel waits for copies that never end."""
    step = player.step
    parts = []
    for engine in player.engines:
        names = ", ".join(f"%{step.tensors[transfer.tensor].name}" for transfer in list(engine.queue)[:3])
        if names:
            parts.append(f"{engine.name} cannot begin with {names}")
    room = human_size(player.machine.host.memory)
    message = f"nothing can proceed: {kernel_text(step, kernel)} waits for copies; {'; '.join(parts) or 'none is on its way'}"
    return InfeasibleError(Diagnostic(message, player.places.kernel(kernel), f"host memory has {room}: --set host.memory=... changes that"))


def weights_do_not_fit(player: Player) -> InfeasibleError:
    """The error when the tensors that are always there, and the scratch room, exceed the pool."""
    step, page = player.step, player.page
    weights = [(player.place_bytes(number), number) for number, tensor in enumerate(step.tensors) if tensor.persistent]
    needed, there = sum(size for size, _ in weights), player.space.size * page
    message = (
        f"the persistent tensors of {step.name} need {human_size(needed)} of GPU memory from the start, and scratch room besides; "
        f"there are {human_size(there)}"
    )
    return InfeasibleError(Diagnostic(message, player.places.whole(), f"the largest: {sizes(step, weights)}"))
