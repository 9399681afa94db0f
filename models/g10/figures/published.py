"""Published values, and which cases a figure is made of: those of a file, or the paper's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from g10c.ir.errors import InputError
from g10c.models.g10.cases import read_cases
from g10c.models.g10.figures.paper import COMBINED, FOUR, NETWORKS, SEEDS, VARIATIONS, Row, paper_rows

PAGE = 4096
LINK_OF = {f"{link}_pages": link for link in ("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu")}
VARIATION_KEY = "ideal_over_g10_at_0_5_10_15_20_25_percent"

Key = tuple[str, int, str, str]
"""Network, batch size, policy, and what the value is of."""


@dataclass
class Published:
    """What the publication gives. Values that it does not give are absent."""

    rows: list[Row] = field(default_factory=list)
    traffic: dict[Key, int] = field(default_factory=dict)
    """Bytes by direction."""
    parts: dict[Key, int] = field(default_factory=dict)
    """Nanoseconds of figure 12 by part."""
    variation: dict[tuple[str, int, float], float] = field(default_factory=dict)
    """Ideal over G10 by variation of kernel times."""

    def cases(self, figure: int) -> list[Row]:
        """The cases of a figure, networks in the paper's order: the file's own of that number, else those that the paper makes it of."""
        order = list(NETWORKS)
        return sorted(self._cases(figure), key=lambda row: order.index(row["model"]) if row["model"] in order else len(order))

    def _cases(self, figure: int) -> list[Row]:
        own = [row for row in self.rows if str(row.get("figure")) == str(figure)]
        if own and figure == 17 and all(row["policy"] != "g10" for row in own):
            return own + [row for row in self.cases(16) if COMBINED.get(row["model"]) == row["batch"]]
        if own:
            return own
        if figure in (12, 13, 14):
            return [row for row in self.cases(11) if row["policy"] in FOUR]
        if figure == 19:
            planned = [{**_seed(row["model"]), **row} for row in self.cases(11) if row["policy"] == "g10"]
            return [{**row, "variation": variation} for row in planned for variation in VARIATIONS]
        if figure in (3, 4, 20, 21):
            return self.cases(2)
        return paper_rows(figure)


def _seed(model: str) -> Row:
    return {"seed": SEEDS[model]} if model in SEEDS else {}


def read_published(path: str | Path | None) -> Published:
    """Read a file of cases that may also hold ``traffic``, ``breakdown`` and ``variation``. Raises :class:`InputError`."""
    if path is None:
        return Published()
    published = Published(read_cases(str(path)))
    value = json.loads(Path(path).read_text(encoding="utf-8"))
    sections = value if isinstance(value, dict) else {}
    for name, add in (("traffic", _add_traffic), ("breakdown", _add_part), ("variation", _add_variation)):
        _read_section(str(path), name, sections.get(name, []), published, add)
    return published


def _read_section(path: str, name: str, rows: object, published: Published, add: Callable[[Published, dict[str, Any]], None]) -> None:
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputError.at(f"{path}: {name}: expected a list of rows, found {type(rows).__name__}")
    for number, row in enumerate(rows):
        try:
            add(published, row)
        except (KeyError, TypeError, ValueError) as error:
            problem = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError.at(f"{path}: {name}[{number}]: {problem}", None, "expected a row as published.json has them") from None


def _add_traffic(published: Published, row: dict[str, Any]) -> None:
    if row["pages_4kib"] is not None:
        published.traffic[row["model"], int(row["batch"]), row["policy"], LINK_OF[row["what"]]] = round(float(row["pages_4kib"]) * PAGE)


def _add_part(published: Published, row: dict[str, Any]) -> None:
    if row["ns"] is not None:
        published.parts[row["model"], int(row["batch"]), row["policy"], row["part"]] = round(float(row["ns"]))


def _add_variation(published: Published, row: dict[str, Any]) -> None:
    for variation, ratio in zip(VARIATIONS, row[VARIATION_KEY], strict=True):
        published.variation[row["model"], int(row["batch"]), variation] = float(ratio)
