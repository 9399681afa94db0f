"""Published results of G10 run again: each case is imported, compiled and simulated through the public API."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from g10c.compiler.protocols import Report, Reproduction
from g10c.models.g10.cases import Case, read_cases
from g10c.models.g10.layout import Layout
from g10c.models.g10.outcomes import Job, Outcome
from g10c.models.g10.parallel import run_jobs


class G10Reproduction(Reproduction):
    """Iteration times of the G10 artifact's figures, for every policy of the paper."""

    name = "g10"

    def run(self, data: str, cases: str, jobs: int, progress: Callable[[str], None], folder: str | None = None) -> Report:
        """Run every case of the file, each different setting once."""
        layout = Layout.find(data)
        rows = read_cases(cases)
        answers = run_jobs(layout, [Job(Case.of(row)) for row in rows], jobs, folder, progress)
        done = [compared(row, answers[Job(Case.of(row))]) for row in rows]
        return {"cases": done, "summary": summarize(done)}

    def figures(self, data: str, cases: str | None, numbers: str, folder: str, jobs: int, progress: Callable[[str], None]) -> Sequence[str]:
        """Figures 2 to 4 and 11 to 21 of the paper."""
        from g10c.models.g10.figures.writing import write_figures

        return write_figures(data, cases, numbers, folder, jobs, progress)

    def render(self, report: Report, form: str) -> str:
        """``json``, or a ``table`` with one line per case."""
        return json.dumps(report, indent=1) + "\n" if form == "json" else _table(report)


def compared(row: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """A row of a case file with ours and the error beside it."""
    if "refused" in outcome:
        return {**row, "refused": outcome["refused"]}
    ours_ns, published = outcome["iteration_ns"], row.get("iteration_ns")
    return {**row, "ours_ns": ours_ns, "error": (ours_ns - published) / published if published else None}


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
