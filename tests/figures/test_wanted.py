"""Which figures a text names."""

from __future__ import annotations

import pytest

from g10c.ir.errors import UsageError
from g10c.models.g10.figures.data import FIGURES
from g10c.models.g10.figures.wanted import wanted_figures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11", [11]),
        ("2-4,11-21", [2, 3, 4, *range(11, 22)]),
        ("13, 11,11-12", [11, 12, 13]),
        ("1-99", [2, 3, 4, *range(11, 22)]),
    ],
)
def test_numbers(text, expected):
    assert wanted_figures(text, FIGURES) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no figure"),
        ("11;12", "'11;12' is no figure"),
        ("5", "there is no figure 5"),
        ("12-11", "there is no figure 12-11"),
        ("11,x", "'x' is no figure"),
        ("-3", "'-3' is no figure"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(UsageError, match=message):
        wanted_figures(text, FIGURES)
