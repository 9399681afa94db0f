"""Numbers with units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.ir.values import SIZE_UNITS, TIME_UNITS, format_size, format_time, parse_quantity


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("1e9999999GiB", SIZE_UNITS),
        ("1e-9999999s", TIME_UNITS),
        ("1e-200s", TIME_UNITS),
        ("1e200s", TIME_UNITS),
        ("8EiB", SIZE_UNITS),
        ("8388608TiB", SIZE_UNITS),
        ("5", TIME_UNITS),
        ("0.1ns", TIME_UNITS),
        ("-1ns", TIME_UNITS),
        ("", TIME_UNITS),
    ],
)
def test_what_is_no_quantity(text: str, units: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=text or "found"):
        parse_quantity(text, units)


@given(st.integers(0, 2**63 - 1))
def test_formats_read_back(value: int) -> None:
    assert parse_quantity(format_time(value), TIME_UNITS) == value
    assert parse_quantity(format_size(value), SIZE_UNITS) == value
