"""``deepum``: demand paging with DeepUM's prefetching, a baseline of G10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.operand_order import OperandOrder
from g10c.compiler.options import OptionError
from g10c.compiler.pass_base import Pass, PassContext, option
from g10c.passes.policy import under_policy

if TYPE_CHECKING:
    from g10c.ir.program import Program


@dataclass(frozen=True)
class DeepUmPass(Pass):
    """Marks a program to run under demand paging with DeepUM's prefetching (ASPLOS'23), as G10's artifact models it.

    When kernel i becomes current, what kernel i + degree needs is fetched. What comes in ahead does not push out what the kernels from
    i to i + degree - 1 need, and tensors that are dead are dropped, not moved.
    """

    name = "deepum"

    degree: int = option(8, "kernels to look ahead")
    operand_order: OperandOrder = option("listed", "the order of a kernel's tensors: as listed, or as in the artifact's hash sets")

    def __post_init__(self) -> None:
        """Refuse a degree that looks at nothing."""
        if not 1 <= self.degree <= 1 << 20:
            raise OptionError(f"degree: expected 1 to {1 << 20} kernels, found {self.degree}", "G10's artifact uses 8")

    def run(self, program: Program, context: PassContext) -> Program:
        """Name the policy; see the class."""
        order = "" if self.operand_order == "listed" else f",operand_order={self.operand_order}"
        return under_policy(program, f"deepum{{degree={self.degree}{order}}}", "uvm")
