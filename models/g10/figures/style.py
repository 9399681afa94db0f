"""What all plots share: names as in the paper, colours that survive print, and grids of panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from g10c.models.g10.figures.table import Table, Value, distinct

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot

STYLE: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "0.8",
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "pdf.fonttype": 42,  # letters stay letters
}
WIDTH = 7.2
"""Inches, of a page with two columns."""

POLICIES = {
    "base-uvm": "Base UVM",
    "flashneuron": "FlashNeuron",
    "deepum": "DeepUM+",
    "g10-gds": "G10-GDS",
    "g10-host": "G10-Host",
    "g10": "G10",
    "ideal": "Ideal",
}
"""Policies as the paper names them, in its order."""
COLORS = {
    "base-uvm": "#999999",
    "flashneuron": "#56b4e9",
    "deepum": "#e69f00",
    "g10-gds": "#009e73",
    "g10-host": "#cc79a7",
    "g10": "#0072b2",
    "ideal": "#000000",
}
HATCHES = {"base-uvm": "", "flashneuron": "//", "deepum": "\\\\", "g10-gds": "..", "g10-host": "xx", "g10": ""}
MARKERS = {"base-uvm": "v", "flashneuron": "s", "deepum": "^", "g10-gds": "P", "g10-host": "X", "g10": "o", "ideal": "D"}
SHADES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#000000")
"""Of lines that are not policies."""
SHAPES = "osD^vPX*"
MODELS = {"BERT_Base": "BERT", "VIT": "ViT"}


def policy_name(policy: Value) -> str:
    """A policy as the paper names it; one that it does not have keeps its name."""
    return POLICIES.get(str(policy), str(policy))


def policies_of(table: Table, without: Sequence[str] = ()) -> list[str]:
    """The policies of a table in the paper's order, others behind."""
    there = [str(policy) for (policy,) in distinct(table.rows, "policy") if policy not in without]
    order = list(POLICIES)
    return sorted(there, key=lambda policy: order.index(policy) if policy in order else len(order))


def color(policy: str) -> str:
    """The colour of a policy."""
    return COLORS.get(policy, "#d55e00")


def model_name(model: Value, batch: Value = None) -> str:
    """A network as the paper names it, with a batch size."""
    name = MODELS.get(str(model), str(model))
    return name if batch is None else f"{name}-{batch}"


def panels(count: int, columns: int, height: float, legend: bool = True) -> tuple[Plot, list[Axes], Axes | None]:
    """A grid of panels, and the cell for a legend where one is left over; ``put_legend`` takes both cases."""
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    plot = Figure(figsize=(WIDTH, height * rows + 0.5), layout="constrained")
    cells = list(plot.subplots(rows, columns, squeeze=False).flat)
    for cell in cells[count:]:
        cell.axis("off")
    return plot, cells[:count], cells[count] if legend and len(cells) > count else None


def put_legend(plot: Plot, cell: Axes | None, handles: Iterable[Artist], columns: int = 4) -> None:
    """One legend for all panels: in the cell that is left over, or below."""
    handles = list(handles)
    if cell is not None:
        cell.legend(handles=handles, loc="center")
    else:
        plot.legend(handles=handles, loc="outside lower center", ncols=min(columns, len(handles)))


def published_handle(text: str = "published") -> Artist:
    """The legend's entry for published values."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker="D", markersize=4, markerfacecolor="white", markeredgecolor="black", label=text)
