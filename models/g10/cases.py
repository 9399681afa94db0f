"""Cases of published results: a JSON list of settings, read with every mistake reported by its path."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from g10c.ir.errors import Diagnostic, InputError, near_hint, near_names
from g10c.ir.source import Origin, Source, Span

LARGEST_NS = 1 << 63
"""Published times are below this."""

OUTCOMES = frozenset({"figure", "iteration_ns", "fails", "ours_ns", "error", "refused"})
"""Keys of a case that are not settings."""


@dataclass(frozen=True, slots=True)
class Case:
    """Settings of one published run; those not given are the paper's machine. ``gb`` is 2^30 bytes, ``gbps`` 10^9 bytes per second."""

    model: str
    batch: int
    policy: str
    host_gb: float = 128.0
    ssd_gbps: float = 3.2
    pcie_gbps: float = 15.754
    gpu_gb: float = 40.0
    memory_line_factor: float = 1.0
    variation: float = 0.0
    """Kernel times differ from those planned for by this fraction at most."""
    seed: int = 5489
    """Of the factors on kernel times."""

    @classmethod
    def of(cls, row: dict[str, Any]) -> Case:
        """The settings of a checked row."""
        return cls(**{field.name: row[field.name] for field in fields(cls) if field.name in row})

    @property
    def program(self) -> tuple[str, int]:
        """Network and batch size: what is imported."""
        return self.model, self.batch

    def settings(self) -> list[str]:
        """The case as ``--set`` values of a machine."""
        return [
            f"host.memory={round(self.host_gb * 2**30)}B",
            f"ssd.bandwidth={round(self.ssd_gbps * 10**9)}B/s",
            f"pcie.bandwidth={round(self.pcie_gbps * 10**9)}B/s",
            f"gpu.memory={round(self.gpu_gb * 2**30)}B",
        ]


def read_cases(path: str) -> list[dict[str, Any]]:
    """The rows of a cases file: a list, or an object whose ``iteration_time`` is one. Raises :class:`InputError`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError.at(f"{path}: cannot be read: {error}", None, "give a JSON file with a list of cases") from error
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise InputError.at(f"{path}: nested too deeply for a list of cases") from None
    except ValueError as error:
        position = getattr(error, "pos", 0)
        span = Span(Source(path, text), position, position + 1)
        raise InputError.at(f"not JSON: {getattr(error, 'msg', error)}", span, "give a JSON list of cases") from error
    rows = value.get("iteration_time") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise InputError.at(f"{path}: expected a list of cases, or an object with the key 'iteration_time'")
    wrong = [found for number, row in enumerate(rows) for found in _mistakes(path, number, row)]
    if wrong:
        raise InputError(wrong)
    return rows


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; of two equal ones only the last would count."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in [other for other, _ in pairs[:number]])
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return found


def _mistakes(path: str, number: int, row: object) -> list[Diagnostic]:
    place = f"{path}: [{number}]"
    if not isinstance(row, dict):
        return [Diagnostic(f"expected a case (an object), found {type(row).__name__}", Origin(place))]
    known = {field.name: str(field.type) for field in fields(Case)}
    wrong = [
        Diagnostic(f"extra key {key!r}", Origin(f"{place}.{key}"), near_hint(key, [*known, *OUTCOMES], "keys"))
        for key in row
        if key not in known and key not in OUTCOMES and near_names(key, [*known, *OUTCOMES])  # others are the user's own
    ]
    wrong += [Diagnostic(f"the key {key!r} is missing", Origin(place)) for key in ("model", "batch", "policy") if key not in row]
    for key, kind in known.items():
        if key in row and not _fits(row[key], kind):
            expected = {"str": "text", "int": "a whole number above 0", "float": "a number, at least 0"}[kind]
            wrong.append(Diagnostic(f"expected {expected}, found {row[key]!r}", Origin(f"{place}.{key}")))
    published = row.get("iteration_ns")
    if published is not None and (isinstance(published, bool) or not isinstance(published, int | float) or not 0 < published < LARGEST_NS):
        wrong.append(Diagnostic(f"expected a time above 0 or null, found {published!r}", Origin(f"{place}.iteration_ns")))
    return wrong


def _fits(value: object, kind: str) -> bool:
    if kind == "str":
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) and value > 0 if kind == "int" else 0 <= value < 1e9
