"""Plots of the figures, with matplotlib (the extra ``plot``): which kind each figure is, and the files of one."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from g10c.models.g10.figures import bar_plots, curve_plots, line_plots
from g10c.models.g10.figures.data import FIGURES
from g10c.models.g10.figures.style import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

    from g10c.models.g10.figures.table import Table

DRAW: dict[int, Callable[[Table], Plot]] = {
    2: curve_plots.memory_consumption,
    3: curve_plots.inactive_distribution,
    4: curve_plots.inactive_sizes,
    11: bar_plots.performance,
    12: bar_plots.step_parts,
    13: curve_plots.kernel_slowdowns,
    14: bar_plots.traffic,
    15: line_plots.throughput,
    16: line_plots.host_memory,
    17: line_plots.host_memory_of_policies,
    18: line_plots.ssd_bandwidth,
    19: bar_plots.kernel_variation,
    20: curve_plots.live_memory,
    21: curve_plots.active_memory,
}
DPI = 200


def plot_files(figure: int, table: Table) -> dict[str, bytes]:
    """A figure as PNG and PDF, by suffix. The same data give the same bytes."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        plot = DRAW[figure](table)
        plot.suptitle(f"Figure {figure}: {FIGURES[figure].title}", fontsize=9)
        return {suffix: _saved(plot, suffix) for suffix in ("png", "pdf")}


def _saved(plot: Plot, suffix: str) -> bytes:
    stream = io.BytesIO()
    metadata = {"CreationDate": None} if suffix == "pdf" else {"Software": None}
    plot.savefig(stream, format=suffix, dpi=DPI, metadata=metadata)
    return stream.getvalue()
