"""The built-in settings of the paper against the published ones, and traffic and breakdown against the published values."""

from __future__ import annotations

from pathlib import Path

import pytest

from g10c.models.g10.cases import Case
from g10c.models.g10.figures.data import Sources, jobs_of, kernel_variation, step_parts, step_times, traffic
from g10c.models.g10.figures.paper import paper_rows
from g10c.models.g10.figures.published import Published, read_published
from g10c.models.g10.figures.summary import NEAR_POINTS, is_near
from g10c.models.g10.figures.table import number
from g10c.models.g10.layout import Layout
from g10c.models.g10.parallel import run_jobs


@pytest.mark.parametrize("figure", [11, 15, 16, 18])
def test_the_settings_are_those_published(figure: int, g10_data: Path):
    published = read_published(g10_data / "published.json").cases(figure)
    assert {Case.of(row) for row in paper_rows(figure)} == {Case.of(row) for row in published}


def test_figure_17_is_part_of_what_is_published(g10_data: Path):
    published = read_published(g10_data / "published.json")
    there = {Case.of(row) for figure in (16, 17) for row in published.cases(figure)}
    assert {Case.of(row) for row in paper_rows(17)} <= there


def test_without_published_values_the_paper_is_run():
    published = Published()
    assert [len(published.cases(figure)) for figure in (2, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)] == [
        *(4, 35, 20, 20, 20, 125, 128, 36, 125, 30, 4),
    ]


def sources(data: Path, models: set[str], figures: list[int]) -> Sources:
    layout, published = Layout.find(str(data)), read_published(data / "published.json")
    published.rows = [row for row in published.rows if row["model"] in models]
    return Sources(layout, published, run_jobs(layout, jobs_of(published, figures)))


def check(data: Path, models: set[str]) -> None:
    """Traffic within 3% or 1 GiB, parts of the step within 3 points."""
    made = sources(data, models, [12, 14])
    moved = [row for row in traffic(made, 14).rows if row["published_bytes"] is not None and row["bytes"] is not None]
    assert {row["policy"] for row in moved} == {"base-uvm", "deepum", "flashneuron", "g10"}
    assert [row for row in moved if not is_near(row)] == []
    parts = [row for row in step_parts(made, 12).rows if row["points"] is not None]
    assert {row["policy"] for row in parts} == {"base-uvm", "deepum", "flashneuron", "g10"}
    assert [row for row in parts if abs(number(row["points"])) > NEAR_POINTS] == []


def test_traffic_and_parts_of_a_transformer(g10_data: Path):
    check(g10_data, {"BERT_Base"})


@pytest.mark.slow
def test_traffic_and_parts_of_all_networks(g10_data: Path):
    check(g10_data, ALL)


ALL = {"BERT_Base", "VIT", "Inceptionv3", "ResNet152", "SENet154"}


def check_variation(data: Path, models: set[str]) -> None:
    rows = kernel_variation(sources(data, models, [19]), 19).rows
    assert len(rows) == 6 * len(models)
    assert max(abs(number(row["error"])) for row in rows) < 1e-4


def test_varied_times_of_a_transformer(g10_data: Path):
    """The factors are those that the artifact drew."""
    check_variation(g10_data, {"BERT_Base"})


@pytest.mark.slow
def test_varied_times_of_all_networks(g10_data: Path):
    check_variation(g10_data, ALL)


@pytest.mark.slow
def test_policies_are_in_the_published_order(g10_data: Path):
    rows = step_times(sources(g10_data, ALL, [11]), 11).rows
    for model in ALL:
        own = [row for row in rows if row["model"] == model and row["published_ns"] is not None]
        assert len(own) >= 6
        ours, theirs = (sorted(own, key=lambda row: number(row[column])) for column in ("iteration_ns", "published_ns"))
        assert [row["policy"] for row in ours] == [row["policy"] for row in theirs]
