"""The summary page: how far from the published values each figure is, in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from g10c.models.g10.figures.data import FIGURES
from g10c.models.g10.figures.table import Record, Table, Value, distinct, number

GIB = 1 << 30
TRAFFIC_SHARE, TRAFFIC_BYTES = 0.03, GIB
"""Traffic is near the published one where it is within the share or the bytes, whichever is more."""
NEAR_POINTS = 3
"""Points by which a part of the step may differ."""
COMMAND = "g10c reproduce g10 --data DIR --figures NUMBERS --output DIR"


def summary_page(tables: dict[int, Table], has_plots: bool) -> str:
    """The page for the figures that were made."""
    lines = ["# Figures of G10 (MICRO'23) from g10c", "", f"Made by `{COMMAND}`. An error is ours less published, over published.", ""]
    for figure, table in tables.items():
        lines += [f"## Figure {figure}: {FIGURES[figure].title}", ""]
        lines += [_files(figure, has_plots and bool(table.rows)), ""]
        lines += _SECTIONS.get(figure, _nothing)(table)
        lines += _refused(table)
    return "\n".join(lines).rstrip("\n") + "\n"


def file_stem(figure: int) -> str:
    """What the names of a figure's files begin with."""
    return f"figure{figure:02}_{FIGURES[figure].name}"


def _files(figure: int, has_plots: bool) -> str:
    suffixes = ("csv", "png", "pdf") if has_plots else ("csv",)
    links = ", ".join(f"[{suffix.upper()}]({file_stem(figure)}.{suffix})" for suffix in suffixes)
    return f"Files: {links}." + (f"\n\n![Figure {figure}]({file_stem(figure)}.png)" if has_plots else "")


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table, with a blank line behind it."""
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)] + [""]


def _nothing(table: Table) -> list[str]:
    rows = [[*map(str, key), f"{len(table.where(model=key[0], batch=key[1])):,}"] for key in distinct(table.rows, "model", "batch")]
    return ["No published values in the data.", "", *markdown(("network", "batch", "rows"), rows)]


def _by_policy(table: Table) -> list[str]:
    """Errors of step times, by policy."""
    rows = []
    for (policy,) in distinct(table.rows, "policy"):
        own = table.where(policy=policy)
        errors = sorted(abs(number(row["error"])) for row in own if row["error"] is not None)
        refused = sum(row.get("refused") is not None for row in own)
        rows.append([str(policy), str(len(own)), str(len(errors)), *_spread(errors, lambda error: f"{error:.3%}"), str(refused)])
    return markdown(("policy", "cases", "compared", "median", "95%", "largest", "refused"), rows)


def _spread(values: Sequence[float], form: Callable[[float], str]) -> list[str]:
    """Median, 95th percentile and maximum of ascending values."""
    if not values:
        return ["-", "-", "-"]
    return [form(statistics.median(values)), form(values[-(-95 * len(values) // 100) - 1]), form(values[-1])]


def _parts(table: Table) -> list[str]:
    """Differences of figure 12, by policy, and those that are large."""
    rows = []
    for (policy,) in distinct(table.rows, "policy"):
        points = sorted(abs(number(row["points"])) for row in table.where(policy=policy) if row["points"] is not None)
        near = sum(value <= NEAR_POINTS for value in points)
        rows.append([str(policy), str(len(points)), *_spread(points, lambda value: f"{value:.2f}"), f"{near} of {len(points)}"])
    header = ("policy", "compared", "median points", "95%", "largest", f"within {NEAR_POINTS} points")
    far = [row for row in table.rows if row["points"] is not None and abs(number(row["points"])) > NEAR_POINTS]
    return markdown(header, rows) + _far(far, "part", ("share", "published_share"), lambda value: f"{number(value):.1%}")


def _traffic(table: Table) -> list[str]:
    """Differences of figure 14, by policy, and those that are large."""
    compared = [row for row in table.rows if row["bytes"] is not None and row["published_bytes"] is not None]
    rows = []
    for (policy,) in distinct(table.rows, "policy"):
        own = [row for row in compared if row["policy"] == policy]
        missing = sorted(abs(number(row["bytes"]) - number(row["published_bytes"])) / GIB for row in own)
        near = sum(is_near(row) for row in own)
        rows.append([str(policy), str(len(own)), *_spread(missing, lambda value: f"{value:.2f}"), f"{near} of {len(own)}"])
    header = ("policy", "compared", "median GiB", "95%", "largest", "within 3% or 1 GiB")
    far = [row for row in compared if not is_near(row)]
    return markdown(header, rows) + _far(far, "link", ("bytes", "published_bytes"), lambda value: f"{number(value) / GIB:.2f} GiB")


def is_near(row: Record) -> bool:
    """Whether the traffic of a row is near the published one."""
    ours, theirs = number(row["bytes"]), number(row["published_bytes"])
    return abs(ours - theirs) <= max(TRAFFIC_SHARE * theirs, TRAFFIC_BYTES)


def _far(rows: Sequence[Record], what: str, columns: tuple[str, str], form: Callable[[Value], str]) -> list[str]:
    if not rows:
        return []
    ours, theirs = columns
    found = [[str(row["model"]), str(row["batch"]), str(row["policy"]), str(row[what]), form(row[ours]), form(row[theirs])] for row in rows]
    return ["Further off:", "", *markdown(("network", "batch", "policy", what, "ours", "published"), found)]


def _variation(table: Table) -> list[str]:
    rows = []
    for model, batch in distinct(table.rows, "model", "batch"):
        own = table.where(model=model, batch=batch)
        cells = [f"{_percent(row['performance'])} ({_percent(row['published'])})" for row in own]
        rows.append([str(model), str(batch), *cells])
    header = ["network", "batch", *(f"{number(value[0]):.0%}" for value in distinct(table.rows, "variation"))]
    text = "Ideal over G10 by variation; published in brackets."
    return [text, "", *(markdown(header, rows) if all(len(row) == len(header) for row in rows) else [])]


def _percent(value: Value) -> str:
    return "-" if value is None else f"{number(value):.2%}"


def _refused(table: Table) -> list[str]:
    """What cannot run, by reason."""
    reasons: dict[Value, list[str]] = {}
    for row in table.rows:
        if row.get("refused") is not None:
            reasons.setdefault(row["refused"], []).append(_setting(row))
    if not reasons:
        return []
    return ["Cannot run:", "", *(f"- {'; '.join(settings)}: {reason}" for reason, settings in reasons.items()), ""]


def _setting(row: Record) -> str:
    text = f"{row['model']} {row['batch']} {row['policy']}"
    if "variation" in row:
        return f"{text}, variation {number(row['variation']):.0%}"
    return f"{text}, host {number(row['host_gib']):g} GiB, SSD {number(row['ssd_gbps']):g} GB/s"


def outcome_lines(table: Table) -> Iterator[str]:
    """What a terminal shows of a figure: how many rows, and how many could not run."""
    refused = sum(row.get("refused") is not None for row in table.rows)
    yield f"{len(table.rows):,} rows" + (f", {refused} cannot run" if refused else "")


_SECTIONS: dict[int, Callable[[Table], list[str]]] = {
    **dict.fromkeys((11, 15, 16, 17, 18), _by_policy),
    12: _parts,
    14: _traffic,
    19: _variation,
}
