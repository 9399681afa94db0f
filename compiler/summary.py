"""What is in a program, without simulating: counts, bytes by role, live and active memory, the largest tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from g10c.compiler.analyses import LIFETIMES, STEP
from g10c.compiler.analysis import AnalysisCache
from g10c.compiler.memory_use import memory_use
from g10c.ir.ops import OpKind
from g10c.ir.values import Range, Size

if TYPE_CHECKING:
    from g10c.compiler.vitality import Lifetimes
    from g10c.ir.program import Program
    from g10c.ir.step import Step


@dataclass(frozen=True)
class Summary:
    """Counts, bytes and times of one program. *Live*: allocated by liveness; *active*: touched by the running kernel."""

    name: str
    level: str
    kernels: int
    ideal_time_ns: int
    ops_by_name: dict[str, int]
    tensors_by_role: dict[str, tuple[int, int]]
    """Role to (number, bytes)."""
    live_peak_bytes: int
    live_peak_kernel: int
    live_peak_parts: dict[str, int]
    """Bytes of weights, inputs and intermediates at the peak."""
    active_peak_bytes: int
    active_peak_kernel: int
    active_peak_parts: dict[str, int]
    largest: tuple[tuple[str, str, int], ...]
    """(name, role, bytes), largest first."""
    directives: dict[str, int] = field(default_factory=dict)
    """Bytes by directive and tier, such as ``evict to host``."""


def summarize(program: Program, largest: int = 8) -> Summary:
    """Describe a program; sizes are exact bytes, before rounding to pages."""
    cache = AnalysisCache()
    step = cache.get(STEP, program)
    live = live_bytes(step, cache.get(LIFETIMES, program))
    use = memory_use(program)
    active = [sum(step.tensors[t].size_bytes for t in {*kernel.reads, *kernel.writes}) for kernel in step.kernels]
    counts: dict[str, int] = {}
    for op in program.ops:
        counts[op.name] = counts.get(op.name, 0) + 1
    roles: dict[str, tuple[int, int]] = {}
    for tensor in program.tensors.values():
        number, size = roles.get(tensor.role, (0, 0))
        roles[str(tensor.role)] = (number + 1, size + tensor.size_bytes)
    by_size = sorted(program.tensors.values(), key=lambda tensor: -tensor.size_bytes)
    return Summary(
        name=program.name,
        level=str(program.level),
        kernels=len(step.kernels),
        ideal_time_ns=step.ideal_time_ns,
        ops_by_name=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        tensors_by_role=roles,
        live_peak_bytes=max(live, default=0),
        live_peak_kernel=_peak(live),
        live_peak_parts=asdict(use.live[_peak(live)]) if live else {},
        active_peak_bytes=max(active, default=0),
        active_peak_kernel=_peak(active),
        active_peak_parts=asdict(use.active[_peak(active)]) if active else {},
        largest=tuple((tensor.name, str(tensor.role), tensor.size_bytes) for tensor in by_size[:largest]),
        directives=_directive_bytes(program),
    )


def _peak(values: list[int]) -> int:
    return values.index(max(values)) if values else 0


def live_bytes(step: Step, lifetimes: Lifetimes) -> list[int]:
    """Bytes allocated while each kernel runs, when everything stays in GPU memory from birth to death."""
    change = [0] * (len(step.kernels) + 1)
    for tensor, birth, death in zip(step.tensors, lifetimes.birth, lifetimes.death, strict=True):
        if tensor.persistent:
            change[0] += tensor.size_bytes
        elif birth >= 0:
            change[int(birth)] += tensor.size_bytes
            change[max(int(death), int(birth) + 1)] -= tensor.size_bytes
    return list(accumulate(change))[: len(step.kernels)]


def _directive_bytes(program: Program) -> dict[str, int]:
    totals: dict[str, int] = {}
    for op in program.ops:
        if op.kind is OpKind.DIRECTIVE:
            tensor = program.tensors[op.reads[0]]
            span = op.attrs.get("range", Range(Size(0), Size(tensor.size_bytes)))
            size = span.end - span.start if isinstance(span, Range) else 0
            totals[directive_label(op.name, op.attrs)] = totals.get(directive_label(op.name, op.attrs), 0) + size
    return totals


def directive_label(name: str, attrs: object) -> str:
    """A directive with its tier: ``evict to host``."""
    words: Iterable[str] = ("to", "from")
    tiers = [f" {word} {attrs[word]}" for word in words if isinstance(attrs, dict) and word in attrs]
    return name + "".join(tiers)
