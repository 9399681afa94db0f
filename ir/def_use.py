"""Versions of tensors, and who defines and uses them: the one interface that patterns and analyses see.

A version is (tensor, n-th write): version 0 is the value at the start of the step, and each op that writes the tensor makes
the next one. In place means to read one version and to write the next, so no rule has to look for later writes itself.
For a persistent tensor version 0 is the last version of the step before.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from g10c.ir.ops import OpKind
from g10c.ir.program import Program


class Version(NamedTuple):
    """The value of a tensor after its ``number``-th write."""

    tensor: str
    number: int


class DefUse:
    """Definitions and uses of a program's versions, by index of op. Computed once, in one pass over the ops.

    Directives neither read nor write: they are listed by :meth:`directives` only. Lists of ops are in order, each op once.
    """

    def __init__(self, program: Program) -> None:
        self._reads: list[tuple[Version, ...]] = []
        self._writes: list[tuple[Version, ...]] = []
        self._current: dict[str, Version] = {name: Version(name, 0) for name in program.tensors}
        self._definitions: dict[str, list[int]] = {}
        self._uses: dict[str, list[list[int]]] = {}
        self._users: dict[str, list[int]] = {}
        self._directives: dict[str, list[int]] = {}
        for index, op in enumerate(program.ops):
            if op.kind is OpKind.DIRECTIVE:
                self._add_directive(index, op.reads)
            else:
                self._add(index, op.reads, op.writes)

    def _add_directive(self, index: int, tensors: tuple[str, ...]) -> None:
        self._reads.append(())
        self._writes.append(())
        for name in tensors:
            self._directives.setdefault(name, []).append(index)

    def _add(self, index: int, reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
        current, made, unique = self._current, [], reads if len(reads) < 2 else dict.fromkeys(reads)
        self._reads.append(tuple([current.get(name) or Version(name, 0) for name in reads]))
        for name in unique:
            self._uses.setdefault(name, [[]])[-1].append(index)
            self._users.setdefault(name, []).append(index)
        for name in writes if len(writes) < 2 else dict.fromkeys(writes):
            definitions = self._definitions.setdefault(name, [])
            definitions.append(index)
            self._uses.setdefault(name, [[]]).append([])
            current[name] = Version(name, len(definitions))
            made.append(current[name])
            if name not in unique:
                self._users.setdefault(name, []).append(index)
        self._writes.append(tuple(made))

    def reads(self, index: int) -> tuple[Version, ...]:
        """The versions that an op reads, in the order of its operands; one named twice is there twice."""
        return self._reads[index]

    def writes(self, index: int) -> tuple[Version, ...]:
        """The versions that an op makes, in the order of its results."""
        return self._writes[index]

    def definition(self, version: Version) -> int | None:
        """The op that makes a version; ``None`` for version 0. ``KeyError`` when there is no such version."""
        if version.number == 0:
            return None
        definitions = self._definitions.get(version.tensor, [])
        if not 1 <= version.number <= len(definitions):
            raise KeyError(version)
        return definitions[version.number - 1]

    def uses(self, version: Version) -> tuple[int, ...]:
        """The ops that read a version."""
        by_number = self._uses.get(version.tensor, ())
        return tuple(by_number[version.number]) if 0 <= version.number < len(by_number) else ()

    def users(self, tensor: str) -> tuple[int, ...]:
        """The ops that read or write a tensor, in any version."""
        return tuple(self._users.get(tensor, ()))

    def producer(self, index: int, tensor: str) -> int | None:
        """The op that made the version of a tensor that op ``index`` finds; ``None`` where it is still that of the step's start."""
        definitions = self._definitions.get(tensor, [])
        before = bisect_left(definitions, index)
        return definitions[before - 1] if before else None

    def last(self, tensor: str) -> Version:
        """The version of a tensor at the end of the step."""
        return self._current.get(tensor) or Version(tensor, 0)

    def versions(self, tensor: str) -> tuple[Version, ...]:
        """All versions of a tensor, from the step's start on."""
        return tuple(Version(tensor, number) for number in range(self.last(tensor).number + 1))

    def directives(self, tensor: str) -> tuple[int, ...]:
        """The directives on a tensor."""
        return tuple(self._directives.get(tensor, ()))
