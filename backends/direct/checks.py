"""What can be refused before anything is simulated: malformed moves, tiers that are not there, kernels that fit in no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from g10c.backends.direct.actions import kernel_text, move_text, sizes
from g10c.backends.direct.places import Places
from g10c.ir.errors import Diagnostic, InfeasibleError, InputError
from g10c.ir.machine import Machine
from g10c.ir.step import Move, Step
from g10c.ir.values import human_size


def check_moves(places: Places, moves: Sequence[Move]) -> None:
    """Raise :class:`InputError` with every move that names no kernel, tensor, byte or tier of the step."""
    mistakes = [
        Diagnostic(f"move {number}: {mistake}", places.move(number))
        for number, move in enumerate(moves)
        for mistake in _mistakes(places.step, move)
    ]
    if mistakes:
        raise InputError(mistakes)


def _mistakes(step: Step, move: Move) -> Iterator[str]:
    if not 0 <= move.slot <= len(step.kernels):
        yield f"slot {move.slot} is not one of 0 to {len(step.kernels)} ({len(step.kernels)} kernels, and the end of the step)"
    if not 0 <= move.tensor < len(step.tensors):
        yield f"tensor {move.tensor} is not one of 0 to {len(step.tensors) - 1}"
        return
    tensor = step.tensors[move.tensor]
    if not 0 <= move.start <= move.end <= tensor.size_bytes:
        yield f"range {move.start}B..{move.end}B does not lie in %{tensor.name}, which has {tensor.size_bytes} bytes"
    if move.kind not in ("alloc", "free", "evict", "prefetch"):
        yield f"{move.kind!r} is no directive: expected alloc, free, evict or prefetch"
        return
    copies = move.kind in ("evict", "prefetch")
    if move.tier not in (("host", "ssd") if copies else (None,)):
        yield f"{move.kind}(%{tensor.name}) names the tier {move.tier!r}: expected {'host or ssd' if copies else 'none'}"


def check_machine(places: Places, moves: Sequence[Move], machine: Machine) -> None:
    """Raise :class:`InfeasibleError` with every kernel that alone exceeds GPU memory and every move that cannot be made on the machine."""
    problems = [*_kernels_too_large(places, machine), *_impossible_moves(places, moves, machine)]
    if problems:
        raise InfeasibleError(problems)


def _kernels_too_large(places: Places, machine: Machine) -> Iterator[Diagnostic]:
    step, usable = places.step, machine.gpu.usable
    bytes_of = [tensor.size_bytes for tensor in step.tensors]
    for number, kernel in enumerate(step.kernels):
        tensors = {*kernel.reads, *kernel.writes}
        needed = sum([bytes_of[tensor] for tensor in tensors])
        if needed > usable:
            largest = sizes(step, [(bytes_of[tensor], tensor) for tensor in tensors])
            message = f"{kernel_text(step, number)} alone needs {human_size(needed)} of GPU memory, {machine.name} has {human_size(usable)}"
            yield Diagnostic(message, places.kernel(number), f"its tensors: {largest}")


def _impossible_moves(places: Places, moves: Sequence[Move], machine: Machine) -> Iterator[Diagnostic]:
    for number, move in enumerate(moves):
        reason = _impossible(places.step, move, machine) if move.start < move.end else None
        if reason:
            yield Diagnostic(f"{move_text(places.step, move)}: {reason}", places.move(number))


def _impossible(step: Step, move: Move, machine: Machine) -> str | None:
    size = move.end - move.start
    if move.tier and machine.pcie.bandwidth <= 0:
        return f"{machine.name} has no PCIe link (pcie.bandwidth is 0)"
    if move.tier == "ssd" and machine.ssd.bandwidth <= 0:
        return f"{machine.name} has no SSD (ssd.bandwidth is 0)"
    if move.tier == "host" and size > machine.host.memory:
        return f"{human_size(size)} do not fit in host memory, {machine.name} has {human_size(machine.host.memory)}"
    if move.kind == "free" and step.tensors[move.tensor].persistent:
        return "a persistent tensor would be lost"
    return None
