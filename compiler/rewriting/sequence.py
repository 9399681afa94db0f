"""The ops of a program in an order that can be edited: a linked list whose places can be compared.

Every place holds a number that grows along the list (the "order maintenance" of Dietz and Sleator, in its plainest form): a new place
takes the middle between its neighbours, and all are numbered anew when there is no middle left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from g10c.ir.program import Op

GAP = 1 << 40
"""Distance between fresh numbers: forty insertions in one spot before all are numbered anew."""


class Place:
    """Where an op stands. The place stays when its op is exchanged, and stays as a mark, ``gone``, when the op is taken out."""

    __slots__ = ("before", "behind", "gone", "op", "order")

    def __init__(self, op: Op, order: int) -> None:
        self.op = op
        self.order = order
        self.before: Place | None = None
        self.behind: Place | None = None
        self.gone = False

    def __repr__(self) -> str:
        return f"<{self.op.name} at {self.order}{' gone' if self.gone else ''}>"


def order_of(place: Place) -> int:
    """Sort key of places."""
    return place.order


class Sequence:
    """Ops in order. Iteration gives the places that are not gone."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self.first: Place | None = None
        self.last: Place | None = None
        for op in ops:
            self.insert(None, op)

    def __iter__(self) -> Iterator[Place]:
        place = self.first
        while place is not None:
            if not place.gone:
                yield place
            place = place.behind

    def insert(self, before: Place | None, op: Op) -> Place:
        """Put an op directly before a place, at the end for ``None``."""
        left, right = (before.before, before) if before is not None else (self.last, None)
        place = Place(op, self._between(left, right))
        place.before, place.behind = left, right
        if left is None:
            self.first = place
        else:
            left.behind = place
        if right is None:
            self.last = place
        else:
            right.before = place
        return place

    def _between(self, left: Place | None, right: Place | None) -> int:
        if right is None:
            return left.order + GAP if left is not None else 0
        if left is None:
            return right.order - GAP
        if right.order - left.order < 2:
            self._renumber()
        return (left.order + right.order) // 2

    def _renumber(self) -> None:
        """Spread the numbers again; their order, and so that of every list sorted by it, stays."""
        place, order = self.first, 0
        while place is not None:
            place.order = order
            place, order = place.behind, order + GAP
