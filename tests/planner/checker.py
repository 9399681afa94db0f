"""An independent checker of plans: follows every tensor through the step and knows nothing of how a plan was made."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step


@dataclass(frozen=True)
class Trip:
    """A tensor leaves at ``evicted`` and is next used ``until`` (exclusive), counted on into the next step; ``fetched`` likewise."""

    tensor: int
    tier: str
    evicted: int
    until: int
    fetched: int | None


def use_slots(step: Step) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in step.tensors]
    for number, kernel in enumerate(step.kernels):
        for tensor in {*kernel.reads, *kernel.writes}:
            found[tensor].append(number)
    return found


def trips(step: Step, moves: tuple[Move, ...]) -> list[Trip]:
    """Pair every eviction with the prefetch before the next use, if there is one."""
    uses, count = use_slots(step), len(step.kernels)
    fetches = defaultdict(list)
    for move in moves:
        if move.kind == "prefetch":
            fetches[move.tensor].append(move)
    found = []
    for move in moves:
        if move.kind != "evict":
            continue
        twice = uses[move.tensor] + [use + count for use in uses[move.tensor] if step.tensors[move.tensor].persistent]
        until = min(use for use in twice if use >= move.slot)
        slots = [slot for fetch in fetches[move.tensor] for slot in (fetch.slot, fetch.slot + count) if move.slot < slot < until]
        assert len(slots) <= 1, f"tensor {move.tensor} is fetched twice for one use"
        found.append(Trip(move.tensor, move.tier or "", move.slot, until, slots[0] if slots else None))
    return found


def check(step: Step, machine: Machine, moves: tuple[Move, ...], demand_fetch: bool = False) -> list[Trip]:
    """Raise ``AssertionError`` for a plan that cannot be carried out; return the trips of its tensors."""
    uses, count = use_slots(step), len(step.kernels)
    assert [move.slot for move in moves] == sorted(move.slot for move in moves), "not in issue order"
    by_tensor: dict[int, list[Move]] = defaultdict(list)
    for move in moves:
        assert 0 <= move.slot <= count
        assert (move.start, move.end) == (0, step.tensors[move.tensor].size_bytes)
        assert move.end > 0, "moves no bytes"
        assert (move.tier is None) == (move.kind in {"alloc", "free"})
        by_tensor[move.tensor].append(move)
    for tensor, own in by_tensor.items():
        kinds = [move.kind for move in own]
        assert kinds.count("alloc") == kinds.count("free") <= 1
        if "alloc" in kinds:
            assert not step.tensors[tensor].persistent
            assert own[kinds.index("alloc")].slot <= uses[tensor][0], "allocated after its birth"
            assert own[kinds.index("free")].slot > uses[tensor][-1], "freed while in use"
    found = trips(step, moves)
    fetched = sum(trip.fetched is not None for trip in found)
    assert fetched == sum(move.kind == "prefetch" for move in moves), "a prefetch of what was not evicted"
    assert demand_fetch or fetched == len(found), "an eviction without a prefetch"
    for trip in found:
        tensor = step.tensors[trip.tensor]
        assert trip.evicted > uses[trip.tensor][0] or tensor.persistent, "evicted before its birth"
    in_host = [0] * count
    for trip in found:
        if trip.tier == "host":
            for kernel in range(trip.evicted, trip.until):
                in_host[kernel % count] += machine.pages(step.tensors[trip.tensor].size_bytes) * machine.uvm.page
    assert max(in_host, default=0) <= machine.host.memory, "host memory overflows"
    return found


def least_memory(step: Step, machine: Machine, moves: tuple[Move, ...]) -> list[int]:
    """Bytes of tensors that are alive and not away while each kernel runs. A tensor counts as away from its eviction to its prefetch."""
    uses, count = use_slots(step), len(step.kernels)
    size = [machine.pages(tensor.size_bytes) * machine.uvm.page for tensor in step.tensors]
    used = [0] * count
    for tensor, own in enumerate(uses):
        alive = range(count) if step.tensors[tensor].persistent else range(own[0], own[-1] + 1) if own else range(0)
        for kernel in alive:
            used[kernel] += size[tensor]
    for trip in trips(step, moves):
        back = trip.until if trip.fetched is None else trip.fetched
        for kernel in range(trip.evicted, back):
            used[kernel % count] -= size[trip.tensor]
    return used
