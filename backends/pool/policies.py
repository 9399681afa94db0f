"""Copy policies: what G10's artifact runs its explicit-copy baselines under."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from g10c.compiler.operand_order import OperandOrder, operands_of
from g10c.compiler.options import OptionError
from g10c.compiler.pass_base import option, required_option
from g10c.compiler.protocols import CopyPolicy, CopyRules, Pool
from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step

Quirk = Literal["weights-return-free", "demand-from-ssd", "copies-again"]

MAX_FACTOR = 1000.0


def _check_factor(name: str, value: float) -> None:
    if not 0 < value <= MAX_FACTOR:
        raise OptionError(f"{name}: expected a factor above 0, at most {MAX_FACTOR:g}, found {value}", "1.0 takes the machine as it is")


def _scaled(rules: CopyRules, bandwidth: float) -> CopyRules:
    ssd, host = round(rules.ssd_bandwidth * bandwidth), round(rules.host_bandwidth * bandwidth)
    return dataclasses.replace(rules, ssd_bandwidth=ssd, host_bandwidth=host)


def _evicted(moves: Sequence[Move]) -> frozenset[int]:
    return frozenset(move.tensor for move in moves if move.kind == "evict")


@dataclass
class OnDemand(CopyPolicy):
    """Only the plan moves data ahead; what a kernel does not find is fetched when it becomes current.

    With memory=4, bandwidth=1.073741824 and all quirks it is what G10's artifact runs G10-GDS and G10-Host on
    (``FlashNeuron_simulator`` in ``analysis.cc``).
    """

    name = "on-demand"

    memory: float = option(1.0, "factor on GPU memory (artifact: 4)")
    bandwidth: float = option(1.0, "factor on bandwidths (artifact: 1.073741824, since it reads GB/s as 2^30 bytes per second)")
    quirks: tuple[Quirk, ...] = option((), "what the artifact does otherwise: weights-return-free, demand-from-ssd, copies-again")

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        _check_factor("memory", self.memory)
        _check_factor("bandwidth", self.bandwidth)

    def begin(self, step: Step, moves: Sequence[Move], machine: Machine) -> CopyRules:
        """Evicted tensors have their places at the upper end."""
        return dataclasses.replace(
            _scaled(CopyRules.of(machine), self.bandwidth),
            memory_bytes=int(machine.gpu.usable * self.memory),
            upper=_evicted(moves),
            weights_return_free="weights-return-free" in self.quirks,
            demand_from_ssd="demand-from-ssd" in self.quirks,
            copies_again="copies-again" in self.quirks,
        )


@dataclass
class FlashNeuron(CopyPolicy):
    """FlashNeuron (FAST'21) as G10's artifact models it (``FlashNeuron_simulator`` in ``analysis.cc``).

    Weights, and room for scratch, stay at the lower end of memory; what is evicted has its places at the upper end. Backward begins when
    all evictions have ended. From then on, after each kernel, what the next ones need is fetched in order while the largest hole keeps
    room for the largest kernel.
    """

    name = "flashneuron"

    backward: int = required_option("the kernel with which backward begins: that of the loss")
    bandwidth: float = option(1.0, "factor on bandwidths (artifact: 1.073741824, since it reads GB/s as 2^30 bytes per second)")
    operand_order: OperandOrder = option("listed", "the order of a kernel's tensors: as listed, or as in the artifact's hash sets")
    _needed: list[tuple[int, ...]] = field(default_factory=list, init=False, repr=False)
    _largest_bytes: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        _check_factor("bandwidth", self.bandwidth)

    def begin(self, step: Step, moves: Sequence[Move], machine: Machine) -> CopyRules:
        """Note what each kernel needs that was evicted, and how much the largest kernel needs beside weights."""
        upper = _evicted(moves)
        operands = [operands_of(kernel, self.operand_order) for kernel in step.kernels]
        self._needed = [tuple(tensor for tensor in tensors if tensor in upper) for tensors in operands]
        own = [sum(machine.pages(step.tensors[t].size_bytes) for t in tensors if not step.tensors[t].persistent) for tensors in operands]
        self._largest_bytes = max(own, default=0) * machine.uvm.page
        rules = _scaled(CopyRules.of(machine), self.bandwidth)
        return dataclasses.replace(rules, operand_order=self.operand_order, upper=upper, shared_scratch=True, drained_at=self.backward)

    def fetch_after(self, kernel: int, pool: Pool) -> Sequence[int]:
        """What the next kernels need and does not fit in the largest hole less the room for a kernel ends the list."""
        return tuple(self._next(kernel, pool)) if kernel >= self.backward else ()

    def _next(self, kernel: int, pool: Pool) -> Iterator[int]:
        room = pool.largest_hole_bytes - self._largest_bytes
        chosen: set[int] = set()
        for tensors in self._needed[kernel + 1 :]:
            for tensor in tensors:
                if tensor in chosen or pool.has_place(tensor):
                    continue
                if room <= pool.place_bytes(tensor):
                    return
                room -= pool.place_bytes(tensor)
                chosen.add(tensor)
                yield tensor
