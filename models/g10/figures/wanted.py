"""Which figures: ``2-4,11-21``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from g10c.ir.errors import UsageError

_PART = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?\Z")


def wanted_figures(text: str, known: Iterable[int]) -> list[int]:
    """The numbers that a text names, ascending. A range may skip what there is not; a single number may not. Raises :class:`UsageError`."""
    there = sorted(known)
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.match(part.strip())
        if not match:
            raise UsageError.at(f"--figures: {part.strip()!r} is no figure", None, "expected numbers and ranges, such as 2-4,11-21")
        first, last = int(match[1]), int(match[2] or match[1])
        numbers = {number for number in there if first <= number <= last}
        if not numbers:
            raise UsageError.at(f"--figures: there is no figure {part.strip()}", None, f"there are {', '.join(map(str, there))}")
        found |= numbers
    return sorted(found)
