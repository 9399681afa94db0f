"""What a rules file says, as typed nodes with their places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from g10c.ir.source import Span


@dataclass(frozen=True, slots=True)
class Atom:
    """One token with its text, sigil included: ``3us``, ``"text"``, ``forward``, ``%x``, ``%xs...``, ``$t``, ``@a``, ``_``."""

    type: str
    text: str
    span: Span

    @property
    def name(self) -> str:
        """The text without its sigil and dots."""
        return self.text.lstrip("%$@").removesuffix("...")

    @property
    def many(self) -> bool:
        """Whether it stands for any number of tensors."""
        return self.text.endswith("...")


@dataclass(frozen=True, slots=True)
class Call:
    """``bytes(%x)``."""

    function: Atom
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Operation:
    """``a + b``, ``not a``, ``a in (b, c)`` (operands a, b, c; also ``not in``), ``a..b``, ``[a, b]`` (operator ``[]``)."""

    operator: str
    operands: tuple[Expression, ...]
    span: Span


Expression: TypeAlias = Atom | Call | Operation


@dataclass(frozen=True, slots=True)
class Let:
    """``let name = value``."""

    name: Atom
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class OpSet:
    """``ops name = op | op``."""

    name: Atom
    names: tuple[Atom, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """``key = value`` in braces."""

    key: Atom
    value: Expression


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """``program {...}``."""

    attributes: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Heading:
    """``rule name [changes values]``."""

    name: Atom
    changes_values: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Wanted:
    """``key = value | value`` in the braces of a line to match."""

    key: Atom
    alternatives: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A line of ``match``."""

    label: Atom | None
    results: tuple[Atom, ...]
    names: tuple[Atom, ...]
    operands: tuple[Atom, ...]
    wanted: tuple[Wanted, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class OpLine:
    """An op of ``rewrite``; ``maker`` is its name, or the label of the matched op that it is like."""

    label: Atom | None
    results: tuple[Atom, ...]
    maker: Atom
    operands: tuple[Atom, ...]
    attributes: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class KeepLine:
    """``keep @a {...}``."""

    label: Atom
    attributes: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TensorLine:
    """``new %m : ...`` or ``change %m : ...`` (``new`` is false). ``properties`` are pairs of dtype, shape or role and their value."""

    new: bool
    name: Atom
    like: Atom | None
    properties: tuple[tuple[str, Expression], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UseLine:
    """``use %new for %old``."""

    new: Atom
    old: Atom
    span: Span


@dataclass(frozen=True, slots=True)
class NothingLine:
    """``nothing``."""

    span: Span


Action: TypeAlias = OpLine | KeepLine | TensorLine | UseLine | NothingLine
Statement: TypeAlias = Let | OpSet | ProgramLine | Heading | PatternLine | Expression | Action


@dataclass(slots=True)
class RuleText:
    """One rule as written. ``excused`` are names, with their sigils, of lines that could not be read: nothing is missed of them."""

    heading: Heading
    match: list[PatternLine] = field(default_factory=list)
    where: list[Expression] = field(default_factory=list)
    rewrite: list[Action] = field(default_factory=list)
    excused: set[str] = field(default_factory=set)
    sections: dict[str, Span] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Sections with a line that could not be read."""


@dataclass(slots=True)
class FileText:
    """All of a file."""

    lets: list[Let] = field(default_factory=list)
    op_sets: list[OpSet] = field(default_factory=list)
    programs: list[ProgramLine] = field(default_factory=list)
    rules: list[RuleText] = field(default_factory=list)
    excused: dict[str, Span] = field(default_factory=dict)
    """Names of constants and sets of ops whose line could not be read."""
