"""``g10c export --format g10``: the directives of a plan in the manner of the artifact's listings of migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from g10c.compiler.protocols import Exporter
from g10c.compiler.step_of import moves_of, step_of
from g10c.ir.errors import InputError

if TYPE_CHECKING:
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program
    from g10c.ir.step import Move, Step

COLUMNS = ("issued_at_kernel", "tensor", "to")
PAGES = "pages"


class G10Listing(Exporter):
    """Directives in order, in columns with tabs between: kernel at which it is issued, tensor, and where the tensor goes.

    Kernels and tensors are numbered from 0 in the order of the program, which for an imported network are the artifact's numbers. The
    destinations are ``gpu``, ``cpu``, ``ssd`` and ``not_present``. Where a directive moves a part of its tensor there is a fourth column
    with its first page and one past its last, ``0..16``; it is empty for whole tensors.
    """

    name: ClassVar[str] = "g10"

    def export(self, program: Program, machine: Machine) -> str:
        """The listing; see the class."""
        step, moves = step_of(program), moves_of(program)
        if not moves:
            hint = "plan it first: g10c compile MODEL --pass vitality,migrate --emit plan.json"
            raise InputError.at(f"{program.name} has no directives to list", program.location, hint)
        pages = [_pages(move, step, machine.uvm.page) for move in moves]
        columns = (*COLUMNS, PAGES) if any(pages) else COLUMNS
        rows = [(str(move.slot), str(move.tensor), _destination(move), part) for move, part in zip(moves, pages, strict=True)]
        return "".join("\t".join(row[: len(columns)]) + "\n" for row in (columns, *rows))


def _destination(move: Move) -> str:
    if move.kind == "evict":
        return "cpu" if move.tier == "host" else "ssd"
    return "not_present" if move.kind == "free" else "gpu"


def _pages(move: Move, step: Step, page: int) -> str:
    """The pages of a part, those that it covers only partly included; empty for a whole tensor."""
    if (move.start, move.end) == (0, step.tensors[move.tensor].size_bytes):
        return ""
    return f"{move.start // page}..{-(-move.end // page)}"
