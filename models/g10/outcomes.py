"""What running a case gives: numbers that figures are made of, as a JSON object that can be kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from g10c.compiler.code_digest import code_digest
from g10c.compiler.kernel_parts import kernel_parts
from g10c.ir.errors import G10cError, InputError
from g10c.ir.output import write_text_atomically
from g10c.models.g10.cases import Case
from g10c.models.g10.layout import Layout, data_digest, import_case
from g10c.models.g10.runs import RUNS, Run

if TYPE_CHECKING:
    from g10c.ir.plan import Plan
    from g10c.ir.result import SimResult

MACHINE = "g10-paper"
FORM = 1
"""Of the objects kept; another form is another file."""

Outcome = dict[str, Any]
"""``iteration_ns``, ``ideal_ns``, ``step_times_ns``; in detail also ``links``, ``parts`` and ``kernels``. Or ``refused``, the reason."""


@dataclass(frozen=True, slots=True)
class Job:
    """A case to run; ``detail`` keeps traffic and the parts of kernel times too."""

    case: Case
    detail: bool = False


def answer(layout: Layout, job: Job, folder: str | None = None) -> Outcome:
    """Run a job, or take what an earlier run kept in ``folder``; what is new is kept there."""
    path = kept_path(layout, job, folder) if folder else None
    kept = read_kept(path) if path else None
    if kept is not None:
        return kept
    outcome = _run(layout, job)
    if path:
        text = json.dumps({"case": asdict(job.case), "detail": job.detail, "outcome": outcome}, separators=(",", ":"))
        write_text_atomically(path, text + "\n")
    return outcome


def kept_path(layout: Layout, job: Job, folder: str) -> Path:
    """Where the outcome of a job is kept: the name is a digest of all that decides it."""
    run = RUNS.get(job.case.policy, Run(""))
    case = {name: float(value) if isinstance(value, int | float) else value for name, value in asdict(job.case).items()}
    decides = {
        "form": FORM,
        "code": code_digest(),
        "data": data_digest(layout, job.case.model, job.case.batch),
        "case": case,
        "detail": job.detail,
        "pipeline": run.passes(job.case.memory_line_factor),
        "options": dict(run.options),
    }
    text = json.dumps(decides, sort_keys=True)
    return Path(folder) / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def read_kept(path: Path) -> Outcome | None:
    """An outcome that was kept; ``None`` where there is none, or where the file is no such object."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    outcome = kept.get("outcome") if isinstance(kept, dict) else None
    return outcome if isinstance(outcome, dict) else None


def _run(layout: Layout, job: Job) -> Outcome:
    try:
        return run_case(layout, job)
    except G10cError as error:
        first = error.diagnostics[0]
        return {"refused": f"{first.message}{' (' + first.hint + ')' if first.hint else ''}"}


def run_case(layout: Layout, job: Job) -> Outcome:
    """Import, compile and simulate. Raises a ``G10cError`` with the reason where the case cannot run.

    The time is the shorter of the steps, which is what the artifact publishes (``gatherKernelInfo.py`` takes the minimum).
    """
    from g10c.compiler import compile, simulate  # noqa: A004 - the API's verb

    case = job.case
    if case.policy not in RUNS:
        raise InputError.at(f"policy {case.policy!r} is not one of {', '.join(RUNS)}")
    run = RUNS[case.policy]
    plan = compile(import_case(layout, *case.program), pipeline_of(case, run), MACHINE, case.settings())
    result = simulate(plan, options={**run.options, "timeline": job.detail and not run.options.get("ideal")})
    times = result.step_times_ns
    outcome: Outcome = {"iteration_ns": min(times), "ideal_ns": result.ideal_time_ns, "step_times_ns": list(times)}
    return {**outcome, **_detail(plan, run, result)} if job.detail else outcome


def pipeline_of(case: Case, run: Run) -> str:
    """The pipeline of a case as a user types it."""
    parts = [run.passes(case.memory_line_factor)]
    if case.variation:
        parts.append(f"vary-times{{by={case.variation},seed={case.seed}}}")
    return ",".join(part for part in parts if part)


def _detail(plan: Plan, run: Run, result: SimResult) -> Outcome:
    """Traffic and parts of the shorter step; kernels of the last, as in the artifact (``overallSlowdownCDF.py``)."""
    from g10c.compiler import simulate

    shorter, times = result, result.step_times_ns
    number = times.index(min(times))
    if number < len(times) - 1:
        shorter = simulate(plan, options={**run.options, "timeline": True, "steps": number + 1})
    return {
        "links": {name: use.bytes for name, use in shorter.links.items()},
        "parts": artifact_parts(shorter),
        "kernels": {
            "time_ns": [kernel.end_ns - kernel.start_ns for kernel in result.kernels],
            "own_ns": [kernel.own_ns for kernel in result.kernels],
        },
    }


def artifact_parts(result: SimResult) -> Mapping[str, int]:
    """The step in parts as the artifact counts them (``Stat::analyzeTransferBoundaryStat``; ``FlashNeuron_simulator::run``).

    Under demand paging data count as moving also while pages are allocated or wait in a queue, and a kernel in which less moves than it
    waits adds what is missing to its stall once more, so that the parts may add up to more than the step. With explicit copies there is
    one sum for the whole step.
    """
    parts = kernel_parts(result, result.queued or None)
    stall = sum(part.stall_ns for part in parts)
    if result.runtime == "direct":
        overlap = max(0, sum(part.transfer_ns for part in parts) - stall)
        return {"compute": result.ideal_time_ns - overlap, "overlap": overlap, "stall": stall}
    missing = sum(max(0, part.stall_ns - part.transfer_ns) for part in parts)
    compute = sum(part.total_ns - part.transfer_ns for part in parts)
    return {"compute": compute, "overlap": sum(part.overlap_ns for part in parts), "stall": stall + missing}
