"""Where diagnostics point to: the lines that a step's kernels and moves come from, where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from g10c.ir.source import Location, Origin
from g10c.ir.step import Step


@dataclass(frozen=True, slots=True)
class Places:
    """Locations by number of kernel and of move; a missing one is the step's name."""

    step: Step
    kernels: Sequence[Location | None] = ()
    moves: Sequence[Location | None] = ()

    def whole(self) -> Location:
        """The step."""
        return Origin(self.step.name)

    def kernel(self, number: int) -> Location:
        """A kernel."""
        return (self.kernels[number] if 0 <= number < len(self.kernels) else None) or self.whole()

    def move(self, number: int) -> Location:
        """A move; a negative number is a directive of the runtime's own."""
        return (self.moves[number] if 0 <= number < len(self.moves) else None) or self.whole()
