"""The contract of a pass, stated once.

A pass is a frozen dataclass whose fields are its options, over a pure function::

    @dataclass(frozen=True)
    class PinSmallPass(Pass):
        \"\"\"Keeps small tensors in GPU memory.\"\"\"

        name = "pin-small"
        below: Size = option(Size(1 << 20), "tensors smaller than this stay")

        def run(self, program, context):
            return pin_small(program, self.below)

A pass returns a new program and leaves the one it was given as it was. It may ask its context for analyses and for the time
a plan takes, and may count things; it does not print and does not exit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from g10c.compiler.analysis import Analysis, AnalysisCache
from g10c.compiler.options import options_of, to_text
from g10c.ir.program import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from g10c.compiler.protocols import Evaluator
    from g10c.compiler.rewriting.log import RewriteLog
    from g10c.compiler.rewriting.rule import Rule, RuleSet
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program

T = TypeVar("T")

MAX_COUNT = 1 << 63
"""Statistics are below this: more than any plan holds."""

ANY_LEVEL = frozenset(Level)
UNPLANNED = frozenset({Level.TRACED, Level.PARTITIONED})


def option(default: T, help: str) -> T:  # noqa: A002 - the word that argparse and users know
    """A field of a pass that is an option with a default and a meaning."""
    return field(default=default, metadata={"help": help})


def required_option(help: str) -> Any:  # noqa: A002 - the word that argparse and users know
    """A field of a pass that is an option without a default."""
    return field(metadata={"help": help})


@dataclass
class PassContext:
    """What a pass may ask while it runs, and where it counts.

    ``statistics`` are those of the running pass, ``totals`` those of the pipeline. The evaluator is looked up on first use
    only, so that pipelines that never ask how long a plan takes load no simulator.
    """

    machine: Machine
    analyses: AnalysisCache = field(default_factory=AnalysisCache)
    find_evaluator: Callable[[], Evaluator] | None = None
    find_rule_functions: Callable[[], Mapping[str, Callable[..., Any]]] | None = None
    rewrite_log: RewriteLog | None = None
    """Where rules write what they do; nowhere when ``None``."""
    load: tuple[str | Path, ...] = ()
    """Python files that define passes, policies or functions for rules."""
    statistics: dict[str, int | float] = field(default_factory=dict)
    totals: dict[str, int | float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def analysis(self, analysis: Analysis[T], program: Program) -> T:
        """An analysis of a program, computed at most once."""
        return self.analyses.get(analysis, program)

    def count(self, what: str, number: int | float = 1) -> None:
        """Add to a statistic of the running pass. Raises ``ValueError`` for what is no finite number."""
        if not isinstance(number, int | float) or not abs(number) < MAX_COUNT:
            raise ValueError(f"statistic {what!r}: {number!r} is not a number below 2^63")
        self.statistics[what] = self.statistics.get(what, 0) + number
        self.totals[what] = self.totals.get(what, 0) + number

    def note(self, text: str) -> None:
        """Tell the user something that is not an error."""
        if text not in self.notes:
            self.notes.append(text)

    def rewrite(self, program: Program, rules: RuleSet | Rule, limit: int | None = None) -> Program:
        """The program with rules applied until none fits; firings are counted as statistics of the running pass.

        Where kernels change, the tensors' inactive periods go, since they count kernels; of a plan the user is told.

        Raises :class:`~g10c.compiler.rewriting.apply.RuleError`; see :func:`~g10c.compiler.rewriting.engine.apply_rules`.
        """
        from g10c.compiler.rewriting.engine import apply_rules

        done = apply_rules(program, rules, limit, self.rewrite_log)
        for name, number in done.firings.items():
            self.count(f"firings of {name}", number)
        if _kernels(done.program) == _kernels(program):
            return done.program
        if program.level is Level.PLANNED:
            self.note("rules changed kernels of a program that is planned already: its directives are those from before; plan it anew")
        return _without_periods(done.program)

    @property
    def rule_functions(self) -> Mapping[str, Callable[..., Any]]:
        """The helper functions that rules files may call, beside the built-in ones."""
        return self.find_rule_functions() if self.find_rule_functions is not None else {}

    @property
    def evaluator(self) -> Evaluator:
        """The simulator, as something that says how long a program takes."""
        if self.find_evaluator is None:
            raise RuntimeError("this pipeline runs without an evaluator")
        return self.find_evaluator()


def _kernels(program: Program) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What each kernel reads and writes: inactive periods depend on nothing else."""
    return [(op.reads, op.writes) for op in program.kernels]


def _without_periods(program: Program) -> Program:
    if not any("inactive" in tensor.attrs for tensor in program.tensors.values()):
        return program
    return program.with_tensors(tensor.with_attrs(inactive=None) for tensor in program.tensors.values())


@dataclass(frozen=True)
class Pass(ABC):
    """One rewrite of a program.

    ``takes`` are the levels it accepts, which the pass manager checks; it also verifies the program after every pass. ``gives`` is
    the level that it takes programs to (``None``: that of its input), for a reader. ``preserves`` names the analyses that stay
    true after it.
    """

    name: ClassVar[str]
    takes: ClassVar[frozenset[Level]] = ANY_LEVEL
    gives: ClassVar[Level | None] = None
    preserves: ClassVar[frozenset[Analysis[Any]]] = frozenset()

    def prepare(self, context: PassContext) -> None:  # noqa: B027 - most passes have nothing to prepare
        """Called for every pass before the first one runs: read files here, and refuse what cannot work."""

    @abstractmethod
    def run(self, program: Program, context: PassContext) -> Program:
        """The rewritten program. Raises a ``G10cError`` for what the user has to change."""

    @property
    def spec(self) -> str:
        """Pipeline text that makes this pass again; options at their defaults are left out."""
        given = [(item, getattr(self, item.name)) for item in options_of(type(self))]
        parts = [f"{item.name}={to_text(value)}" for item, value in given if item.required or value != item.default]
        return self.name + ("{" + ",".join(parts) + "}" if parts else "")


def summary_of(owner: type) -> str:
    """The first paragraph of a class's docstring, as one line."""
    return " ".join((owner.__doc__ or "").split("\n\n")[0].split())
