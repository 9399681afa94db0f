"""Where persistent tensors are when the first step begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from g10c.backends.direct.actions import sizes, tier_of
from g10c.backends.direct.extents import Extents, Place, State, count, move, whole
from g10c.ir.errors import Diagnostic, InfeasibleError
from g10c.ir.machine import UNLIMITED, Machine
from g10c.ir.source import Origin
from g10c.ir.step import Move, Step
from g10c.ir.values import human_size


@dataclass(frozen=True, slots=True)
class Placement:
    """The state in which the first step begins, and where the plan leaves persistent tensors at the end of a step."""

    state: State
    wanted: Mapping[int, Extents]

    def displaced(self, state: State) -> frozenset[int]:
        """Persistent tensors that are not where the plan wants them when a step begins in ``state``."""
        return frozenset(number for number, extents in self.wanted.items() if state[number] != extents)


def place(step: Step, moves: Sequence[Move], machine: Machine) -> Placement:
    """Find the state in which the first step begins: persistent tensors are somewhere, all others nowhere.

    A persistent tensor begins where the plan leaves it at the end of a step, because the next step begins there: on the tier of its last
    eviction, or on the GPU. What does not fit there begins, in order of declaration, on the GPU as long as that has room, then in host
    memory, then on the SSD: it is displaced, and fetched at its first use.
    Raises :class:`InfeasibleError` when persistent tensors fit nowhere.
    """
    left = _left_by_plan(step, moves)
    room = {Place.GPU: machine.gpu.usable, Place.HOST: machine.host.memory, Place.SSD: UNLIMITED if machine.ssd.bandwidth else 0}
    state: list[Extents] = [()] * len(step.tensors)
    later = []
    for number, tensor in enumerate(step.tensors):
        wanted = left.get(number)
        if wanted is None:
            state[number] = whole(tensor.size_bytes, Place.ABSENT)
        elif _take(room, wanted):
            state[number] = wanted
        else:
            later.append(number)
    for number in later:
        choices = [whole(step.tensors[number].size_bytes, tier) for tier in (Place.GPU, Place.HOST, Place.SSD)]
        state[number] = next((extents for extents in choices if _take(room, extents)), ())
    nowhere = [number for number in later if not state[number]]
    if nowhere:
        raise _fit_nowhere(step, machine, nowhere)
    return Placement(tuple(state), left)


def _left_by_plan(step: Step, moves: Sequence[Move]) -> dict[int, Extents]:
    left = {number: whole(tensor.size_bytes, Place.GPU) for number, tensor in enumerate(step.tensors) if tensor.persistent}
    everywhere = (Place.GPU, Place.HOST, Place.SSD)
    for directive in sorted(moves, key=lambda directive: directive.slot):
        if directive.tensor in left and directive.kind in ("evict", "prefetch"):
            target = tier_of(directive) if directive.kind == "evict" else Place.GPU
            left[directive.tensor] = move(left[directive.tensor], directive.start, directive.end, dict.fromkeys(everywhere, target))
    return left


def _take(room: dict[Place, int], extents: Extents) -> bool:
    """Take the room that extents need, on every place of theirs or on none."""
    needed = count(extents, 0, extents[-1][1]) if extents else {}
    if any(size > room[tier] for tier, size in needed.items()):
        return False
    for tier, size in needed.items():
        room[tier] -= size
    return True


def _fit_nowhere(step: Step, machine: Machine, nowhere: list[int]) -> InfeasibleError:
    persistent = sum(tensor.size_bytes for tensor in step.tensors if tensor.persistent)
    ssd = "an SSD" if machine.ssd.bandwidth else "no SSD"
    message = (
        f"persistent tensors of {human_size(persistent)} do not fit: {machine.name} has {human_size(machine.gpu.usable)} of GPU memory, "
        f"{human_size(machine.host.memory)} of host memory and {ssd}"
    )
    without = sizes(step, [(step.tensors[number].size_bytes, number) for number in nowhere])
    return InfeasibleError(Diagnostic(message, Origin(step.name), f"without a place: {without}"))
