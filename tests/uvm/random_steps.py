"""Random steps with plans, and machines on which they fit."""

from __future__ import annotations

from hypothesis import strategies as st
from uvm.build import BYTE_PER_NS, machine

from g10c.ir.machine import Machine
from g10c.ir.step import Kernel, Move, Step, StepTensor

PAGE = 4


@st.composite
def steps(draw: st.DrawFn, largest: int) -> Step:
    tensors = draw(st.lists(st.builds(StepTensor, st.just("t"), st.integers(1, largest), st.booleans()), min_size=2, max_size=7))
    numbers = st.integers(0, len(tensors) - 1)
    operands = st.lists(numbers, min_size=1, max_size=3, unique=True).map(tuple)
    time = st.integers(1, 200)
    kernels = draw(
        st.lists(st.builds(lambda t, r, w: Kernel("k", t, 3 * t, 2 * t, r, w), time, operands, operands), min_size=1, max_size=10)
    )
    return Step("random", tuple(tensors), tuple(kernels))


@st.composite
def moves(draw: st.DrawFn, step: Step) -> list[Move]:
    """Whole tensors, in order of slots."""
    kinds = st.sampled_from([("alloc", None), ("prefetch", "ssd"), ("free", None), ("evict", "host"), ("evict", "ssd")])
    drawn = draw(st.lists(st.tuples(st.integers(0, len(step.kernels)), kinds, st.integers(0, len(step.tensors) - 1)), max_size=12))
    drawn.sort(key=lambda move: move[0])
    return [Move(slot, kind, t, tier, 0, step.tensors[t].size_bytes) for slot, (kind, tier), t in drawn]


def pages_at_once(step: Step) -> int:
    """Pages of the largest kernel."""
    return max(sum(-(-step.tensors[t].size_bytes // PAGE) for t in {*k.reads, *k.writes}) for k in step.kernels)


@st.composite
def cases(draw: st.DrawFn, batch: st.SearchStrategy[int], largest: int = 160) -> tuple[Step, list[Move], Machine]:
    step = draw(steps(largest))
    gpu = pages_at_once(step) + draw(st.integers(0, 60))
    pages = draw(batch)
    on = machine(
        gpu=gpu * PAGE,
        host=draw(st.sampled_from([0, 5, 20, 50, 10_000])) * PAGE,
        ssd=draw(st.sampled_from([BYTE_PER_NS // 3 + 1, BYTE_PER_NS // 2, BYTE_PER_NS])),
        batch=pages,
        page=PAGE,
        malloc=draw(st.sampled_from([0.0, 0.1, 0.6])),
        fault_model=draw(st.sampled_from(["artifact", "profiled"])),
    )
    return step, draw(moves(step)), on


class Whim:
    """A policy that fetches, spares and discards by kernel as it was told."""

    def __init__(self, fetched: list[list[int]], spared: list[frozenset[int]], discarded: list[frozenset[int]]) -> None:
        self._fetched, self._spared, self._discarded = fetched, spared, discarded

    def begin(self, step: Step, machine: Machine) -> None:
        pass

    def prefetch(self, kernel: int, memory: object) -> list[int]:
        return self._fetched[kernel]

    def spared(self, kernel: int) -> frozenset[int]:
        return self._spared[kernel]

    def discarded(self, kernel: int) -> frozenset[int]:
        return self._discarded[kernel]


@st.composite
def whims(draw: st.DrawFn, step: Step) -> Whim:
    """Spares what a kernel needs; discards only what no kernel needs at that time."""
    count = len(step.kernels)
    tensors = st.integers(0, len(step.tensors) - 1)
    sets = st.frozensets(tensors, max_size=4)
    lists = st.lists(tensors, max_size=2, unique=True)
    needed = [frozenset((*k.reads, *k.writes)) for k in step.kernels]
    spared = [draw(sets) | own for own in needed]
    fetched = [draw(lists) for _ in range(count)]
    return Whim(fetched, spared, [draw(sets) - own for own in needed])
