"""Between the two views of one rank's step: a program's ops, and the numbered tensors, kernels and moves of :mod:`g10c.ir.step`.

``step_of`` and ``moves_of`` read a program; ``with_moves`` puts moves back as directives. ``moves_of(with_moves(p, moves)) == moves``
for moves in the order of their slots, and ``step_of`` does not depend on directives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from g10c.compiler.rewriting.rewriter import Rewriter
from g10c.ir.errors import Diagnostic, InputError, InternalError, near_hint
from g10c.ir.ops import TIERS, OpKind
from g10c.ir.program import Op, Program, directive
from g10c.ir.source import Location
from g10c.ir.step import Kernel, Move, MoveKind, Step, StepTensor, Tier
from g10c.ir.values import Range


def step_of(program: Program) -> Step:
    """Number tensors in declaration order and kernels in issue order; directives are left out.

    A fault time that the program does not give is the kernel's ``time``. One below it is measurement noise and is raised: faults never make
    a kernel faster, nor do fewer faults make it slower (as G10's artifact reads its profiles, ``main.cc``, ``loadKernelTimes``).

    Raises :class:`~g10c.ir.errors.InputError` with every op that a step of one rank cannot hold: a collective, an op for some ranks only,
    a kernel on another stream than ``compute``, a tensor that is not declared.
    """
    numbers = _tensor_numbers(program)
    diagnostics: list[Diagnostic] = []
    kernels = [_kernel(op, numbers, diagnostics) for op in program.ops if _in_step(op, diagnostics) and op.kind is OpKind.KERNEL]
    if diagnostics:
        raise InputError(diagnostics)
    tensors = (StepTensor(tensor.name, tensor.size_bytes, tensor.persistent) for tensor in program.tensors.values())
    return Step(program.name, tuple(tensors), tuple(kernels))


def moves_of(program: Program) -> list[Move]:
    """List the directives in order; the slot of each is the number of kernels before it, its bytes the whole tensor unless it has a range.

    Raises :class:`~g10c.ir.errors.InputError` with every directive that is not one on known bytes of one declared tensor, and with every
    op that :func:`step_of` refuses because of its kind or placement.
    """
    numbers = _tensor_numbers(program)
    diagnostics: list[Diagnostic] = []
    moves: list[Move] = []
    slot = 0
    for op in program.ops:
        if not _in_step(op, diagnostics):
            continue
        if op.kind is OpKind.KERNEL:
            slot += 1
        elif move := _move(op, slot, program, numbers, diagnostics):
            moves.append(move)
    if diagnostics:
        raise InputError(diagnostics)
    return moves


def with_moves(program: Program, moves: Iterable[Move], location: Location | None = None) -> Program:
    """Replace all directives by ``moves``: each directly before the kernel of its slot, those of one slot in the order given.

    Moves of the slot after the last kernel end the program. A move of a whole tensor has no range. ``location`` is that of the new
    directives. A slot, tensor or byte range that the program does not have is an :class:`~g10c.ir.errors.InternalError`.
    """
    names, kernels = list(program.tensors), program.kernels
    rewriter = Rewriter(program)
    for op in program.ops:
        if op.kind is OpKind.DIRECTIVE:
            rewriter.erase(op)
    for move in moves:
        new = _directive(move, names, program, location)
        if not 0 <= move.slot <= len(kernels):
            raise InternalError.at(f"a move is in slot {move.slot} of {program.name!r}, which has slots 0 to {len(kernels)}")
        if move.slot < len(kernels):
            rewriter.insert_before(kernels[move.slot], new)
        else:
            rewriter.append(new)
    return rewriter.finish()


def _tensor_numbers(program: Program) -> dict[str, int]:
    return {name: number for number, name in enumerate(program.tensors)}


def _in_step(op: Op, diagnostics: list[Diagnostic]) -> bool:
    """Whether a step of one rank can hold the op; a diagnostic says why not."""
    if op.kind is OpKind.COLLECTIVE:
        reason = f"{op.name!r} is a collective: it takes several ranks"
    elif op.on is not None:
        reason = f"{op.name!r} runs on ranks {op.on!r} only"
    elif op.kind is OpKind.KERNEL and op.stream != "compute":
        reason = f"kernel {op.name!r} runs on stream {op.stream!r}"
    else:
        return True
    diagnostics.append(Diagnostic(reason, op.location, "expected a step of one rank: kernels on the compute stream, and directives"))
    return False


def _kernel(op: Op, numbers: dict[str, int], diagnostics: list[Diagnostic]) -> Kernel:
    time_ns = op.time_ns
    output_fault_ns = max(time_ns, _time(op, "output_fault_time"))
    all_fault_ns = max(output_fault_ns, _time(op, "all_fault_time"))
    reads = _numbered(op, op.reads, numbers, diagnostics)
    writes = _numbered(op, op.writes, numbers, diagnostics)
    return Kernel(op.name, time_ns, all_fault_ns, output_fault_ns, reads, writes)


def _time(op: Op, attr: str) -> int:
    value = op.attrs.get(attr, 0)
    return value if isinstance(value, int) else 0


def _numbered(op: Op, names: tuple[str, ...], numbers: dict[str, int], diagnostics: list[Diagnostic]) -> tuple[int, ...]:
    try:
        return tuple([numbers[name] for name in names])
    except KeyError:
        unknown = [name for name in dict.fromkeys(names) if name not in numbers]
    diagnostics += [
        Diagnostic(f"{op.name!r} uses tensor {name!r}, which is not declared", op.location, near_hint(name, numbers, "tensors"))
        for name in unknown
    ]
    return ()


def _move(op: Op, slot: int, program: Program, numbers: dict[str, int], diagnostics: list[Diagnostic]) -> Move | None:
    if len(op.reads) != 1 or op.writes:
        diagnostics.append(
            Diagnostic(f"{op.name!r} names {len(op.reads)} tensors", op.location, "expected exactly one, and nothing written")
        )
        return None
    found = _numbered(op, op.reads, numbers, diagnostics)
    if not found:
        return None
    tier = op.attrs.get({"evict": "to", "prefetch": "from"}.get(op.name, ""))
    if op.name in ("evict", "prefetch") and tier not in TIERS:
        attr = "to" if op.name == "evict" else "from"
        problem = f"has no tier in {attr!r}" if tier is None else f"has {str(tier)!r} in {attr!r}"
        diagnostics.append(Diagnostic(f"{op.name!r} of {op.reads[0]!r} {problem}", op.location, f"expected {' or '.join(TIERS)}"))
        return None
    size = program.tensors[op.reads[0]].size_bytes
    span = op.attrs.get("range", Range(0, size))
    if not isinstance(span, Range) or not 0 <= span.start <= span.end <= size:
        message = f"{op.name!r} names bytes {span} of {op.reads[0]!r}"
        diagnostics.append(Diagnostic(message, op.location, f"expected a range inside 0B..{size}B, the whole tensor"))
        return None
    return Move(slot, cast(MoveKind, op.name), found[0], cast("Tier | None", tier), int(span.start), int(span.end))


def _directive(move: Move, names: list[str], program: Program, location: Location | None) -> Op:
    if not 0 <= move.tensor < len(names):
        raise InternalError.at(f"a move names tensor {move.tensor} of {program.name!r}, which has {len(names)}")
    name = names[move.tensor]
    size = program.tensors[name].size_bytes
    if not 0 <= move.start <= move.end <= size:
        raise InternalError.at(f"a move names bytes {move.start} to {move.end} of {name!r}, which has {size}")
    if (move.tier is None) is (move.kind in ("evict", "prefetch")):
        raise InternalError.at(f"a move of {name!r} is of kind {move.kind!r} with tier {move.tier}")
    span = None if (move.start, move.end) == (0, size) else (move.start, move.end)
    return directive(move.kind, name, move.tier, span, location)
