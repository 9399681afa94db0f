"""Rewriting a program op by op: insert, replace and erase, with the questions about def and use that go with it.

A rewriter collects edits on one program and builds the new one at the end, in one walk. Anchors are the ops of the program
it was made for, so the order in which edits are made does not move them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from g10c.ir.def_use import DefUse

if TYPE_CHECKING:
    from g10c.ir.program import Op, Program, Tensor


class Rewriter:
    """Edits of one program. ``finish`` returns the program with all of them."""

    def __init__(self, program: Program, def_use: DefUse | None = None) -> None:
        self.program = program
        self._def_use = def_use
        self._before: dict[Op, list[Op]] = {}
        self._after: dict[Op, list[Op]] = {}
        self._instead: dict[Op, tuple[Op, ...]] = {}
        self._tensors: dict[str, Tensor | None] = {}
        self._known = frozenset(program.ops)
        self._at_end: list[Op] = []

    @property
    def def_use(self) -> DefUse:
        """Versions, definitions and uses of the program as it was before the edits."""
        if self._def_use is None:
            self._def_use = DefUse(self.program)
        return self._def_use

    def _anchor(self, op: Op) -> Op:
        if op not in self._known:
            raise ValueError(f"{op.name} is not an op of program {self.program.name}")
        return op

    def insert_before(self, op: Op, *new: Op) -> None:
        """Put ops before ``op``, after those put there earlier."""
        self._before.setdefault(self._anchor(op), []).extend(new)

    def insert_after(self, op: Op, *new: Op) -> None:
        """Put ops after ``op``, after those put there earlier."""
        self._after.setdefault(self._anchor(op), []).extend(new)

    def append(self, *new: Op) -> None:
        """Put ops at the end of the program."""
        self._at_end.extend(new)

    def replace(self, op: Op, *new: Op) -> None:
        """Put ops in the place of ``op``. An op can be replaced once."""
        if op in self._instead:
            raise ValueError(f"{op.name} is already replaced or erased")
        self._instead[self._anchor(op)] = new

    def erase(self, op: Op) -> None:
        """Take ``op`` out."""
        self.replace(op)

    def set_tensor(self, tensor: Tensor) -> None:
        """Declare a tensor, or change the declaration of that name."""
        self._tensors[tensor.name] = tensor

    def erase_tensor(self, name: str) -> None:
        """Take a tensor's declaration out; the verifier refuses the program if an op still names it."""
        self._tensors[name] = None

    def fresh_name(self, base: str) -> str:
        """A tensor name that is not in use: ``base``, or ``base`` with a number."""
        name, number = base, 1
        while name in self.program.tensors or name in self._tensors:
            number += 1
            name = f"{base}.{number}"
        return name

    @property
    def changed(self) -> bool:
        """Whether there is any edit."""
        return bool(self._before or self._after or self._instead or self._tensors or self._at_end)

    def finish(self) -> Program:
        """The edited program; the same object when nothing was edited."""
        if not self.changed:
            return self.program
        ops: list[Op] = []
        for op in self.program.ops:
            ops += self._before.get(op, ())
            ops += self._instead.get(op, (op,))
            ops += self._after.get(op, ())
        program = self.program.with_ops(ops + self._at_end)
        if not self._tensors:
            return program
        tensors = {**self.program.tensors, **self._tensors}
        return program.with_tensors(tensor for tensor in tensors.values() if tensor is not None)
