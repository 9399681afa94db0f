"""The simulator as a backend: picks the runtime that the program asks for and runs the step."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from g10c.compiler.protocols import Backend
from g10c.compiler.step_of import moves_of, step_of
from g10c.ir.errors import InfeasibleError, InputError

if TYPE_CHECKING:
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program
    from g10c.ir.result import SimResult
    from g10c.ir.step import Step

OPTIONS = frozenset({"ideal", "steps", "timeline"})


class Simulator(Backend):
    """Executes a step and gives its timing; runtimes are ``uvm`` (demand paging) and ``direct`` (explicit copies)."""

    name = "sim"

    def run(self, program: Program, machine: Machine, options: Mapping[str, object]) -> SimResult:
        """Simulate ``steps`` steps (2) and report the last. ``ideal``: unlimited memory; ``timeline``: keep copies and samples."""
        unknown = sorted(set(options) - OPTIONS)
        if unknown:
            raise TypeError(f"unknown options of the simulator: {', '.join(unknown)}; known: {', '.join(sorted(OPTIONS))}")
        step = step_of(program)
        _require_times(program)
        steps = int(str(options.get("steps", 2)))
        result = _simulate(program, step, machine, steps, bool(options.get("ideal")), bool(options.get("timeline")))
        bound = program.attrs.get("bound_time")
        return dataclasses.replace(result, bound_time_ns=int(bound) if isinstance(bound, int) else None)

    def render(self, result: SimResult, form: str) -> str:
        """A result as ``table``, ``json``, ``kernels`` or ``chrome-trace``."""
        from g10c.backends import report, trace

        forms = {
            "table": report.result_table,
            "json": report.result_json_text,
            "kernels": report.kernel_csv,
            "chrome-trace": trace.chrome_trace_text,
        }
        return forms[form](result)


def _simulate(program: Program, step: Step, machine: Machine, steps: int, ideal: bool, timeline: bool) -> SimResult:
    runtime = str(program.attrs.get("runtime", "uvm"))
    if ideal:
        from g10c.backends.ideal import simulate_ideal

        return simulate_ideal(step, machine, runtime)
    moves = moves_of(program)
    _require_tiers(program, machine)
    if runtime == "direct":
        from g10c.backends.direct.runner import simulate_direct

        return simulate_direct(step, moves, machine, steps=steps, timeline=timeline)
    from g10c.backends.uvm_adapter import simulate_paged

    return simulate_paged(step, moves, machine, steps, timeline)


def _require_times(program: Program) -> None:
    """Refuse programs none of whose kernels has a time: their step would take no time at all."""
    if program.kernels and not any("time" in op.attrs for op in program.kernels):
        first = program.kernels[0]
        raise InputError.at(
            f"program {program.name!r}: no kernel has a time, so there is nothing to simulate",
            first.location,
            "give kernels {time = 12.5us}, or build the model for a GPU",
        )


def _require_tiers(program: Program, machine: Machine) -> None:
    """Refuse plans that use a tier the machine lacks, naming the first directive that does."""
    missing = {"host": machine.host.memory <= 0, "ssd": machine.ssd.bandwidth <= 0}
    if not any(missing.values()):
        return
    for op in program.ops:
        tier = op.attrs.get("to") if op.name == "evict" else None
        if tier is not None and missing.get(str(tier)):
            what = "host.memory is 0" if tier == "host" else "ssd.bandwidth is 0"
            raise InfeasibleError.at(
                f"the plan moves %{op.reads[0]} to {tier}, and machine {machine.name!r} has none: {what}",
                op.location,
                "plan for this machine, or set the machine's values: --set host.memory=32GiB",
            )
