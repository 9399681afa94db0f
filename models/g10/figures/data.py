"""The data of each figure, from programs and from outcomes of cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from g10c.compiler.analyses import PERIODS
from g10c.compiler.analysis import AnalysisCache
from g10c.compiler.memory_use import PARTS, memory_use
from g10c.ir.result import LINKS
from g10c.models.g10.cases import Case
from g10c.models.g10.figures.paper import Row
from g10c.models.g10.figures.published import Published
from g10c.models.g10.figures.table import Record, Table
from g10c.models.g10.layout import Layout, import_case
from g10c.models.g10.outcomes import Job, Outcome

if TYPE_CHECKING:
    from g10c.ir.program import Program

STEP_PARTS = ("overlap", "compute", "stall")
"""Of figure 12, from below."""
SIMULATED = range(11, 20)
"""Figures for which cases are run; the others are made of programs alone."""


@dataclass
class Sources:
    """What data are made of: programs, outcomes of jobs, and published values."""

    layout: Layout
    published: Published
    outcomes: dict[Job, Outcome] = field(default_factory=dict)

    def outcome(self, case: Case) -> Outcome:
        """The outcome of a case, in detail where it was run so."""
        return self.outcomes.get(Job(case, detail=True)) or self.outcomes[Job(case)]


def jobs_of(published: Published, figures: list[int]) -> list[Job]:
    """The jobs of figures, each case once: in detail where one figure wants that."""
    detailed: dict[Case, bool] = {}
    for figure in figures:
        for row in published.cases(figure) if figure in SIMULATED else ():
            case = Case.of(row)
            detailed[case] = detailed.get(case, False) or figure in (12, 13, 14)
    return [Job(case, detail) for case, detail in detailed.items()]


def _programs(sources: Sources, figure: int) -> Iterator[tuple[Record, Program]]:
    for model, batch in dict.fromkeys((row["model"], row["batch"]) for row in sources.published.cases(figure)):
        yield {"model": model, "batch": batch}, import_case(sources.layout, model, batch)


def memory_consumption(sources: Sources, figure: int) -> Table:
    """Figure 2: live and active bytes by kernel."""
    table = Table()
    for head, program in _programs(sources, figure):
        use = memory_use(program)
        for number, (live, active) in enumerate(zip(use.live, use.active, strict=True)):
            table.rows.append({**head, "kernel": number, "live_bytes": live.total, "active_bytes": active.total})
    return table


def memory_breakdown(sources: Sources, figure: int) -> Table:
    """Figures 20 (live) and 21 (active): bytes by kernel, divided."""
    table = Table()
    for head, program in _programs(sources, figure):
        use = memory_use(program)
        for number, part in enumerate(use.live if figure == 20 else use.active):
            parts = {f"{name}_bytes": getattr(part, name) for name in PARTS}
            table.rows.append({**head, "kernel": number, "total_bytes": part.total, **parts})
    return table


def inactive_periods(sources: Sources, figure: int) -> Table:
    """Figures 3 and 4: inactive periods, the shortest first; a period's share is that of periods up to it."""
    table = Table()
    for head, program in _programs(sources, figure):
        periods = AnalysisCache().get(PERIODS, program)
        tensors = list(program.tensors.values())
        ordered = sorted(periods, key=lambda period: (period.length_ns, period.tensor, period.start))
        for number, period in enumerate(ordered, 1):
            tensor = tensors[period.tensor]
            share = number / len(ordered)
            values: Record = {"bytes": tensor.size_bytes, "inactive_ns": period.length_ns, "share": share}
            table.rows.append({**head, "tensor": tensor.name, **values})
    return table


def step_times(sources: Sources, figure: int) -> Table:
    """Figures 11, 15 to 18: time of the step, against the ideal one and the published one."""
    return Table([_step_time(sources, row) for row in sources.published.cases(figure)])


def _step_time(sources: Sources, row: Row) -> Record:
    case, published_ns = Case.of(row), row.get("iteration_ns")
    outcome = sources.outcome(case)
    ours_ns, ideal_ns = outcome.get("iteration_ns"), outcome.get("ideal_ns")
    return {
        **_head(case),
        "host_gib": float(case.host_gb),
        "ssd_gbps": float(case.ssd_gbps),
        "pcie_gbps": float(case.pcie_gbps),
        "gpu_gib": float(case.gpu_gb),
        "iteration_ns": ours_ns,
        "ideal_ns": ideal_ns,
        "performance": ideal_ns / ours_ns if ours_ns and ideal_ns else None,
        "samples_per_s": case.batch * 1e9 / ours_ns if ours_ns else None,
        "published_ns": round(published_ns) if published_ns else None,
        "error": (ours_ns - published_ns) / published_ns if ours_ns and published_ns else None,
        "refused": outcome.get("refused"),
    }


def _head(case: Case) -> Record:
    return {"model": case.model, "batch": case.batch, "policy": case.policy}


def step_parts(sources: Sources, figure: int) -> Table:
    """Figure 12: the step in parts, as shares of their sum; the difference is in points."""
    table = Table()
    for case, outcome in _detailed(sources, figure):
        ours = outcome.get("parts")
        if ours and case.policy == "base-uvm":  # the artifact's scripts take the overlap of demand paging off its stall
            ours = {**ours, "stall": ours["stall"] - ours["overlap"], "overlap": 0}
        theirs = {part: sources.published.parts.get((case.model, case.batch, case.policy, part)) for part in STEP_PARTS}
        whole = sum(ours.values()) if ours else 0
        published_whole = sum(value for value in theirs.values() if value is not None)
        for part in STEP_PARTS:
            share = ours[part] / whole if ours and whole else None
            value = theirs[part]
            published = value / published_whole if value is not None and published_whole else None
            points = 100 * (share - published) if share is not None and published is not None else None
            numbers: Record = {"share": share, "published_ns": value, "published_share": published, "points": points}
            table.rows.append({**_head(case), "part": part, "ns": ours[part] if ours else None, **numbers})
    return table


def kernel_slowdowns(sources: Sources, figure: int) -> Table:
    """Figure 13: time of each kernel over its own time."""
    table = Table()
    for case, outcome in _detailed(sources, figure):
        kernels = outcome.get("kernels", {"time_ns": (), "own_ns": ()})
        for number, (time_ns, own_ns) in enumerate(zip(kernels["time_ns"], kernels["own_ns"], strict=True)):
            times: Record = {"own_ns": own_ns, "time_ns": time_ns, "slowdown": time_ns / own_ns if own_ns else None}
            table.rows.append({**_head(case), "kernel": number, **times})
    return table


def traffic(sources: Sources, figure: int) -> Table:
    """Figure 14: bytes by link and direction."""
    table = Table()
    for case, outcome in _detailed(sources, figure):
        for link in LINKS:
            ours = outcome["links"].get(link, 0) if "links" in outcome else None
            theirs = sources.published.traffic.get((case.model, case.batch, case.policy, link))
            error = (ours - theirs) / theirs if ours is not None and theirs else None
            table.rows.append({**_head(case), "link": link, "bytes": ours, "published_bytes": theirs, "error": error})
    return table


def _detailed(sources: Sources, figure: int) -> Iterator[tuple[Case, Outcome]]:
    for case in dict.fromkeys(Case.of(row) for row in sources.published.cases(figure)):
        yield case, sources.outcome(case)


def kernel_variation(sources: Sources, figure: int) -> Table:
    """Figure 19: ideal over G10 as kernel times vary."""
    table = Table()
    for case in dict.fromkeys(Case.of(row) for row in sources.published.cases(figure)):
        outcome = sources.outcome(case)
        ours_ns, ideal_ns = outcome.get("iteration_ns"), outcome.get("ideal_ns")
        performance = ideal_ns / ours_ns if ours_ns and ideal_ns else None
        theirs = sources.published.variation.get((case.model, case.batch, case.variation))
        error = (performance - theirs) / theirs if performance is not None and theirs else None
        times: Record = {"iteration_ns": ours_ns, "ideal_ns": ideal_ns, "performance": performance, "published": theirs, "error": error}
        table.rows.append(
            {**_head(case), "variation": float(case.variation), "seed": case.seed, **times, "refused": outcome.get("refused")}
        )
    return table


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: what it shows, how its data are made, and which kind of plot it is."""

    number: int
    title: str
    name: str
    """Of its files."""
    data: Callable[[Sources, int], Table]


FIGURES = {
    figure.number: figure
    for figure in (
        Figure(2, "Memory consumption, all live and active tensors", "memory_consumption", memory_consumption),
        Figure(3, "Distribution of inactive periods", "inactive_periods", inactive_periods),
        Figure(4, "Inactive periods and sizes of tensors", "inactive_sizes", inactive_periods),
        Figure(11, "Performance of all policies, against Ideal", "performance", step_times),
        Figure(12, "Breakdown of the step", "breakdown", step_parts),
        Figure(13, "Slowdown of kernels", "kernel_slowdown", kernel_slowdowns),
        Figure(14, "Traffic of the step", "traffic", traffic),
        Figure(15, "Throughput over batch size", "batch_size", step_times),
        Figure(16, "Step time of G10 over host memory", "host_memory", step_times),
        Figure(17, "Step time over host memory, by policy", "host_memory_policies", step_times),
        Figure(18, "Performance over SSD bandwidth, against Ideal", "ssd_bandwidth", step_times),
        Figure(19, "Performance of G10 as kernel times vary", "kernel_variation", kernel_variation),
        Figure(20, "Live memory by what it holds", "live_memory", memory_breakdown),
        Figure(21, "Active memory by what it holds", "active_memory", memory_breakdown),
    )
}
"""By number, as in the paper."""
