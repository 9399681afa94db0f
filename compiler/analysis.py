"""Analyses: facts about a program, computed when first asked for and kept while the program lives.

An analysis never changes a program and is not a pass. Programs are values, so what was computed for one stays true of it;
after a rewrite the new program starts with nothing but what the pass declared it preserves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from g10c.ir.program import Program

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Analysis(Generic[T]):
    """A named fact: ``compute(program, cache)`` may ask the cache for other analyses of the same program."""

    name: str
    compute: Callable[[Program, AnalysisCache], T]


class AnalysisCache:
    """Results by program and analysis. Entries vanish with their program."""

    def __init__(self) -> None:
        self._results: WeakKeyDictionary[Program, dict[Analysis[object], object]] = WeakKeyDictionary()
        self.computed: dict[str, int] = {}
        """How often each analysis was computed, by name."""

    def get(self, analysis: Analysis[T], program: Program) -> T:
        """The analysis of this program, computed at most once."""
        results = self._results.setdefault(program, {})
        key = cast("Analysis[object]", analysis)
        if key not in results:
            self.computed[analysis.name] = self.computed.get(analysis.name, 0) + 1
            results[key] = analysis.compute(program, self)
        return cast("T", results[key])

    def preserve(self, old: Program, new: Program, analyses: Iterable[Analysis[object]] | None = None) -> None:
        """Carry what was computed for ``old`` over to ``new``, for the analyses a rewrite preserves; all when ``None``."""
        if old is new or old not in self._results:
            return
        kept = set(self._results[old] if analyses is None else analyses)
        carried = {key: value for key, value in self._results[old].items() if key in kept}
        self._results.setdefault(new, {}).update(carried)
