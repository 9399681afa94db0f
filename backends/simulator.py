"""The simulator as a backend: picks the runtime that the program asks for and runs the step."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from g10c.compiler.protocols import Backend, CopyPolicy
from g10c.compiler.step_of import moves_of, step_of
from g10c.ir.errors import Diagnostic, InfeasibleError, InputError, UsageError
from g10c.ir.ops import OpKind
from g10c.ir.values import human_time

if TYPE_CHECKING:
    from pathlib import Path

    from g10c.compiler.policies import AnyPolicy
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program
    from g10c.ir.result import SimResult
    from g10c.ir.step import Step

MAX_STEPS = 1000
"""Steps of one simulation: a step that repeats itself does so from the second or third on."""

OPTIONS = frozenset({"ideal", "load", "steps", "timeline"})


class Simulator(Backend):
    """Executes a step and gives its timing; runtimes are ``uvm`` (demand paging) and ``direct`` (explicit copies)."""

    name = "sim"

    def run(self, program: Program, machine: Machine, options: Mapping[str, object]) -> SimResult:
        """Simulate ``steps`` steps (2) and report the last. ``ideal``: unlimited memory; ``timeline``: keep copies and samples.

        ``load``: Python files in which the program's policy may be.
        """
        unknown = sorted(set(options) - OPTIONS)
        if unknown:
            raise TypeError(f"unknown options of the simulator: {', '.join(unknown)}; known: {', '.join(sorted(OPTIONS))}")
        step = step_of(program)
        _require_times(program)
        steps = int(str(options.get("steps", 2)))
        if not 1 <= steps <= MAX_STEPS:
            raise UsageError.at(f"{steps} steps: expected 1 to {MAX_STEPS}", None, "two show the steady state")
        files: Any = options.get("load", ())
        if options.get("ideal"):
            from g10c.backends.ideal import simulate_ideal

            result = simulate_ideal(step, machine, str(program.attrs.get("runtime", "uvm")))
        else:
            result = _simulate(program, step, machine, steps, bool(options.get("timeline")), files)
        bound = program.attrs.get("bound_time")
        if not isinstance(bound, int):
            return result
        if bound > result.iteration_time_ns:
            note = f"the program's bound_time, {human_time(bound)}, is above the time of the step: it bounds another machine or program"
            return dataclasses.replace(result, notes=(*result.notes, note))
        return dataclasses.replace(result, bound_time_ns=int(bound))

    def render(self, result: SimResult, form: str, machine: Machine | None = None) -> str:
        """A result as ``table``, ``json``, ``kernels`` or ``chrome-trace``."""
        if form == "table":
            from g10c.backends.report import result_table

            return result_table(result, machine)
        if form == "chrome-trace":
            from g10c.backends.trace import chrome_trace_text

            return chrome_trace_text(result)
        from g10c.backends.report import kernel_csv, result_json_text

        return {"json": result_json_text, "kernels": kernel_csv}[form](result)


def _simulate(program: Program, step: Step, machine: Machine, steps: int, timeline: bool, files: Sequence[str | Path]) -> SimResult:
    runtime = str(program.attrs.get("runtime", "uvm"))
    moves = moves_of(program)
    _require_tiers(program, machine)
    policy = _policy(program, runtime, files)
    kernels = [op.location for op in program.kernels]
    directives = [op.location for op in program.ops if op.kind is OpKind.DIRECTIVE]
    if isinstance(policy, CopyPolicy):
        from g10c.backends.direct.places import Places
        from g10c.backends.pool.runner import simulate_pool

        places = Places(step, kernels, directives)
        return simulate_pool(places, moves, machine, policy, steps=steps, timeline=timeline)
    if runtime == "direct":
        from g10c.backends.direct.runner import simulate_direct

        return simulate_direct(step, moves, machine, steps=steps, timeline=timeline, kernel_locations=kernels, move_locations=directives)
    from g10c.backends.uvm.runner import simulate_uvm
    from g10c.backends.uvm.timeline import Timeline

    kept = Timeline() if timeline else None
    result = simulate_uvm(step, moves, machine, steps=steps, observer=kept, policy=policy, locations=kernels)
    if machine.pcie.latency_ns:
        note = "pcie.latency has no part in the uvm runtime: uvm.fault_latency stands for what a fault costs"
        result = dataclasses.replace(result, notes=(*result.notes, note))
    return kept.added_to(result) if kept else result


def _policy(program: Program, runtime: str, files: Sequence[str | Path]) -> AnyPolicy | None:
    """What the program's attribute ``policy`` names, with its options: ``deepum{degree=8}``; nothing where there is none.

    Raises :class:`InputError` where that is no policy, or one for another runtime.
    """
    text = program.attrs.get("policy")
    if not text:
        return None
    from g10c.compiler.policies import guarded, make_policy

    policy = make_policy(str(text), files, f"policy of {program.name}", program.location)
    if policy.runtime != runtime:
        message = f"policy {text} of program {program.name!r} decides for the {policy.runtime} runtime, the program runs on {runtime}"
        raise InputError.at(message, program.location, f"write runtime = {policy.runtime}, or take the policy out")
    return guarded(policy)


def _require_times(program: Program) -> None:
    """Refuse programs in which a kernel has no time: it would count as none, and the step's time would be wrong."""
    untimed = [op for op in program.kernels if "time" not in op.attrs]
    if untimed:
        raise InputError(
            Diagnostic(f"{op.name} has no time, so the step cannot be simulated", op.location, "give it one: {time = 12.5us}")
            for op in untimed
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
