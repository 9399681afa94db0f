"""From placements to directives: when to prefetch, and the moves in issue order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from g10c.ir.step import Move, Step
from g10c.passes.greedy.candidates import Candidates, tie_order_of
from g10c.passes.greedy.options import GreedyOptions, TieOrder
from g10c.passes.greedy.placement import Memory, Placement
from g10c.passes.greedy.pressure import Allocations

IntArray = NDArray[np.int64]

PEAK_SHARE = 0.9
"""Evicting at the peak stops at this share of the line (artifact, ``scheduling_prefetch``)."""


def allocation_moves(step: Step, plan: Allocations, count: int) -> list[Move]:
    """Return ``alloc`` and ``free`` of the first ``count`` tensors, one after the other."""
    columns = (column[:count].tolist() for column in (plan.tensors, plan.alloc_slots, plan.free_slots))
    moves = []
    for tensor, alloc, free in zip(*columns, strict=True):
        size = step.tensors[tensor].size_bytes
        moves += [Move(alloc, "alloc", tensor, None, 0, size), Move(free, "free", tensor, None, 0, size)]
    return moves


def eviction_moves(step: Step, placements: Iterable[Placement]) -> list[Move]:
    """Return the evictions as decided, each period across the step's end with its prefetch."""
    moves = []
    for placed in placements:
        moves.append(eviction_move(step, placed))
        if placed.request.wraps:
            moves.append(prefetch_move(step, placed, placed.prefetch % len(step.kernels)))
    return moves


def prefetch_moves(step: Step, placements: list[Placement], memory: Memory, options: GreedyOptions) -> list[Move]:
    """Return the prefetches of the periods within the step. They are booked in ``memory``.

    Eager prefetching moves each one forward, the earliest first, as long as the kernel before is below the line, at most to the kernel
    after the one during which its eviction ends.
    """
    local = [placed for placed in placements if not placed.request.wraps]
    planned = np.array([placed.prefetch for placed in local], dtype=np.int64)
    moves = []
    for index in tie_order_of(planned, options.tie_order).tolist():
        placed = local[index]
        room = placed.request.size_bytes if options.eager_needs_room else 1
        slot = earliest_prefetch(memory, placed, room) if options.eager_prefetch else placed.prefetch
        memory.gpu[slot : placed.prefetch] += placed.request.size_bytes
        moves.append(prefetch_move(step, placed, slot))
    return moves


def earliest_prefetch(memory: Memory, placed: Placement, room_bytes: int) -> int:
    """Return the kernel from which on memory has room below the line until the planned prefetch."""
    first = min(placed.evicted + 1, placed.prefetch)
    full = np.flatnonzero(memory.gpu[first : placed.prefetch] > memory.line - room_bytes)
    return first + int(full[-1]) + 1 if full.size else first


def peak_moves(step: Step, found: Candidates, by_area: IntArray, moved: set[int], memory: Memory, peak: int) -> list[Move]:
    """Evict to SSD what lies idle at kernel ``peak`` and is not ``moved`` yet, largest area first, until memory there is below the line.

    Nothing fetches it again before its next use demands it.
    """
    moves = []
    level = int(memory.gpu[peak])
    for candidate in by_area.tolist():
        if level < memory.line * PEAK_SHARE:
            break
        start, end, size = int(found.start[candidate]), int(found.end[candidate]), int(found.size_bytes[candidate])
        if candidate in moved or found.wraps[candidate] or not start <= peak < end:
            continue
        tensor = int(found.tensor[candidate])
        moves.append(Move(start, "evict", tensor, "ssd", 0, step.tensors[tensor].size_bytes))
        memory.gpu[start + 1 : end] -= size
        level -= size
    return moves


def in_issue_order(moves: list[Move], tie_order: TieOrder) -> list[Move]:
    """Sort by the kernel at which a move is issued."""
    slots = np.array([move.slot for move in moves], dtype=np.int64)
    return [moves[index] for index in tie_order_of(slots, tie_order).tolist()]


def eviction_move(step: Step, placed: Placement) -> Move:
    """Return the eviction of a period, issued at its first kernel."""
    tensor = placed.request.tensor
    return Move(placed.request.start, "evict", tensor, placed.tier, 0, step.tensors[tensor].size_bytes)


def prefetch_move(step: Step, placed: Placement, slot: int) -> Move:
    """Return the prefetch of a period, issued at kernel ``slot``."""
    tensor = placed.request.tensor
    return Move(slot, "prefetch", tensor, placed.tier, 0, step.tensors[tensor].size_bytes)
