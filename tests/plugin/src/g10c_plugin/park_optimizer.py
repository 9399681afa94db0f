"""``park-optimizer``: optimizer state leaves GPU memory until it is updated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from g10c.compiler import Pass, PassContext, Program, Rewriter, Role, directive, option
from g10c.ir.program import Level


@dataclass(frozen=True)
class ParkOptimizerPass(Pass):
    """Evicts optimizer state when the step starts, and fetches it when it is updated."""

    name = "park-optimizer"
    gives = Level.PLANNED

    tier: Literal["host", "ssd"] = option("host", "where it waits")

    def run(self, program: Program, context: PassContext) -> Program:
        """Insert and count; see the class."""
        after = park(program, self.tier)
        context.count("directives inserted", len(after.ops) - len(program.ops))
        return after


def park(program: Program, tier: str) -> Program:
    """The program with an eviction of each optimizer tensor before the first kernel, and a prefetch before the first that uses it."""
    rewriter = Rewriter(program)
    for tensor in program.tensors.values():
        first = next((op for op in program.kernels if tensor.name in op.tensors()), None)
        if tensor.role is Role.OPTIMIZER and first is not None and first is not program.kernels[0]:
            rewriter.insert_before(program.kernels[0], directive("evict", tensor.name, tier))
            rewriter.insert_before(first, directive("prefetch", tensor.name, tier))
    return rewriter.finish()
