"""The built-in functions of rules: a table of name, arguments, meaning and how a call becomes a closure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from g10c.compiler.rules.kinds import QUANTITIES, VALUES, Kind
from g10c.compiler.rules.typed import Typed
from g10c.ir.errors import Diagnostic
from g10c.ir.source import Span


@dataclass(slots=True)
class CallSite:
    """A call whose arguments have been checked: what a function makes its closure from. ``tell`` records a mistake."""

    span: Span
    arguments: list[Typed]
    labels: dict[int, frozenset[str]]
    """For the arguments that are ops the names that they can have."""
    tell: Callable[[Diagnostic], None]

    @property
    def first(self) -> Typed:
        """The first argument."""
        return self.arguments[0]


Kinds = frozenset[Kind]


@dataclass(frozen=True, slots=True)
class Builtin:
    """One function. ``takes`` are the kinds of each argument; the last may come again where there are ``more``; those behind
    ``least`` may be left out. A word for argument ``key`` is the key of an attribute.
    """

    usage: str
    doc: str
    takes: tuple[Kinds, ...]
    make: Callable[[CallSite], Typed]
    least: int = -1
    more: bool = False
    key: int = -1

    @property
    def name(self) -> str:
        """The function's name."""
        return self.usage.partition("(")[0]

    @property
    def counts(self) -> tuple[int, int | None]:
        """The least and the most arguments; ``None`` for no limit."""
        least = len(self.takes) if self.least < 0 else self.least
        return least, None if self.more else len(self.takes)

    def kinds(self, number: int) -> Kinds:
        """What argument ``number`` can be."""
        return self.takes[min(number, len(self.takes) - 1)]

    def accepts(self, number: int, kind: Kind) -> bool:
        """Whether argument ``number`` can be of a kind; one that is known when it runs is neither a tensor nor an op."""
        return kind in self.kinds(number) or (kind is Kind.UNKNOWN and not self.kinds(number).isdisjoint(VALUES))


def kinds(*members: Kind) -> Kinds:
    """A set of kinds."""
    return frozenset(members)


TENSOR = kinds(Kind.TENSOR)
TENSORS = kinds(Kind.TENSOR, Kind.TENSORS)
OP = kinds(Kind.OP)
NUMBER = kinds(Kind.NUMBER)
WHOLE = kinds(Kind.NUMBER, Kind.TIME, Kind.SIZE)
QUANTITY = QUANTITIES
TEXT = kinds(Kind.TEXT)
TRUTH = kinds(Kind.BOOL)
ANYTHING = VALUES | {Kind.NONE}


def table() -> dict[str, Builtin]:
    """All built-in functions by name, in the order of the documentation."""
    from g10c.compiler.rules.op_functions import OP_FUNCTIONS
    from g10c.compiler.rules.tensor_functions import TENSOR_FUNCTIONS
    from g10c.compiler.rules.value_functions import VALUE_FUNCTIONS

    return {function.name: function for function in (*TENSOR_FUNCTIONS, *OP_FUNCTIONS, *VALUE_FUNCTIONS)}


def markdown_table(functions: Iterable[Builtin] | None = None) -> str:
    """The functions as a table in markdown, for the documentation."""
    rows = [f"| `{function.usage}` | {function.doc} |" for function in functions or table().values()]
    return "\n".join(["| function | |", "|---|---|", *rows])
