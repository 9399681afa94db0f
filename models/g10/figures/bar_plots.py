"""Figures of bars: 11, 12, 14 and 19."""

from __future__ import annotations

from typing import TYPE_CHECKING

from g10c.ir.result import LINKS
from g10c.models.g10.figures.data import STEP_PARTS
from g10c.models.g10.figures.style import (
    HATCHES,
    SHADES,
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot
    from matplotlib.patches import Patch

GIB = 1 << 30
PART_NAMES = {"overlap": "compute and transfer", "compute": "compute", "stall": "stall"}
LINK_NAMES = {"ssd_to_gpu": "from SSD", "gpu_to_ssd": "to SSD", "host_to_gpu": "from host", "gpu_to_host": "to host"}
PART_COLORS = {"overlap": "#0072b2", "compute": "#56b4e9", "stall": "#e69f00"}
LINK_COLORS = {"ssd_to_gpu": "#0072b2", "gpu_to_ssd": "#56b4e9", "host_to_gpu": "#e69f00", "gpu_to_host": "#f5d08a"}
PALE = 0.45
"""Opacity of bars of published values."""


def performance(table: Table) -> Plot:
    """Figure 11: ideal time over time, by network and policy."""
    plot, (axes,), _ = panels(1, 1, 2.4)
    networks = list(distinct(table.rows, "model", "batch"))
    policies = policies_of(table, without=("ideal",))
    width = 0.8 / max(1, len(policies))
    for place, policy in enumerate(policies):
        for group, (model, batch) in enumerate(networks):
            for row in table.where(model=model, batch=batch, policy=policy)[:1]:
                at = group + (place - (len(policies) - 1) / 2) * width
                _performance_bar(axes, at, width, policy, row)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(networks)), [f"{model_name(model)}\nbatch {batch}" for model, batch in networks])
    axes.set_ylabel("Performance, Ideal = 1")
    axes.set_ylim(0, 1.15)
    axes.set_xlim(-0.5, max(0, len(networks) - 1) + 0.5)
    put_legend(plot, None, [*_policy_patches(policies), published_handle()], columns=7)
    return plot


def _performance_bar(axes: Axes, at: float, width: float, policy: str, row: Record) -> None:
    value = row["performance"]
    if value is None:
        axes.text(at, 0.02, "does not fit", rotation=90, ha="center", va="bottom", fontsize=6)
    else:
        axes.bar(at, number(value), width, color=color(policy), hatch=HATCHES.get(policy, ""), edgecolor="white", linewidth=0.4)
    if row["published_ns"] is not None and row["ideal_ns"] is not None:
        ratio = number(row["ideal_ns"]) / number(row["published_ns"])
        axes.plot(at, ratio, "D", markersize=3, markerfacecolor="white", markeredgecolor="black", markeredgewidth=0.6)


def _policy_patches(policies: list[str]) -> list[Patch]:
    from matplotlib.patches import Patch

    return [Patch(facecolor=color(p), hatch=HATCHES.get(p, ""), edgecolor="white", label=policy_name(p)) for p in policies]


def step_parts(table: Table) -> Plot:
    """Figure 12: parts of the step, ours and published side by side."""
    return _stacks(table, "part", STEP_PARTS, PART_NAMES, PART_COLORS, ("share", "published_share"), 100, "Share of the step (%)")


def traffic(table: Table) -> Plot:
    """Figure 14: bytes moved by direction, ours and published side by side."""
    links = tuple(link for link in LINK_NAMES if link in LINKS)
    return _stacks(table, "link", links, LINK_NAMES, LINK_COLORS, ("bytes", "published_bytes"), 1 / GIB, "Traffic of a step (GiB)")


def _stacks(
    table: Table,
    column: str,
    keys: tuple[str, ...],
    names: dict[str, str],
    colors: dict[str, str],
    values: tuple[str, str],
    scale: float,
    label: str,
) -> Plot:
    """A panel for each network, and in it for each policy a stack of ours and a paler one of published values."""
    from matplotlib.patches import Patch

    networks = list(distinct(table.rows, "model", "batch"))
    plot, cells, spare = panels(len(networks), 3, 2.2)
    policies = policies_of(table)
    for axes, (model, batch) in zip(cells, networks, strict=True):
        for place, policy in enumerate(policies):
            rows = {str(row[column]): row for row in table.where(model=model, batch=batch, policy=policy)}
            for side, value in enumerate(values):
                heights = [number(rows[key][value]) * scale if key in rows and rows[key][value] is not None else 0.0 for key in keys]
                _stack(axes, place + (side - 0.5) * 0.4, heights, [colors[key] for key in keys], PALE if side else 1.0)
            if not any(row[values[0]] is not None for row in rows.values()):
                axes.text(
                    place, 0.02, "does not fit", transform=axes.get_xaxis_transform(), rotation=90, ha="center", va="bottom", fontsize=6
                )
        axes.set_title(model_name(model, batch), fontsize=8)
        axes.set_xticks(range(len(policies)), [policy_name(policy) for policy in policies], rotation=25, ha="right", rotation_mode="anchor")
        axes.set_xlim(-0.6, len(policies) - 0.4)
    for axes in cells[::3]:
        axes.set_ylabel(label)
    handles = [Patch(facecolor=colors[key], label=names[key]) for key in reversed(keys)]
    sides = [Patch(facecolor="0.2", label="left: g10c"), Patch(facecolor="0.2", alpha=PALE, label="right, pale: published")]
    put_legend(plot, spare, [*handles, *sides], columns=6)
    return plot


def _stack(axes: Axes, at: float, heights: list[float], colors: list[str], opacity: float) -> None:
    below = 0.0
    for height, shade in zip(heights, colors, strict=True):
        axes.bar(at, height, 0.36, bottom=below, color=shade, alpha=opacity, edgecolor="white", linewidth=0.3)
        below += height


def kernel_variation(table: Table) -> Plot:
    """Figure 19: performance as kernel times vary, against that without variation."""
    from matplotlib.patches import Patch

    plot, (axes,), _ = panels(1, 1, 2.2)
    networks = list(distinct(table.rows, "model", "batch"))
    variations = [value for (value,) in distinct(table.rows, "variation")]
    width = 0.8 / max(1, len(variations))
    for group, (model, batch) in enumerate(networks):
        rows = {row["variation"]: row for row in table.where(model=model, batch=batch)}
        base = rows.get(0.0)
        for place, variation in enumerate(variations):
            row = rows.get(variation)
            if row is None or base is None:
                continue
            at = group + (place - (len(variations) - 1) / 2) * width
            axes.bar(
                at,
                number(row["performance"]) / number(base["performance"]),
                width,
                color=SHADES[place % 8],
                edgecolor="white",
                linewidth=0.4,
            )
            axes.plot(
                at,
                number(row["published"]) / number(base["published"]),
                "D",
                markersize=3,
                markerfacecolor="white",
                markeredgecolor="black",
                markeredgewidth=0.6,
            )
    axes.set_xticks(range(len(networks)), [f"{model_name(model)}\nbatch {batch}" for model, batch in networks])
    axes.set_ylabel("Performance,\nno variation = 1")
    axes.set_ylim(0, 1.15)
    handles = [Patch(facecolor=SHADES[place % 8], label=f"±{number(value):.0%}") for place, value in enumerate(variations)]
    put_legend(plot, None, [*handles, published_handle()], columns=7)
    return plot
