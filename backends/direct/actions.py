"""Directives with their effect: what a plan does at each kernel, as the lowering finds it and the player times it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from g10c.backends.direct.extents import TIERS, Place
from g10c.ir.step import Move, MoveKind, Step
from g10c.ir.values import human_size

Cause = Literal["directive", "policy"]


@dataclass(frozen=True, slots=True)
class Action:
    """One directive on bytes ``[start, end)`` of a tensor, and the bytes among them that it concerns.

    Bytes that are already where the directive wants them are not counted; an action concerns at least one byte.
    ``tier`` is where an ``evict`` goes to or a ``prefetch`` comes from. A ``free`` drops ``dropped`` bytes of the GPU, host and SSD.
    """

    kind: MoveKind
    tensor: int
    start: int
    end: int
    bytes: int
    slot: int
    tier: Place = Place.ABSENT
    dropped: tuple[int, int, int] = (0, 0, 0)
    number: int = -1
    """Number of the plan's move; negative where the runtime acts of its own accord."""
    cause: Cause = "directive"
    """``policy`` where the runtime acts of its own accord: implicit allocation and freeing, and fetching for a kernel."""

    def text(self, step: Step) -> str:
        """The directive as the IR writes it, and where it is issued."""
        tier = None if self.tier is Place.ABSENT else str(self.tier)
        own = "" if self.cause == "directive" else "implicit "
        return f"{own}{_written(step, self.kind, self.tensor, tier, self.start, self.end)} {at_slot(step, self.slot)}"


def move_text(step: Step, move: Move) -> str:
    """A directive of a plan as the IR writes it, and where it is issued."""
    return f"{_written(step, move.kind, move.tensor, move.tier, move.start, move.end)} {at_slot(step, move.slot)}"


def _written(step: Step, kind: MoveKind, tensor: int, tier: str | None, start: int, end: int) -> str:
    storage = step.tensors[tensor]
    attrs = [f"{'to' if kind == 'evict' else 'from'} = {tier}"] if tier else []
    if (start, end) != (0, storage.size_bytes):
        attrs.append(f"range = {start}B..{end}B")
    return f"{kind}(%{storage.name})" + (f" {{{', '.join(attrs)}}}" if attrs else "")


def kernel_text(step: Step, kernel: int) -> str:
    """A kernel by number and name."""
    return f"kernel {kernel} ({step.kernels[kernel].name})"


def at_slot(step: Step, slot: int) -> str:
    """Where a directive is issued."""
    return f"at {kernel_text(step, slot)}" if slot < len(step.kernels) else "at the end of the step"


def sizes(step: Step, tensors: list[tuple[int, int]], limit: int = 5) -> str:
    """``(bytes, tensor)`` pairs for a reader, the largest first."""
    ordered = sorted(tensors, key=lambda pair: (-pair[0], pair[1]))
    shown = [f"%{step.tensors[tensor].name} {human_size(held)}" for held, tensor in ordered[:limit]]
    return ", ".join(shown) + (f" and {len(ordered) - limit} more" if len(ordered) > limit else "")


def tier_of(move: Move) -> Place:
    """The tier that a move names; :attr:`Place.ABSENT` where it names none."""
    return TIERS[move.tier] if move.tier else Place.ABSENT
