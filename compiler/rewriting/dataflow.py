"""Who makes and who reads each version of each tensor, kept true while the program is edited.

A version is the value that one write of a tensor leaves: (tensor, the place that made it), and ``None`` for the value at the start of
the step, which for a persistent tensor is the last version of the step before. An op that reads and writes a tensor updates it in
place: it reads one version and makes the next. Versions are the only interface that patterns and analyses see, so no rule has to look
for later writes itself. Directives neither read nor write; they find a version and are listed apart. An op on some ranks leaves
what it writes as it was on the others: it counts as a reader of the version before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, NamedTuple

from g10c.compiler.rewriting.sequence import Place, Sequence, order_of
from g10c.ir.ops import OpKind

if TYPE_CHECKING:
    from g10c.ir.program import Op


class Version(NamedTuple):
    """The value of a tensor after the write at ``made_by``; ``None``: at the start of the step."""

    tensor: str
    made_by: Place | None


def needs(op: Op) -> tuple[str, ...]:
    """The tensors whose value before it an op needs: what it reads, and what it writes on some ranks only, as the others keep it."""
    return op.reads if op.on is None else op.reads + op.writes


Places = dict[str, list[Place]]


class Dataflow:
    """Readers, writers and directives of every tensor, and the ops of every name, each in the order of the program.

    Every question costs a search by bisection in one of these lists.
    """

    def __init__(self, sequence: Sequence) -> None:
        self._readers: Places = {}
        self._writers: Places = {}
        self._directives: Places = {}
        self._named: Places = {}
        for place in sequence:
            op = place.op
            for index, key in self._entries(op):
                index.setdefault(key, []).append(place)

    def _entries(self, op: Op) -> list[tuple[Places, str]]:
        """The lists that an op is in."""
        entries = [(self._named, op.name)]
        if op.kind is OpKind.DIRECTIVE:
            entries += [(self._directives, name) for name in dict.fromkeys(op.reads)]
            return entries
        needed = needs(op)
        entries += [(self._readers, name) for name in (needed if len(needed) < 2 else dict.fromkeys(needed))]
        entries += [(self._writers, name) for name in (op.writes if len(op.writes) < 2 else dict.fromkeys(op.writes))]
        return entries

    def add(self, place: Place) -> None:
        """An op has been put at a place."""
        for index, key in self._entries(place.op):
            insort(index.setdefault(key, []), place, key=order_of)

    def remove(self, place: Place) -> None:
        """The op of a place is about to go."""
        for index, key in self._entries(place.op):
            places = index[key]
            del places[bisect_left(places, place.order, key=order_of)]

    def found(self, place: Place, tensor: str) -> Version:
        """The version of a tensor that the op of a place finds."""
        writers = self._writers.get(tensor)
        if not writers:
            return Version(tensor, None)
        before = bisect_left(writers, place.order, key=order_of)
        return Version(tensor, writers[before - 1] if before else None)

    def reads(self, place: Place) -> tuple[Version, ...]:
        """The versions that an op reads, in the order of its operands; those that a directive is about."""
        return tuple([self.found(place, name) for name in place.op.reads])

    def writes(self, place: Place) -> tuple[Version, ...]:
        """The versions that an op makes, in the order of its results."""
        return tuple([Version(name, place) for name in place.op.writes])

    def next_write(self, version: Version) -> Place | None:
        """The op that ends a version: the next one that writes the tensor."""
        writers = self._writers.get(version.tensor, ())
        after = bisect_right(writers, version.made_by.order, key=order_of) if version.made_by is not None else 0
        return writers[after] if after < len(writers) else None

    def uses(self, version: Version) -> list[Place]:
        """The ops that read a version, each once. The op that ends it is among them when it updates the tensor in place."""
        readers = self._readers.get(version.tensor)
        if not readers:
            return []
        end = self.next_write(version)
        start = bisect_right(readers, version.made_by.order, key=order_of) if version.made_by is not None else 0
        return readers[start : bisect_right(readers, end.order, key=order_of) if end is not None else len(readers)]

    def count_uses(self, version: Version) -> int:
        """How many ops read a version."""
        readers = self._readers.get(version.tensor)
        if not readers:
            return 0
        end = self.next_write(version)
        start = bisect_right(readers, version.made_by.order, key=order_of) if version.made_by is not None else 0
        return (bisect_right(readers, end.order, key=order_of) if end is not None else len(readers)) - start

    def last(self, tensor: str) -> Version:
        """The version of a tensor at the end of the step."""
        writers = self._writers.get(tensor)
        return Version(tensor, writers[-1] if writers else None)

    def versions(self, tensor: str) -> list[Version]:
        """All versions of a tensor, from the step's start on."""
        return [Version(tensor, None), *(Version(tensor, place) for place in self._writers.get(tensor, ()))]

    def readers(self, tensor: str) -> list[Place]:
        """The ops that read a tensor, in any version."""
        return self._readers.get(tensor, [])

    def writers(self, tensor: str) -> list[Place]:
        """The ops that write a tensor."""
        return self._writers.get(tensor, [])

    def directives(self, tensor: str) -> list[Place]:
        """The directives on a tensor."""
        return self._directives.get(tensor, [])

    def touched(self, tensor: str) -> bool:
        """Whether any kernel or collective reads or writes a tensor."""
        return bool(self._readers.get(tensor) or self._writers.get(tensor))

    def names(self) -> list[str]:
        """The names of the ops that there are, in order of their first appearance."""
        return [name for name, places in self._named.items() if places]

    def named(self, name: str) -> list[Place]:
        """The ops of a name."""
        return self._named.get(name, [])

    def next_named(self, name: str, place: Place) -> Place | None:
        """The next op of a name behind a place."""
        places = self._named.get(name)
        if not places:
            return None
        after = bisect_right(places, place.order, key=order_of)
        return places[after] if after < len(places) else None

    def previous_named(self, name: str, place: Place) -> Place | None:
        """The last op of a name before a place."""
        places = self._named.get(name)
        if not places:
            return None
        before = bisect_left(places, place.order, key=order_of)
        return places[before - 1] if before else None
