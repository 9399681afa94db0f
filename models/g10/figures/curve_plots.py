"""Figures of many points: memory by kernel (2, 20, 21), inactive periods (3, 4), slowdown of kernels (13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from g10c.compiler.memory_use import PARTS
from g10c.models.g10.figures.style import SHADES, color, model_name, panels, policies_of, policy_name, put_legend
from g10c.models.g10.figures.table import Record, Table, distinct, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

GIB = 1 << 30
SHOWN_FROM = 0.75
"""Share of kernels below which figure 13 shows nothing: they are not slowed down."""
SMOOTHED = 6
"""Kernels over which active memory is shown by its maximum, as in the paper (``rolling(6).max()``); the data have every kernel."""
SMOOTHED_TEXT = f"most of {SMOOTHED} kernels"
DASHES = ("-", "--", "-.", ":")


def memory_consumption(table: Table) -> Plot:
    """Figure 2: live and active memory by kernel, as shares of the live peak, on a logarithmic axis."""
    return _by_kernel(table, {"live_bytes": "all live tensors", "active_bytes": f"active tensors ({SMOOTHED_TEXT})"}, logarithmic=True)


def live_memory(table: Table) -> Plot:
    """Figure 20: live memory and its parts by kernel."""
    return _by_kernel(table, {"total_bytes": "all", **{f"{part}_bytes": part for part in PARTS}}, logarithmic=False)


def active_memory(table: Table) -> Plot:
    """Figure 21: weights and intermediates that each kernel uses, as shares of the largest sum."""
    parts = {f"{part}_bytes": f"{part} ({SMOOTHED_TEXT})" for part in PARTS if part != "inputs"}
    return _by_kernel(table, parts, logarithmic=True)


def _by_kernel(table: Table, columns: dict[str, str], logarithmic: bool) -> Plot:
    """A panel for each network; values are shares of the largest in it, which the title gives."""
    from matplotlib.ticker import FuncFormatter

    networks = list(distinct(table.rows, "model", "batch"))
    plot, cells, _ = panels(len(networks), 1, 1.45, legend=False)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        rows = table.where(model=model, batch=batch)
        peak = max((number(row[column]) for row in rows for column in ("total_bytes", *columns) if column in row), default=1) or 1
        for place, (column, label) in enumerate(columns.items()):
            values = [100 * number(row[column]) / peak for row in rows]
            if SMOOTHED_TEXT in label:
                values = [max(values[max(0, last - SMOOTHED + 1) : last + 1]) for last in range(len(values))]
            shown = [value if value or not logarithmic else float("nan") for value in values]
            axes.plot(shown, color=SHADES[place], linestyle=DASHES[place], linewidth=0.9, label=label)
        axes.set_title(f"{model_name(model, batch)}, peak {peak / GIB:.1f} GiB", fontsize=8)
        axes.set_xlim(0, max(1, len(rows) - 1))
        axes.set_ylabel("Share of peak")
        if logarithmic:
            axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:.6f}".rstrip("0").rstrip(".") + "%"))
    cells[-1].set_xlabel("Kernel")
    put_legend(plot, None, cells[0].get_lines())
    return plot


def inactive_distribution(table: Table) -> Plot:
    """Figure 3: lengths of inactive periods, the shortest first."""
    networks = list(distinct(table.rows, "model", "batch"))
    plot, cells, _ = panels(len(networks), 2, 2.1, legend=False)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        rows = table.where(model=model, batch=batch)
        axes.plot([100 * number(row["share"]) for row in rows], [number(row["inactive_ns"]) / 1e3 for row in rows], color=SHADES[0])
        axes.set_yscale("log")
        axes.set_xlim(0, 100)
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xlabel("Share of inactive periods (%)")
        axes.set_ylabel("Inactive time (µs)")
    return plot


def inactive_sizes(table: Table) -> Plot:
    """Figure 4: length of each inactive period and the size of its tensor."""
    networks = list(distinct(table.rows, "model", "batch"))
    plot, cells, _ = panels(len(networks), 2, 2.3, legend=False)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        rows = [row for row in table.where(model=model, batch=batch) if row["inactive_ns"] and row["bytes"]]
        times, sizes = [number(row["inactive_ns"]) / 1e3 for row in rows], [number(row["bytes"]) for row in rows]
        axes.plot(times, sizes, linestyle="", marker="o", markersize=2, color=SHADES[0], alpha=0.4, markeredgewidth=0, rasterized=True)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xlabel("Inactive time (µs)")
        axes.set_ylabel("Tensor size (bytes)")
    return plot


def kernel_slowdowns(table: Table) -> Plot:
    """Figure 13: slowdown of kernels, the least first, of the quarter that is slowed down most."""
    networks = list(distinct(table.rows, "model", "batch"))
    policies = policies_of(table)
    plot, cells, spare = panels(len(networks), 3, 2.1)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        for place, policy in enumerate(policies):
            shares, values = _ascending(table.where(model=model, batch=batch, policy=policy))
            axes.plot(shares, values, color=color(policy), linestyle=DASHES[place % 4], linewidth=1.3, label=policy_name(policy))
        axes.set_yscale("log")
        axes.set_xlim(100 * SHOWN_FROM, 100)
        axes.set_ylim(bottom=0.9)
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xlabel("Share of kernels (%)")
    for axes in cells[::3]:
        axes.set_ylabel("Slowdown")
    put_legend(plot, spare, cells[0].get_lines() if cells else [])
    return plot


def _ascending(rows: Sequence[Record]) -> tuple[list[float], list[float]]:
    values = sorted(number(row["slowdown"]) for row in rows if row["slowdown"] is not None)
    return [100 * (number + 1) / len(values) for number in range(len(values))], values
