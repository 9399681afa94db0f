"""``policy``: names the policy under which a program runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.pass_base import Pass, PassContext, required_option
from g10c.compiler.policies import make_policy
from g10c.ir.values import Ident

if TYPE_CHECKING:
    from g10c.ir.program import Program


@dataclass(frozen=True)
class PolicyPass(Pass):
    """Names the policy that decides while the step runs, and the runtime that calls it.

    What there is: the policies of installed packages, and those of files given with `--load`. Directives stay as they are; a policy
    decides what they leave open.
    """

    name = "policy"

    use: str = required_option('the policy with its options, in quotes: "deepum{degree=4}"')

    def prepare(self, context: PassContext) -> None:
        """Refuse a policy that cannot be made."""
        make_policy(self.use, context.load, "option 'use' of pass 'policy'")

    def run(self, program: Program, context: PassContext) -> Program:
        """Set the attributes; see the class."""
        return under_policy(program, self.use, make_policy(self.use, context.load).runtime)


def under_policy(program: Program, text: str, runtime: str) -> Program:
    """The program, to run under a policy. A time or bound from before does not hold for it."""
    return program.with_attrs(policy=text, runtime=Ident(runtime), estimated_time=None, bound_time=None)
