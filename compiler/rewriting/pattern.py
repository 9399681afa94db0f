"""Patterns: what to look for in a program, as values.

A pattern is a list of op patterns that reads like a program: a name stands for a tensor, and where one line writes a name the lines
below see what it wrote. It is matched over the dataflow, wherever the ops stand::

    pattern(
        op("scale.forward", reads=["dw"], writes=["s"], attrs={"time": Capture("t")}),
        op("apply_grad", reads=["w", "s"], writes=["w"]),
    )

- Lines that share a tensor are found through its producer and its uses. A line that shares none with the lines above is the next op
  that fits its name.
- The ops stand in the program in the order of the lines.
- A name that is read before any line writes it is one version of one tensor; a name in results and operands is updated in place, and
  nothing else writes the tensor in between. So a match never reads past a later write.
- Directives on one tensor follow each other: no other one on it stands in between.
- Two names may stand for one tensor, unless a line writes one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise

from g10c.ir.errors import near_hint
from g10c.ir.ops import declaration, known_names
from g10c.ir.values import Value

MOST_LISTS = 3
"""Repeated operands in one list: the ways to cut it grow with a power of their number."""
ANY = "_"
"""An operand, result or attribute of which nothing is asked."""


class PatternError(ValueError):
    """A pattern, rule or rewrite that makes no sense; ``hint`` says what would."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message + (f" ({hint})" if hint else ""))
        self.message, self.hint = message, hint


@dataclass(frozen=True, slots=True)
class Operand:
    """A name for one operand, or for any number of them in a row; :data:`ANY` asks nothing."""

    name: str
    many: bool = False

    @classmethod
    def of(cls, text: str) -> Operand:
        """``x``, ``_``, ``xs...`` or ``_...``."""
        return cls(text.removesuffix("..."), text.endswith("..."))

    def __str__(self) -> str:
        return f"%{self.name}..." if self.many and self.name != ANY else self.name + "..." if self.many else shown(self.name)


def shown(name: str) -> str:
    """A name as it is written in rules."""
    return name if name == ANY else f"%{name}"


@dataclass(frozen=True, slots=True)
class Capture:
    """The value of an attribute under a name; the attribute has to be there. :data:`ANY` keeps no value."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """An attribute that has one of these values."""

    values: tuple[Value, ...]


AttrPattern = Capture | OneOf


@dataclass(frozen=True)
class OpPattern:
    """One op: ``names`` are names of ops, or globs such as ``*.forward``; no names stand for any kernel or collective."""

    names: tuple[str, ...] = ()
    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    attrs: Mapping[str, AttrPattern] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        for name in self.names:
            if not any(_fits(name, known) for known in known_names()):
                raise PatternError(f"no op is called {name!r}", near_hint(name, known_names(), "ops") or "docs/ir.md lists the ops")
        for side in (self.reads, self.writes):
            if any(one.many and other.many and one.name == other.name == ANY for one, other in pairwise(side)):
                raise PatternError("two unnamed `_...` side by side", "one is enough, or give them names")

    @cached_property
    def fitting(self) -> frozenset[str]:
        """The names of ops that fit. A glob or no name fits no directive: those have to be named."""
        found = set()
        for known in known_names():
            decl = declaration(known)
            directive = decl is not None and decl.kind.value == "directive"
            if known in self.names or (not directive and (not self.names or any(_fits(name, known) for name in self.names))):
                found.add(known)
        return frozenset(found)

    @property
    def title(self) -> str:
        """Its name for messages."""
        return " | ".join(self.names) or ANY


def _fits(glob: str, name: str) -> bool:
    return glob == name or ("*" in glob and fnmatchcase(name, glob))


def op(
    names: str | Iterable[str] = (),
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    attrs: Mapping[str, AttrPattern | Value] | None = None,
    label: str = "",
) -> OpPattern:
    """An op pattern from plain text: operands are ``x``, ``_``, ``xs...`` or ``_...``; attributes are a :class:`Capture` or a value.

    Raises :class:`PatternError` for a name that no op has.
    """
    wanted = {key: value if isinstance(value, Capture | OneOf) else OneOf((value,)) for key, value in (attrs or {}).items()}
    return OpPattern(
        (names,) if isinstance(names, str) else tuple(names),
        tuple(map(Operand.of, reads)),
        tuple(map(Operand.of, writes)),
        wanted,
        label,
    )


Slot = tuple[str, int]
"""A name and how many lines of the pattern have written it before: what one operand of a pattern stands for."""


@dataclass(frozen=True)
class Pattern:
    """Op patterns in order. Raises :class:`PatternError` where names or labels clash."""

    ops: tuple[OpPattern, ...]

    def __post_init__(self) -> None:
        if not self.ops:
            raise PatternError("the pattern is empty", "it needs at least one op")
        self._check_labels()
        if any(sum(operand.many for operand in side) > MOST_LISTS for item in self.ops for side in (item.reads, item.writes)):
            raise PatternError(f"more than {MOST_LISTS} repeated operands in one list", "they could be cut in too many ways")
        kinds: dict[str, str] = {}
        for item in self.ops:
            for operand in (*item.reads, *item.writes):
                _claim(kinds, operand.name, "tensors" if operand.many else "tensor")
            for wanted in item.attrs.values():
                if isinstance(wanted, Capture):
                    _claim(kinds, wanted.name, "attribute")
            if item.label:
                _claim(kinds, item.label, "op")
        object.__setattr__(self, "kinds", kinds)

    kinds: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """What each name stands for: ``tensor``, ``tensors``, ``attribute`` or ``op``."""

    def _check_labels(self) -> None:
        labels = [item.label for item in self.ops if item.label]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice:
            raise PatternError(f"the label @{twice} is given twice")

    @cached_property
    def slots(self) -> tuple[tuple[tuple[Slot, ...], tuple[Slot, ...]], ...]:
        """For each op the slots of its operands and of its results."""
        written: dict[str, int] = {}
        found = []
        for item in self.ops:
            reads = tuple((operand.name, written.get(operand.name, 0)) for operand in item.reads)
            for operand in item.writes:
                written[operand.name] = written.get(operand.name, 0) + 1
            found.append((reads, tuple((operand.name, written[operand.name]) for operand in item.writes)))
        return tuple(found)

    @cached_property
    def written(self) -> frozenset[str]:
        """The names that a line writes."""
        return frozenset(operand.name for item in self.ops for operand in item.writes) - {ANY}

    @cached_property
    def live_in(self) -> frozenset[str]:
        """The names that are read before a line writes them."""
        return frozenset(name for reads, _ in self.slots for name, number in reads if number == 0) - {ANY}

    def position(self, label: str) -> int | None:
        """Which op has a label."""
        return next((number for number, item in enumerate(self.ops) if item.label == label), None)

    def __iter__(self) -> Iterator[OpPattern]:
        return iter(self.ops)


def _claim(kinds: dict[str, str], name: str, kind: str) -> None:
    if name != ANY and kinds.setdefault(name, kind) != kind:
        raise PatternError(f"{name!r} stands for two things: {kinds[name]} and {kind}", "give one of them another name")


def pattern(*ops: OpPattern) -> Pattern:
    """A pattern of these ops."""
    return Pattern(ops)
