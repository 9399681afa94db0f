"""Data of a figure: rows of named values, and their CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Value = str | int | float | None
Record = dict[str, Value]


@dataclass
class Table:
    """Rows that all have the same columns. ``None`` is a value that is not there: an empty cell."""

    rows: list[Record] = field(default_factory=list)

    def csv(self) -> str:
        """The table as CSV with a line of names; fractions have six digits, so that the text is the same everywhere."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if self.rows:
            writer.writerow(self.rows[0])
        writer.writerows([_cell(value) for value in row.values()] for row in self.rows)
        return text.getvalue()

    def where(self, **wanted: Value) -> list[Record]:
        """The rows with these values."""
        return [row for row in self.rows if all(row[name] == value for name, value in wanted.items())]


def _cell(value: Value) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def distinct(rows: Iterable[Record], *columns: str) -> Iterator[tuple[Value, ...]]:
    """The different values of columns, in the order in which they first occur."""
    yield from dict.fromkeys(tuple(row[column] for column in columns) for row in rows)


def number(value: Value) -> float:
    """A value that is a number; not a number where there is none, which plots leave out."""
    return float(value) if isinstance(value, int | float) else float("nan")
