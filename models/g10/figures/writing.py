"""Runs the cases of figures and writes their data, plots and summary into a folder."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from g10c.ir.output import make_folder, write_bytes_atomically, write_text_atomically
from g10c.models.g10.figures.data import FIGURES, Sources, jobs_of
from g10c.models.g10.figures.published import read_published
from g10c.models.g10.figures.summary import file_stem, outcome_lines, summary_page
from g10c.models.g10.figures.table import Table
from g10c.models.g10.figures.wanted import wanted_figures
from g10c.models.g10.layout import Layout
from g10c.models.g10.parallel import run_jobs

KEPT = "cases"
"""Folder of finished cases, below that of the figures."""
SUMMARY = "summary.md"
WITHOUT_PLOTS = "no plots: matplotlib is not installed; pip install 'g10c[plot]', then run this again: finished cases are kept"


def write_figures(data: str, cases: str | None, numbers: str, folder: str, workers: int, progress: Callable[[str], None]) -> list[str]:
    """Write the figures; lines that say what was written.

    ``cases`` is a file of cases and published values; without one it is ``published.json`` of the data where that is, else the
    settings of the paper are run, with nothing to compare with.
    """
    wanted = wanted_figures(numbers, FIGURES)
    layout = Layout.find(data)
    published = read_published(cases or layout.published)
    make_folder(folder)
    outcomes = run_jobs(layout, jobs_of(published, wanted), workers, str(Path(folder) / KEPT), progress)
    sources = Sources(layout, published, outcomes)
    has_plots = find_spec("matplotlib") is not None
    lines, tables = [], {}
    for figure in wanted:
        progress(f"figure {figure}")
        tables[figure] = FIGURES[figure].data(sources, figure)
        names = _write(folder, figure, tables[figure], has_plots)
        lines.append(f"figure {figure}: {', '.join(names)}; {'; '.join(outcome_lines(tables[figure]))}")
    write_text_atomically(Path(folder) / SUMMARY, summary_page(tables, has_plots))
    return [*lines, f"wrote {len(wanted)} figures and {SUMMARY} to {folder}", *([] if has_plots else [WITHOUT_PLOTS])]


def _write(folder: str, figure: int, table: Table, has_plots: bool) -> list[str]:
    stem = file_stem(figure)
    write_text_atomically(Path(folder) / f"{stem}.csv", table.csv())
    names = [f"{stem}.csv"]
    if has_plots and table.rows:
        from g10c.models.g10.figures.plots import plot_files

        for suffix, content in plot_files(figure, table).items():
            write_bytes_atomically(Path(folder) / f"{stem}.{suffix}", content)
            names.append(suffix)
    return names
