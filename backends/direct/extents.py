"""Where the bytes of a tensor are: runs of bytes in one place, in order, that cover the tensor."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class Place(IntEnum):
    """Where bytes are. The first three are tiers of memory, and index the tables of :class:`~g10c.backends.direct.memory.Ledger`."""

    GPU = 0
    HOST = 1
    SSD = 2
    ABSENT = 3
    """Nowhere: not allocated, or freed."""
    UNSET = 4
    """Allocated in GPU memory, but not written since."""

    def __str__(self) -> str:
        return ("the GPU", "host", "ssd", "nowhere", "the GPU")[self]


TIERS: dict[str, Place] = {"host": Place.HOST, "ssd": Place.SSD}

Extent = tuple[int, int, Place]
"""Bytes ``[start, end)`` and their place."""
Extents = tuple[Extent, ...]
State = tuple[Extents, ...]
"""Of each tensor of a step."""


def whole(size_bytes: int, place: Place) -> Extents:
    """All bytes of a tensor in one place."""
    return ((0, size_bytes, place),) if size_bytes else ()


def count(extents: Extents, start: int, end: int) -> dict[Place, int]:
    """Bytes of ``[start, end)`` by place, places in order of their first byte."""
    found: dict[Place, int] = {}
    for first, last, place in extents:
        inside = min(last, end) - max(first, start)
        if inside > 0:
            found[place] = found.get(place, 0) + inside
    return found


def move(extents: Extents, start: int, end: int, to: Mapping[Place, Place]) -> Extents:
    """The extents after bytes of ``[start, end)`` have moved from each place in ``to`` to the place it maps to, neighbours joined."""
    if len(extents) == 1 and start <= 0 and end >= extents[0][1]:
        first, last, place = extents[0]
        return ((first, last, to.get(place, place)),)
    pieces: list[Extent] = []
    for first, last, place in extents:
        inner_first, inner_last = max(first, start), min(last, end)
        if inner_first >= inner_last or place not in to:
            pieces.append((first, last, place))
            continue
        pieces += [(first, inner_first, place), (inner_first, inner_last, to[place]), (inner_last, last, place)]
    return _joined(pieces)


def _joined(pieces: list[Extent]) -> Extents:
    joined: list[Extent] = []
    for first, last, place in pieces:
        if first == last:
            continue
        if joined and joined[-1][2] is place:
            first = joined.pop()[0]
        joined.append((first, last, place))
    return tuple(joined)
