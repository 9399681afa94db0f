"""Published results of G10 run again: each case is imported, compiled and simulated through the public API.

The data lie in a checkout of the artifact (https://github.com/platformxlab/G10: ``frontend/Nets``, ``results/MODEL``) or in
a flat layout (``nets``, ``times/MODEL``).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from g10c.compiler.protocols import Report, Reproduction
from g10c.ir.errors import G10cError, InputError
from g10c.models.g10.cases import Case, read_cases
from g10c.models.g10.runs import RUNS

if TYPE_CHECKING:
    from g10c.ir.program import Program

MACHINE = "g10-paper"
MAX_JOBS = 64
"""Processes at most: more than that only cost memory."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where networks and kernel times lie below the data folder."""

    nets: Path
    times: Path

    @classmethod
    def find(cls, folder: str) -> Layout:
        """Recognise a checkout or the flat layout. Raises :class:`InputError` when it is neither."""
        root = Path(folder)
        for nets, times in (("nets", "times"), ("frontend/Nets", "results")):
            if (root / nets).is_dir() and (root / times).is_dir():
                return cls(root / nets, root / times)
        hint = "expected a checkout of the artifact (frontend/Nets, results) or nets/ and times/ below it"
        raise InputError.at(f"{folder}: no data of G10 here", None, hint)


@lru_cache(maxsize=2)
def import_case(layout: Layout, model: str, batch: int) -> Program:
    """The program of a network and batch size, with its kernel times."""
    from g10c.models.g10.importer import G10Importer

    folder = layout.times / model
    times = folder / f"cudnn{batch}.txt"
    if not times.is_file():
        known = sorted(int(path.stem[5:]) for path in folder.glob("cudnn*.txt") if path.stem[5:].isdigit())
        hint = f"profiled batch sizes: {', '.join(map(str, known))}" if known else f"there are no times in {folder}"
        raise InputError.at(f"{model} has no kernel times for batch {batch}", None, hint)

    def optional(suffix: str) -> Path | None:
        path = folder / f"cudnn{batch}{suffix}.txt"
        return path if path.is_file() else None

    return G10Importer(
        net=layout.nets / f"{model}.txt",
        batch=batch,
        kernel_times=times,
        all_fault_times=optional("PF"),
        output_fault_times=optional("InputPF"),
        workspace=optional("Workspace"),
    ).load()


def run_case(layout: Layout, case: Case) -> int:
    """Time of the step in ns: the shorter of two, which is what the artifact publishes (``gatherKernelInfo.py`` takes the minimum).

    Raises a ``G10cError`` with the reason where the case cannot run.
    """
    from g10c.compiler import compile, simulate  # noqa: A004 - the API's verb

    if case.policy not in RUNS:
        raise InputError.at(f"policy {case.policy!r} is not one of {', '.join(RUNS)}")
    program = import_case(layout, case.model, case.batch)
    run = RUNS[case.policy]
    plan = compile(program, run.passes(case.memory_line_factor), MACHINE, case.settings())
    return min(simulate(plan, options=run.options).step_times_ns)


def _answer(layout: Layout, case: Case) -> tuple[int | None, str]:
    try:
        return run_case(layout, case), ""
    except G10cError as error:
        first = error.diagnostics[0]
        return None, f"{first.message}{' (' + first.hint + ')' if first.hint else ''}"


class G10Reproduction(Reproduction):
    """Iteration times of the G10 artifact's figures, for every policy of the paper."""

    name = "g10"

    def run(self, data: str, cases: str, jobs: int, progress: Callable[[str], None]) -> Report:
        """Run every case of the file, each different setting once."""
        layout = Layout.find(data)
        rows = read_cases(cases)
        answers: dict[Case, tuple[int | None, str]] = {}
        distinct = list(dict.fromkeys(Case.of(row) for row in rows))
        for case, answer in _run_all(layout, distinct, jobs):
            answers[case] = answer
            progress(f"{len(answers)}/{len(distinct)} cases")
        done = [_row(row, *answers[Case.of(row)]) for row in rows]
        return {"cases": done, "summary": summarize(done)}

    def render(self, report: Report, form: str) -> str:
        """``json``, or a ``table`` with one line per case."""
        return json.dumps(report, indent=1) + "\n" if form == "json" else _table(report)


def _run_all(layout: Layout, cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, tuple[int | None, str]]]:
    if jobs == 1:
        for case in cases:
            yield case, _answer(layout, case)
        return
    with ProcessPoolExecutor(max_workers=min(jobs, max(1, len(cases)), MAX_JOBS)) as pool:
        waiting: dict[Future[tuple[int | None, str]], Case] = {pool.submit(_answer, layout, case): case for case in cases}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _row(row: dict[str, Any], ours_ns: int | None, refused: str) -> dict[str, Any]:
    if ours_ns is None:
        return {**row, "refused": refused}
    published = row.get("iteration_ns")
    error = (ours_ns - published) / published if published else None
    return {**row, "ours_ns": ours_ns, "error": error}


def summarize(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Median, 95th percentile and maximum of the absolute errors, by policy and in all."""
    groups: dict[str, list[dict[str, Any]]] = {"all": []}
    for row in rows:
        groups["all"].append(row)
        groups.setdefault(str(row["policy"]), []).append(row)
    return {name: _errors(group) for name, group in groups.items()}


def _errors(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    errors = sorted(abs(row["error"]) for row in rows if row.get("error") is not None)
    found: dict[str, Any] = {"cases": len(rows), "compared": len(errors), "refused": sum("refused" in row for row in rows)}
    if errors:
        found["median"] = statistics.median(errors)
        found["p95"] = errors[max(0, -(-95 * len(errors) // 100) - 1)]
        found["max"] = errors[-1]
    return found


def _table(report: Report) -> str:
    columns = ("model", "batch", "policy", "host GiB", "ssd GB/s", "published ms", "ours ms", "error")
    lines = [_line(columns)]
    for row in report["cases"]:
        case = Case.of(row)
        published = f"{row['iteration_ns'] / 1e6:.3f}" if row.get("iteration_ns") else "-"
        ours = f"{row['ours_ns'] / 1e6:.3f}" if "ours_ns" in row else "refused"
        error = f"{row['error']:+.3%}" if row.get("error") is not None else ""
        lines.append(_line((case.model, str(case.batch), case.policy, f"{case.host_gb:g}", f"{case.ssd_gbps:g}", published, ours, error)))
        if "refused" in row:
            lines.append(f"    {row['refused']}")
    return "\n".join([*lines, "", *_summary_lines(report["summary"])])


def _line(cells: Sequence[str]) -> str:
    model, batch, policy, host, ssd, published, ours, error = cells
    return f"{model:<12} {batch:>6} {policy:<12} {host:>8} {ssd:>8} {published:>14} {ours:>14} {error:>9}".rstrip()


def _summary_lines(summary: dict[str, Any]) -> Iterator[str]:
    for name, found in summary.items():
        numbers = ", ".join(f"{key} {found[key]:.3%}" for key in ("median", "p95", "max") if key in found)
        text = f"{name}: {found['compared']} of {found['cases']} compared, {found['refused']} refused"
        yield f"{text}; errors: {numbers}" if numbers else text
