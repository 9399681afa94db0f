"""A range of addresses, handed out in pieces from either end, first fit."""

from __future__ import annotations

from bisect import bisect_left

Piece = tuple[int, int]
"""Addresses ``[start, end)``."""


class Space:
    """``size`` addresses from 0 on. Holes are disjoint, in order, and never touch."""

    __slots__ = ("_holes", "free", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = size
        self._holes: list[Piece] = [(0, size)] if size else []

    @property
    def largest_hole(self) -> int:
        """Addresses of the largest hole."""
        return max((end - start for start, end in self._holes), default=0)

    def take(self, size: int, *, upper: bool = False) -> Piece | None:
        """``size`` addresses of the lowest hole that has them, from its lower end, or the same from above; ``None`` where no hole has."""
        if not size:
            return (0, 0)
        numbers = range(len(self._holes))
        for number in reversed(numbers) if upper else numbers:
            start, end = self._holes[number]
            if end - start >= size:
                piece = (end - size, end) if upper else (start, start + size)
                rest = (start, end - size) if upper else (start + size, end)
                self._holes[number : number + 1] = [rest] if rest[0] < rest[1] else []
                self.free -= size
                return piece
        return None

    def give(self, piece: Piece) -> None:
        """Hand a piece back."""
        start, end = piece
        if start == end:
            return
        self.free += end - start
        number = bisect_left(self._holes, piece)
        first, last = number, number
        if number < len(self._holes) and self._holes[number][0] == end:
            end, last = self._holes[number][1], number + 1
        if number and self._holes[number - 1][1] == start:
            start, first = self._holes[number - 1][0], number - 1
        self._holes[first:last] = [(start, end)]
