"""``vitality``: allocation and freeing from liveness, and the inactive periods of every tensor (G10, MICRO'23, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.analyses import LIFETIMES, PERIODS, STEP
from g10c.compiler.pass_base import Pass, PassContext
from g10c.compiler.step_of import with_moves
from g10c.ir.program import Level
from g10c.ir.step import Move, Step
from g10c.ir.values import Range

if TYPE_CHECKING:
    from g10c.compiler.vitality import Lifetimes, Period
    from g10c.ir.program import Program


@dataclass(frozen=True)
class VitalityPass(Pass):
    """Inserts `alloc` and `free` of every tensor that does not outlive the step, and annotates inactive periods.

    A tensor's attribute `inactive` lists the ranges of kernels in which it is alive and not used; a range whose start lies
    after its end runs across the end of the step, which only persistent tensors (weights, optimizer state) have.
    Directives that are already there are replaced.
    """

    name = "vitality"
    gives = Level.PLANNED
    preserves = frozenset({STEP, LIFETIMES, PERIODS})

    def run(self, program: Program, context: PassContext) -> Program:
        """Annotate and insert; see the class."""
        step, lifetimes = context.analysis(STEP, program), context.analysis(LIFETIMES, program)
        periods = context.analysis(PERIODS, program)
        moves = lifetime_moves(step, lifetimes)
        context.count("allocations", sum(move.kind == "alloc" for move in moves))
        context.count("inactive periods", len(periods))
        return annotate(with_moves(program, moves), periods)


def lifetime_moves(step: Step, lifetimes: Lifetimes) -> list[Move]:
    """An ``alloc`` at the birth and a ``free`` at the death of each tensor that is used and not persistent, in order of issue.

    Frees of a slot come before its allocations, so that the room they make can be used.
    """
    moves = []
    for number, (tensor, birth, death) in enumerate(zip(step.tensors, lifetimes.birth.tolist(), lifetimes.death.tolist(), strict=True)):
        if not tensor.persistent and lifetimes.used[number]:
            moves.append(Move(birth, "alloc", number, None, 0, tensor.size_bytes))
            moves.append(Move(death, "free", number, None, 0, tensor.size_bytes))
    return sorted(moves, key=lambda move: (move.slot, move.kind == "alloc", move.tensor))


def annotate(program: Program, periods: Sequence[Period]) -> Program:
    """The program with the attribute ``inactive`` on the tensors that have such periods, and on no others."""
    ranges: dict[int, list[Range]] = {}
    for period in periods:
        ranges.setdefault(period.tensor, []).append(Range(period.start, period.end))
    tensors = list(program.tensors.values())
    return program.with_tensors(
        tensor.with_attrs(inactive=tuple(ranges[number]) if number in ranges else None) for number, tensor in enumerate(tensors)
    )
