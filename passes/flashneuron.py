"""``flashneuron``: offloading of forward intermediates to SSD, a baseline of G10."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from g10c.compiler.analyses import LIFETIMES, PERIODS, STEP
from g10c.compiler.operand_order import OperandOrder, operands_of
from g10c.compiler.options import OptionError, to_text
from g10c.compiler.pass_base import Pass, PassContext, option
from g10c.compiler.step_of import with_moves
from g10c.ir.errors import Diagnostic, InfeasibleError, InputError
from g10c.ir.program import Level
from g10c.ir.step import Move, Step
from g10c.ir.values import human_size
from g10c.passes.greedy.emission import in_issue_order
from g10c.passes.policy import under_policy

if TYPE_CHECKING:
    from g10c.compiler.vitality import Lifetimes, Period
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program


@dataclass(frozen=True)
class FlashNeuronPass(Pass):
    """Evicts results of forward to SSD until the rest fits, and names the policy that brings them back (FlashNeuron, FAST'21).

    As G10's artifact models it: what backward uses of forward's intermediates is evicted in order of first use, each after its last use
    in forward, until the rest fits beside weights and the largest kernel. The policy `flashneuron` places every tensor in one piece and
    fetches in backward when the largest hole has room. Directives that are there are replaced.
    """

    name = "flashneuron"
    gives = Level.PLANNED
    preserves = frozenset({STEP, LIFETIMES, PERIODS})

    memory_line: float = option(1.0, "factor on the GPU memory to plan for; below 1 it leaves room for holes")
    tie_order: Literal["artifact", "stable"] = option(
        "artifact", "which of the evictions of one kernel is first: as G10's artifact sorts, or in order of first use"
    )
    operand_order: OperandOrder = option("listed", "the order of a kernel's tensors: as listed, or as in the artifact's hash sets")
    bandwidth: float = option(1.0, "factor on bandwidths at run time (artifact: 1.073741824, since it reads GB/s as 2^30 bytes per second)")

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        for name, value in (("memory_line", self.memory_line), ("bandwidth", self.bandwidth)):
            if not 0 < value <= 1000:
                raise OptionError(f"{name}: expected a factor above 0, at most 1000, found {value}", "1.0 takes the machine as it is")

    def run(self, program: Program, context: PassContext) -> Program:
        """Plan, insert and name the policy; see the class."""
        machine = context.machine
        if machine.ssd.bandwidth <= 0:
            hint = "give it one: --set ssd.bandwidth=3.2GB/s"
            raise InfeasibleError.at(f"flashneuron evicts to SSD, and machine {machine.name!r} has none", program.location, hint)
        backward = first_of_backward(program)
        step, lifetimes = context.analysis(STEP, program), context.analysis(LIFETIMES, program)
        periods = context.analysis(PERIODS, program)
        room = room_for_results(program, step, machine, self.memory_line)
        chosen = plan_evictions(step, lifetimes, periods, machine, backward, room, self.operand_order)
        if chosen.left_bytes > room:
            raise _remainder(program, step, machine, chosen, backward, room)
        moves = in_issue_order(list(chosen.moves), self.tie_order)
        context.count("tensors evicted", len(moves))
        context.count("bytes evicted to ssd", sum(move.end for move in moves))
        given = {"backward": str(backward)}
        if self.operand_order != "listed":
            given["operand_order"] = self.operand_order
        if self.bandwidth != 1.0:
            given["bandwidth"] = to_text(self.bandwidth)
        text = ",".join(f"{name}={value}" for name, value in given.items())
        return under_policy(with_moves(program, moves), f"flashneuron{{{text}}}", "direct")


@dataclass(frozen=True, slots=True)
class Evictions:
    """Moves in order of first use, the bytes that stay of what backward uses, and those tensors that cannot be evicted."""

    moves: tuple[Move, ...]
    left_bytes: int
    kept: tuple[int, ...]


def first_of_backward(program: Program) -> int:
    """The number of the first kernel that is not of phase ``forward``: that of the loss."""
    phases = [str(op.attrs.get("phase", "")) for op in program.kernels]
    for number, phase in enumerate(phases):
        if not phase:
            message = f"{program.kernels[number].name} has no phase: flashneuron has to know which kernels are of forward"
            raise InputError.at(message, program.kernels[number].location, "give every kernel one: {phase = forward}")
        if phase != "forward":
            return number
    raise InputError.at(
        f"program {program.name!r} has no kernel of loss or backward", program.location, "flashneuron is for training steps"
    )


def room_for_results(program: Program, step: Step, machine: Machine, memory_line: float) -> int:
    """Bytes of GPU memory left beside weights and the largest kernel (``scheduling_offload_flashneuron``: its weights count twice).

    Raises :class:`InfeasibleError` where nothing is left.
    """
    sizes = _page_sizes(step, machine)
    weights = sum(size for size, tensor in zip(sizes, step.tensors, strict=True) if tensor.persistent)
    needed = [sum(sizes[tensor] for tensor in kernel.operands) for kernel in step.kernels]
    largest = int(np.argmax(needed)) if needed else 0
    there = int(machine.gpu.usable * memory_line)
    room = there - weights - max(needed, default=0)
    if room <= 0 and needed:
        message = (
            f"kernel {largest} ({step.kernels[largest].name}) needs {human_size(needed[largest])} beside {human_size(weights)} of weights; "
            f"of {human_size(there)} of GPU memory {human_size(1 - room)} are missing"
        )
        raise InfeasibleError(Diagnostic(message, program.kernels[largest].location, "flashneuron keeps all weights in GPU memory"))
    return room


def plan_evictions(
    step: Step,
    lifetimes: Lifetimes,
    periods: Sequence[Period],
    machine: Machine,
    backward: int,
    room: int,
    order: OperandOrder = "listed",
) -> Evictions:
    """Choose what to evict, in order of first use, until what stays is less than ``room`` bytes.

    A tensor is evicted after its last use in forward. One that the last kernels of forward use on, and the loss does not, would leave
    when the loss begins: as in the artifact it counts as evicted, but stays.
    """
    sizes = _page_sizes(step, machine)
    results = _results_for_backward(step, lifetimes, backward, order)
    starts: dict[int, int] = {}
    for period in periods:
        if period.start <= backward:
            starts[period.tensor] = period.start
    left, moves, kept = sum(sizes[tensor] for tensor in results), [], []
    for tensor in results:
        if left < room:
            break
        if tensor not in starts:
            kept.append(tensor)
            continue
        left -= sizes[tensor]
        moves.append(Move(starts[tensor], "evict", tensor, "ssd", 0, step.tensors[tensor].size_bytes))
    return Evictions(tuple(moves), left, tuple(kept))


def _results_for_backward(step: Step, lifetimes: Lifetimes, backward: int, order: OperandOrder) -> list[int]:
    """Tensors of forward that are read from the loss on, in order of first use."""
    found: dict[int, None] = {}
    for kernel in step.kernels[:backward]:
        for tensor in operands_of(kernel, order):
            if not step.tensors[tensor].persistent and not lifetimes.never_read[tensor] and lifetimes.death[tensor] > backward:
                found[tensor] = None
    return list(found)


def _page_sizes(step: Step, machine: Machine) -> list[int]:
    return [machine.pages(tensor.size_bytes) * machine.uvm.page for tensor in step.tensors]


def _remainder(program: Program, step: Step, machine: Machine, chosen: Evictions, backward: int, room: int) -> InfeasibleError:
    """The error when what cannot be evicted is too large."""
    sizes = _page_sizes(step, machine)
    missing = human_size(chosen.left_bytes - room)
    largest = sorted(chosen.kept, key=lambda tensor: -sizes[tensor])[:3]
    message = (
        f"when kernel {backward} ({step.kernels[backward].name}) begins, {human_size(chosen.left_bytes)} that cannot be evicted are in GPU "
        f"memory; there is room for {human_size(room)} beside weights and the largest kernel, {missing} are missing"
    )
    hint = "they are used without a break: " + ", ".join(f"%{step.tensors[tensor].name} {human_size(sizes[tensor])}" for tensor in largest)
    return InfeasibleError(Diagnostic(message, program.kernels[backward].location, hint))
