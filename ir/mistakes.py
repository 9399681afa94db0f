"""Mistakes in a structured document (TOML or JSON): found by path, told with the place in its text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from g10c.ir.errors import Diagnostic
from g10c.ir.names import is_word
from g10c.ir.source import Location, Origin, Source, Span

Path = tuple[str | int, ...]
"""Keys and array indices from the root of a document to a value."""

FOUND_LENGTH = 40
"""Characters of a wrong value that a message repeats."""


@dataclass(frozen=True, slots=True)
class Place:
    """Characters ``[start, end)`` of a value and, inside an object or table, of its key."""

    value: tuple[int, int]
    key: tuple[int, int] | None = None


Places = Mapping[Path, Place]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at ``path``; ``at_key`` where the key, not the value, is to blame."""

    path: Path
    message: str
    hint: str = ""
    at_key: bool = False


def path_text(path: Path) -> str:
    """A path as a reader writes it: ``ops[17].reads[2]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif is_word(step) and "." not in step:
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step)}]"
    return text


def found_text(value: object) -> str:
    """A wrong value, shortened, as JSON where it has such a form."""
    if isinstance(value, dict):
        return f"an object with {len(value)} keys" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if not isinstance(value, str | int | float | None):
        return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= FOUND_LENGTH else f"{text[:FOUND_LENGTH]}..."


def diagnostics_of(mistakes: Iterable[Mistake], source: Source, places: Places) -> list[Diagnostic]:
    """One diagnostic a mistake, in the order of the text; where a path has no place, its nearest ancestor's is cited."""
    located = []
    for mistake in dict.fromkeys(mistakes):
        at = place_of(mistake.path, places, at_key=mistake.at_key)
        location: Location = Span(source, *at) if at else Origin(source.name)
        located.append((at or (0, 0), Diagnostic(_message(mistake), location, mistake.hint)))
    return [diagnostic for _, diagnostic in sorted(located, key=lambda item: item[0][0])]


def _message(mistake: Mistake) -> str:
    """``extra key 'latncy' at links.pcie`` for a key, ``links.pcie.latency: expected ...`` for a value."""
    where = path_text(mistake.path[:-1] if mistake.at_key else mistake.path)
    if not where:
        return mistake.message
    return f"{mistake.message} at {where}" if mistake.at_key else f"{where}: {mistake.message}"


def place_of(path: Path, places: Places, *, at_key: bool) -> tuple[int, int] | None:
    """Characters to put the caret under."""
    while path:
        place = places.get(path)
        if place is not None:
            return place.key if at_key and place.key else place.value
        path = path[:-1]
    return None
