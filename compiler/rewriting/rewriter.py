"""Editing a program op by op: insert, replace and erase, with the questions about definitions and uses that go with it."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.dataflow import Dataflow
from g10c.compiler.rewriting.sequence import Place, Sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from g10c.ir.program import Op, Program, Tensor
    from g10c.ir.values import Value


class Rewriter:
    """A program that is being edited. ``finish`` returns the program with all edits.

    Ops are named by themselves. An op that was replaced or erased still marks its place, so that edits can be made in any order.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tensors: dict[str, Tensor] = dict(program.tensors)
        """Declarations as they are now."""
        self.sequence = Sequence(())
        self._places: dict[Op, Place] = {}
        self._ends: dict[Place, Place] = {}
        self._attrs: Mapping[str, Value] = program.attrs
        self._reserved: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._edited = False
        for op in program.ops:
            self._enter(None, op)

    @cached_property
    def flow(self) -> Dataflow:
        """Versions of tensors, who makes and who reads them: true of the program as it is now."""
        return Dataflow(self.sequence)

    def _enter(self, before: Place | None, op: Op) -> Place:
        if op in self._places:
            op = dataclasses.replace(op)  # an op stands in one place; the second is another op with the same text
        place = self._places[op] = self.sequence.insert(before, op)
        return place

    def insert(self, before: Place | None, op: Op) -> Place:
        """Put an op directly before a place, also one whose op is gone; at the end for ``None``."""
        place = self._enter(before, op)
        self._edited = True
        if "flow" in self.__dict__:
            self.flow.add(place)
        return place

    def place(self, op: Op) -> Place:
        """Where an op stands, or stood. Raises ``ValueError`` for one that is not of this program."""
        place = self._places.get(op)
        if place is None:
            raise ValueError(f"{op.name} is not an op of program {self.program.name}")
        return place

    def insert_before(self, op: Op, *new: Op) -> tuple[Place, ...]:
        """Put ops before ``op``, after those put there earlier."""
        anchor = self.place(op)
        return tuple([self.insert(anchor, one) for one in new])

    def insert_after(self, op: Op, *new: Op) -> tuple[Place, ...]:
        """Put ops after ``op``, after those put there earlier."""
        return self._behind(self.place(op), new)

    def _behind(self, anchor: Place, new: tuple[Op, ...]) -> tuple[Place, ...]:
        following = self._ends.get(anchor, anchor).behind
        places = tuple([self.insert(following, one) for one in new])
        if places:
            self._ends[anchor] = places[-1]
        return places

    def append(self, *new: Op) -> tuple[Place, ...]:
        """Put ops at the end of the program."""
        return tuple([self.insert(None, one) for one in new])

    def replace(self, op: Op, *new: Op) -> tuple[Place, ...]:
        """Put ops in the place of ``op``. An op can be replaced or erased once."""
        anchor = self.place(op)
        if anchor.gone:
            raise ValueError(f"{op.name} is already replaced or erased")
        self._edited = True
        if "flow" in self.__dict__:
            self.flow.remove(anchor)
        anchor.gone = True
        behind = anchor.behind
        places = tuple([self.insert(behind, one) for one in new])
        if places and anchor not in self._ends:
            self._ends[anchor] = places[-1]
        return places

    def erase(self, op: Op) -> None:
        """Take ``op`` out."""
        self.replace(op)

    def exchange(self, place: Place, op: Op) -> None:
        """Change the op of a place: other attributes or operands; the place counts as the same op."""
        if "flow" in self.__dict__:
            self.flow.remove(place)
        place.op = op
        self._places[op] = place
        self._edited = True
        if "flow" in self.__dict__:
            self.flow.add(place)

    def set_tensor(self, tensor: Tensor) -> None:
        """Declare a tensor, or change the declaration of that name."""
        self.tensors[tensor.name] = tensor
        self._edited = True

    def erase_tensor(self, name: str) -> None:
        """Take a tensor's declaration out; the verifier refuses the program if an op still names it."""
        self._edited |= self.tensors.pop(name, None) is not None

    def set_attrs(self, **attrs: Value | None) -> None:
        """Set attributes of the program, or remove them where the value is ``None``."""
        from g10c.ir.program import merge_attrs

        merged = merge_attrs(self._attrs, attrs)
        self._edited |= merged != self._attrs
        self._attrs = merged

    def fresh_name(self, base: str) -> str:
        """A tensor name that is not in use: ``base``, or ``base`` with a number. It is not given out again."""
        number = self._numbers.get(base, 0) + 1
        name = base if number == 1 else f"{base}.{number}"
        while name in self.tensors or name in self._reserved:
            number += 1
            name = f"{base}.{number}"
        self._numbers[base] = number
        self._reserved.add(name)
        return name

    @property
    def attrs(self) -> Mapping[str, Value]:
        """Attributes of the program as they are now."""
        return self._attrs

    @property
    def changed(self) -> bool:
        """Whether there is any edit."""
        return self._edited

    def finish(self) -> Program:
        """The edited program; the same object when nothing was edited."""
        if not self._edited:
            return self.program
        program = self.program.with_ops(place.op for place in self.sequence)
        return dataclasses.replace(program, tensors=dict(self.tensors), attrs=self._attrs)
