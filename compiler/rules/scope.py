"""What names mean in one rule: tensors, captured attributes and labels of its match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from g10c.compiler.rules.kinds import Kind, kind_of_attribute
from g10c.compiler.rules.tree import Atom
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.ops import AttrDecl, declaration


@dataclass(slots=True)
class TensorName:
    """A tensor's name. ``slot`` is the pattern's slot behind the last line; ``live_in`` whether it is read before it is written."""

    many: bool
    live_in: bool
    slot: tuple[str, int]
    first: Atom
    """Where it first stands."""


@dataclass(frozen=True, slots=True)
class CaptureName:
    """A captured attribute: its kind, the words it can be, and its name in the pattern."""

    kind: Kind
    words: tuple[str, ...]
    inner: str


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label: the number of its line, the names of ops that fit there, and its name in the pattern."""

    position: int
    fitting: frozenset[str]
    inner: str
    atom: Atom


_SIGILS = {"%": "tensor", "$": "attribute", "@": "label"}
_WHAT = {"%": "the match has no tensor", "$": "the match captures no attribute", "@": "the match has no label"}


@dataclass(slots=True)
class Scope:
    """Names by sigil. Of ``excused`` names (with sigils) nothing is missed."""

    tensors: dict[str, TensorName] = field(default_factory=dict)
    captures: dict[str, CaptureName] = field(default_factory=dict)
    labels: dict[str, LabelName] = field(default_factory=dict)
    excused: set[str] = field(default_factory=set)
    constant: bool = False
    """Whether this is no rule: constants and attributes of the program know no match."""

    def names(self, sigil: str) -> Iterable[str]:
        """The names with a sigil."""
        tables: dict[str, Iterable[str]] = {"%": self.tensors, "$": self.captures, "@": self.labels}
        return tables[sigil]

    def missing(self, atom: Atom, extra: Iterable[str] = ()) -> Diagnostic | None:
        """The mistake of a name that means nothing; ``None`` where nothing is missed. ``extra`` are other names with its sigil."""
        sigil, name = atom.text[0], atom.name
        if sigil + name in self.excused:
            return None
        if self.constant:
            return Diagnostic(f"{atom.text} belongs to a match, and there is none here", atom.span, "use it in the lines of a rule")
        known = sorted({*self.names(sigil), *extra})
        others = [other + name for other in _SIGILS if other != sigil and name in self.names(other)]
        near = near_hint(sigil + name, [sigil + one for one in known], f"{_SIGILS[sigil]}s")
        hint = f"did you mean {others[0]}, the {_SIGILS[others[0][0]]}?" if others else near
        return Diagnostic(f"{_WHAT[sigil]} {sigil}{name}", atom.span, hint)


def attribute_of(names: Iterable[str], key: str) -> tuple[AttrDecl | None, bool]:
    """The declaration of an attribute of ops, and whether it is the same for all of them that have it."""
    found: AttrDecl | None = None
    for name in sorted(names):
        decl = declaration(name)
        attr = decl.attr(key) if decl is not None else None
        if attr is None:
            continue
        if found is not None and (attr.type is not found.type or attr.choices != found.choices):
            return found, False
        found = attr
    return found, True


def attribute_keys(names: Iterable[str]) -> set[str]:
    """The attributes declared for any of these ops."""
    return {attr.name for name in names if (decl := declaration(name)) is not None for attr in decl.attrs}


def kind_and_words(names: Iterable[str], key: str) -> tuple[Kind, tuple[str, ...]]:
    """What is known of an attribute of ops before anything runs."""
    decl, same = attribute_of(names, key)
    if decl is None or not same or decl.type is float:
        return Kind.UNKNOWN, ()
    return kind_of_attribute(decl), decl.choices
