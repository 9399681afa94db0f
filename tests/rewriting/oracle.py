"""What a step computes, with every kernel as a function of which nothing is known.

Two programs have the same observable results when the last values of all persistent tensors, and what is written in the phase ``loss``,
are the same terms. Terms are numbered, one number for each different term, so that shared parts are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from g10c.compiler.rewriting.apply import Firing
from g10c.ir.ops import OpKind, is_commutative
from g10c.ir.program import Op, Program

Term = tuple[object, ...]
OPAQUE = frozenset({"fused", "scaled_apply_grad"})
"""Ops that stand for those that a rule replaced: they compute what these did."""
MEANING = ("kernel", "over", "to", "from")
"""Attributes that are part of what an op computes."""


class Interpreter:
    """Terms of programs; those of one interpreter can be compared."""

    def __init__(self, one_rank: bool = False) -> None:
        self.one_rank = one_rank
        """Whether a sum over ranks is that of one rank: its operand."""
        self._numbers: dict[Term, int] = {}
        self._stands_for: dict[Op, tuple[Op, ...]] = {}

    def learn(self, firings: Iterable[Firing]) -> None:
        """Opaque ops that rules made stand for what was matched."""
        for firing in firings:
            for op in firing.made:
                if op.name in OPAQUE and op not in firing.matched:
                    self._stands_for[op] = firing.matched

    def _number(self, *term: object) -> int:
        return self._numbers.setdefault(term, len(self._numbers))

    def results(self, program: Program) -> dict[str, int]:
        """The observable results by name."""
        values = {name: self._number("start", name) for name in program.tensors}
        losses: dict[str, int] = {}
        for number, op in enumerate(program.ops):
            if op.kind is OpKind.DIRECTIVE:
                continue
            self._run(op, values)
            if op.attrs.get("phase") == "loss":
                losses |= {f"loss {number}": values[name] for name in op.writes}
        return {name: values[name] for name, tensor in program.tensors.items() if tensor.persistent} | dict(
            zip("abcdef", losses.values(), strict=False)
        )

    def _run(self, op: Op, values: dict[str, int]) -> None:
        inner = self._stands_for.get(op)
        if inner is not None:
            own = {name: values[name] for name in op.reads}
            for one in inner:
                self._run(one, own)
            values |= {name: own[name] for name in op.writes}
            return
        operands = [values[name] for name in op.reads]
        if op.name == "all_reduce":  # of several tensors it is one of each
            sums = operands if self.one_rank else [self._number(op.name, op.attrs["over"], operand) for operand in operands]
            values |= dict(zip(op.writes, sums, strict=True))
            return
        if is_commutative(op.name):
            operands.sort()
        meaning = tuple(op.attrs.get(name) for name in MEANING)
        made: Mapping[str, int] = {name: self._number(op.name, meaning, number, *operands) for number, name in enumerate(op.writes)}
        values |= made
