"""``vary-times``: every kernel takes a little more or less time than was measured (G10, MICRO'23, figure 19)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from g10c.compiler.pass_base import Pass, PassContext, option, required_option
from g10c.ir.errors import InputError
from g10c.ir.ops import OpKind
from g10c.ir.values import Time

if TYPE_CHECKING:
    from g10c.ir.program import Op, Program

WORDS = 624
"""Of the state of the generator MT19937."""
TIMES = ("time", "all_fault_time", "output_fault_time")


@dataclass(frozen=True)
class VaryTimesPass(Pass):
    """Scales the times of each kernel by a factor drawn evenly from 1 - by to 1 + by, the same for all its times.

    After a planner it shows how a plan bears times that differ from those it was made for. The factors are those of G10's artifact
    for the same seed.
    """

    name = "vary-times"

    by: float = required_option("how much times differ at most: 0 to below 1, 0.1 is 10%")
    seed: int = option(5489, "another number draws other factors")

    def prepare(self, context: PassContext) -> None:
        """Refuse factors that are not above 0, and seeds that are none."""
        if not 0 <= self.seed < 2**32:
            raise InputError.at(f"option 'seed' of pass 'vary-times' is {self.seed}", None, "expected 0 to 4294967295")
        if not 0 <= self.by < 1:
            raise InputError.at(f"option 'by' of pass 'vary-times' is {self.by}", None, "expected 0 or more, and less than 1")

    def run(self, program: Program, context: PassContext) -> Program:
        """Scale; see the class."""
        return vary_times(program, self.by, self.seed)


def vary_times(program: Program, by: float, seed: int) -> Program:
    """The program with other kernel times; an estimate or bound from before does not hold for it."""
    fractions = _fractions(seed)
    ops = [_scaled(op, 1 - by + 2 * by * next(fractions)) if op.kind is OpKind.KERNEL else op for op in program.ops]
    return replace(program, ops=tuple(ops)).with_attrs(estimated_time=None, bound_time=None)


def _fractions(seed: int) -> Iterator[float]:
    """Fractions of 1, drawn as ``std::uniform_real_distribution`` draws them from ``std::mt19937``: two words of 32 bits each.

    That is what the artifact does (``main.cc``, ``kernel_time_std_dev``). Python has the same generator, but seeds it in another way.
    """
    words = [seed]
    for number in range(1, WORDS):
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + number) % 2**32)
    draw = random.Random()  # noqa: S311 - chance, not a secret
    draw.setstate((3, (*words, WORDS), None))
    while True:
        low = draw.getrandbits(32)
        yield (low + draw.getrandbits(32) * 2**32) / 2**64


def _scaled(op: Op, factor: float) -> Op:
    times = {name: Time(max(1, round(value * factor))) for name in TIMES if isinstance(value := op.attrs.get(name), int) and value}
    return op.with_attrs(**times)
