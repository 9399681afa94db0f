"""Random plans that are valid, and a second, slow reading of what they mean: a place for every byte, and times as a least fixed point."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import strategies as st

from g10c.ir.machine import Gpu, Host, Machine
from g10c.ir.step import Kernel, Move, Step, StepTensor


@st.composite
def plans(draw, tiers=("host", "ssd"), shortest=0):
    """A step and moves that bring every tensor back before its next use, persistent ones across the end of the step too."""
    count = draw(st.integers(1, 6))
    tensors, moves, reads, writes = [], [], [[] for _ in range(count)], [[] for _ in range(count)]
    for number in range(draw(st.integers(1, 6))):
        tensor = StepTensor(f"t{number}", draw(st.integers(1, 30)), draw(st.booleans()))
        uses = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))
        tensors.append(tensor)
        for kernel in uses:
            written = kernel == uses[0] and not tensor.persistent
            (writes if written else reads)[kernel].append(number)
        moves += _moves(draw, number, tensor, uses, count, tiers)
    times = draw(st.lists(st.integers(shortest, 60), min_size=count, max_size=count))
    kernels = [Kernel(f"k{n}", time, time, time, tuple(reads[n]), tuple(writes[n])) for n, time in enumerate(times)]
    order = draw(st.permutations(range(len(tensors))))
    moves.sort(key=lambda move: (move.slot, order[move.tensor]))
    return Step("random", tuple(tensors), tuple(kernels)), moves


def _moves(draw, number, tensor, uses, count, tiers):
    def between(first, last):
        return draw(st.integers(first, last))

    moves, size = [], tensor.size_bytes
    if not tensor.persistent and draw(st.booleans()):
        moves.append(Move(between(max(0, uses[0] - 2), uses[0]), "alloc", number, None, 0, size))
    for use, following in pairwise(uses):
        if draw(st.booleans()):
            out = between(use + 1, following)
            moves += _swap(draw, number, size, out, between(out, following), tiers)
    if tensor.persistent and draw(st.booleans()):
        moves += _swap(draw, number, size, between(uses[-1] + 1, count), between(0, uses[0]), tiers)
    if not tensor.persistent and draw(st.booleans()):
        moves.append(Move(between(uses[-1] + 1, min(count, uses[-1] + 2)), "free", number, None, 0, size))
    return moves


def _swap(draw, number, size, out, back, tiers):
    first, last = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
    parts = draw(st.sampled_from([[(0, size)], [(first, last)], [(0, first), (first, size)]]))
    chosen = [(draw(st.sampled_from(tiers)), *part) for part in parts]
    evictions = [Move(out, "evict", number, *part) for part in chosen]
    return evictions + [Move(back, "prefetch", number, *part) for part in chosen]


@dataclass
class Op:
    kind: str
    tensor: int
    tier: str | None
    start: int
    end: int
    after: int
    """Kernels, over all steps, that end before it is issued."""
    bytes: int
    dropped: dict[str | None, int]


@dataclass
class Reading:
    """What a plan means: ops in order of issue, bytes on each tier at the beginning, and the most there are at any point of the order."""

    ops: list[Op]
    initial: dict[str, int]
    peak: dict[str, int]


def read(step: Step, moves: list[Move], steps: int) -> Reading:
    """Replay a valid plan byte by byte, each directive taking effect at once."""
    places = [["gpu" if tensor.persistent else None] * tensor.size_bytes for tensor in step.tensors]
    for move in moves:
        if step.tensors[move.tensor].persistent:
            places[move.tensor][move.start : move.end] = [move.tier if move.kind == "evict" else "gpu"] * (move.end - move.start)
    initial = _use(places)
    peak, ops, count = dict(initial), [], len(step.kernels)
    for number in range(steps):
        for slot in range(count + 1):
            for move in _issued(step, moves, slot):
                ops += _apply(places, move, number * count + slot)
                peak = {tier: max(peak[tier], used) for tier, used in _use(places).items()}
    return Reading(ops, initial, peak)


def sized(on: Machine, reading: Reading, gpu_spare=0, host_spare=0) -> Machine:
    """The machine with the memory that a plan needs when directives take effect at once, and some to spare."""
    return replace(on, gpu=Gpu(memory=reading.peak["gpu"] + gpu_spare), host=Host(reading.peak["host"] + host_spare))


def _issued(step, moves, slot):
    uses = [[n for n, kernel in enumerate(step.kernels) if t in kernel.reads + kernel.writes] for t in range(len(step.tensors))]
    own = [t for t, tensor in enumerate(step.tensors) if not tensor.persistent]
    named = {kind: {move.tensor for move in moves if move.kind == kind} for kind in ("alloc", "free")}
    sizes = [tensor.size_bytes for tensor in step.tensors]
    yield from (Move(slot, "free", t, None, 0, sizes[t]) for t in own if uses[t][-1] + 1 == slot and t not in named["free"])
    yield from (move for move in moves if move.slot == slot)
    yield from (Move(slot, "alloc", t, None, 0, sizes[t]) for t in own if uses[t][0] == slot and t not in named["alloc"])


def _apply(places, move, after):
    source, target = {"alloc": (None, "gpu"), "evict": ("gpu", move.tier), "prefetch": (move.tier, "gpu"), "free": ("any", None)}[move.kind]
    affected = places[move.tensor][move.start : move.end]
    moving = [place for place in affected if (place is not None if source == "any" else place == source)]
    assert move.kind == "free" or len(moving) == len(affected), "the plan is not valid"
    places[move.tensor][move.start : move.end] = [target] * len(affected)
    if moving:
        dropped = {place: moving.count(place) for place in moving} if move.kind == "free" else {}
        yield Op(move.kind, move.tensor, move.tier, move.start, move.end, after, len(moving), dropped)


def _use(places):
    return {tier: sum(of.count(tier) for of in places) for tier in ("gpu", "host", "ssd")}


def kernel_ends(step: Step, reading: Reading, machine: Machine, steps: int) -> list[int]:
    """When each kernel of all steps ends, where no two copies share a link: the least times that satisfy every rule at once.

    Kernels have to take time: else a tensor could be given the room that it leaves itself.
    """
    ops, count = reading.ops, len(step.kernels)
    ends, granted, done = [0] * (steps * count), [0] * len(ops), [0] * len(ops)
    while True:
        before = (list(ends), list(granted), list(done))
        for number, op in enumerate(ops):
            _time(number, op, reading, machine, ends, granted, done)
        for number in range(steps * count):
            kernel = step.kernels[number % count]
            waits = [done[n] for n, op in enumerate(ops) if op.after <= number and op.tensor in kernel.reads + kernel.writes]
            ends[number] = max([*ends[:number][-1:], *waits, 0]) + kernel.time_ns
        if before == (ends, granted, done):
            return ends


def _time(number, op, reading, machine, ends, granted, done):
    ops, earlier = reading.ops, range(number)
    issued = ends[op.after - 1] if op.after else 0
    ready = max([done[n] for n in earlier if ops[n].tensor == op.tensor and ops[n].start < op.end and op.start < ops[n].end], default=0)
    room = [n for n in range(number + 1) if ops[n].kind in ("alloc", "prefetch")]
    left = {"gpu": [(done[n], _leaving(other, "gpu")) for n, other in enumerate(ops)]}
    left["host"] = [(done[n], _leaving(other, "host")) for n, other in enumerate(ops)]
    if op.kind in ("alloc", "prefetch"):
        taken = reading.initial["gpu"] + sum(ops[n].bytes for n in room) - machine.gpu.usable
        granted[number] = max(issued, *(granted[n] for n in room), _when_left(left["gpu"], taken))
    if op.kind == "alloc":
        done[number] = max(granted[number], ready)
    elif op.kind == "free":
        done[number] = max(issued, ready)
    else:
        engine = [n for n in earlier if (ops[n].kind, ops[n].tier) == (op.kind, op.tier)]
        start = max(issued, ready, granted[number], *(done[n] for n in engine), 0)
        if (op.kind, op.tier) == ("evict", "host"):
            taken = reading.initial["host"] + sum(ops[n].bytes for n in [*engine, number]) - machine.host.memory
            start = max(start, _when_left(left["host"], taken))
        link = machine.ssd if op.tier == "ssd" else machine.pcie
        bandwidth = min(link.bandwidth, machine.pcie.bandwidth)
        done[number] = start + link.latency_ns + -(-op.bytes * 10**9 // bandwidth)


def _leaving(op, tier):
    """Bytes that leave a tier when an op has ended."""
    if op.kind == "free":
        return op.dropped.get(tier, 0)
    return op.bytes if (op.kind, tier) == ("evict", "gpu") or (op.kind == "prefetch" and op.tier == tier) else 0


def _when_left(left, needed):
    """When so many bytes have left."""
    if needed <= 0:
        return 0
    times, total, totals = [], 0, []
    for time, size in sorted(left):
        total += size
        times.append(time)
        totals.append(total)
    return times[bisect_left(totals, needed)] if total >= needed else 10**9
