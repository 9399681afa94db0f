"""Figures of lines over a setting: 15 to 18. Published values are hollow markers on ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from g10c.models.g10.figures.style import (
    MARKERS,
    SHADES,
    SHAPES,
    color,
    model_name,
    panels,
    policies_of,
    policy_name,
    published_handle,
    put_legend,
)
from g10c.models.g10.figures.table import Record, Table, distinct, number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot

NS = 1e9


def throughput(table: Table) -> Plot:
    """Figure 15: samples per second over batch size, by policy."""

    def rate(row: Record, time: str) -> float:
        return number(row["batch"]) * NS / number(row[time]) if row[time] else float("nan")

    networks = [model for (model,) in distinct(table.rows, "model")]
    plot, cells, spare = panels(len(networks), 3, 2.1)
    for axes, model in zip(cells, networks, strict=True):
        _lines(axes, table.where(model=model), policies_of(table), "batch", rate)
        axes.set_title(model_name(model), fontsize=8)
        axes.set_xlabel("Batch size")
        axes.set_ylabel("Sequences/s" if model == "BERT_Base" else "Images/s")
    _policy_legend(plot, spare, table)
    return plot


def host_memory(table: Table) -> Plot:
    """Figure 16: step time over host memory, by batch size."""
    networks = [model for (model,) in distinct(table.rows, "model")]
    plot, cells, spare = panels(len(networks), 3, 2.2)
    for axes, model in zip(cells, networks, strict=True):
        rows = table.where(model=model)
        for place, (batch,) in enumerate(distinct(rows, "batch")):
            own = sorted((row for row in rows if row["batch"] == batch), key=lambda row: number(row["host_gib"]))
            _line(axes, own, "host_gib", _seconds, SHADES[place % 8], SHAPES[place % 8], f"batch {batch}")
        axes.set_title(model_name(model), fontsize=8)
        axes.set_xlabel("Host memory (GiB)")
        axes.set_ylim(bottom=0, top=axes.get_ylim()[1] * 1.35)  # room for the legend
        axes.legend(fontsize=6, ncols=2, loc="upper center")
    for axes in cells[::3]:
        axes.set_ylabel("Step time (s)")
    put_legend(plot, spare, [_ours_handle("line: g10c"), published_handle("hollow: published")])
    return plot


def host_memory_of_policies(table: Table) -> Plot:
    """Figure 17: step time over host memory by policy, for the networks that have several policies at several sizes."""
    networks = [key for key in distinct(table.rows, "model", "batch") if _is_sweep(table.where(model=key[0], batch=key[1]))]
    networks = networks or list(distinct(table.rows, "model", "batch"))
    plot, cells, spare = panels(len(networks), 2 if len(networks) < 5 else 3, 2.4)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        _lines(axes, table.where(model=model, batch=batch), policies_of(table), "host_gib", _seconds)
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xlabel("Host memory (GiB)")
        axes.set_ylabel("Step time (s)")
        axes.set_ylim(bottom=0, top=axes.get_ylim()[1] * 1.05)
    _policy_legend(plot, spare, table)
    return plot


def _is_sweep(rows: Sequence[Record]) -> bool:
    swept = [policy for (policy,) in distinct(rows, "policy") if len({row["host_gib"] for row in rows if row["policy"] == policy}) > 1]
    return len(swept) > 1 and "deepum" in swept


def ssd_bandwidth(table: Table) -> Plot:
    """Figure 18: ideal time over time as the SSD gets faster, by policy."""

    def share(row: Record, time: str) -> float:
        return 100 * number(row["ideal_ns"]) / number(row[time]) if row[time] else float("nan")

    networks = list(distinct(table.rows, "model", "batch"))
    plot, cells, spare = panels(len(networks), 3, 2.1)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        _lines(axes, table.where(model=model, batch=batch), policies_of(table, without=("ideal",)), "ssd_gbps", share)
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xlabel("SSD bandwidth (GB/s)")
        axes.set_xticks(sorted({number(row["ssd_gbps"]) for row in table.rows}))
        axes.set_ylim(0, 108)
    for axes in cells[::3]:
        axes.set_ylabel("Performance (% of Ideal)")
    _policy_legend(plot, spare, table, without=("ideal",))
    return plot


Measure = Callable[[Record, str], float]
"""What is drawn of a row, with the column whose time it is made of: ours or the published one."""


def _seconds(row: Record, time: str) -> float:
    return number(row[time]) / NS


def _lines(axes: Axes, rows: Sequence[Record], policies: Sequence[str], x: str, measure: Measure) -> None:
    for policy in policies:
        own = sorted((row for row in rows if row["policy"] == policy), key=lambda row: number(row[x]))
        _line(axes, own, x, measure, color(policy), MARKERS.get(policy, "o"), policy_name(policy))


def _line(axes: Axes, rows: Sequence[Record], x: str, measure: Measure, shade: str, marker: str, label: str) -> None:
    at = [number(row[x]) for row in rows]
    axes.plot(at, [measure(row, "iteration_ns") for row in rows], color=shade, linewidth=1, marker=marker, markersize=2.5, label=label)
    published = [measure(row, "published_ns") for row in rows]
    axes.plot(
        at, published, linestyle="", marker=marker, markersize=5.5, markerfacecolor="none", markeredgecolor=shade, markeredgewidth=0.7
    )


def _ours_handle(text: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="black", linewidth=1, marker="o", markersize=2.5, label=text)


def _policy_legend(plot: Plot, cell: Axes | None, table: Table, without: Sequence[str] = ()) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color(policy), linewidth=1, marker=MARKERS.get(policy, "o"), markersize=3, label=policy_name(policy))
        for policy in policies_of(table, without)
    ]
    hollow = Line2D(
        [], [], linestyle="", marker="o", markersize=5.5, markerfacecolor="none", markeredgecolor="black", label="hollow: published"
    )
    put_legend(plot, cell, [*handles, hollow], columns=6)
