"""Names of ops as rules write them: alternatives, globs, and the sets that a file names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from g10c.compiler.rewriting.pattern import OpPattern, PatternError
from g10c.compiler.rules.operands import unknown_op
from g10c.compiler.rules.tree import Atom, OpSet
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.ops import BY_NAME

WILD = ("_", "*")
"""Names that stand for any kernel or collective."""


class OpSets:
    """The sets of a file by name. A set may name sets above it. Mistakes go to ``diagnostics``."""

    def __init__(self, lines: Sequence[OpSet], excused: Collection[str], diagnostics: list[Diagnostic]) -> None:
        self._diagnostics, self._excused = diagnostics, excused
        self._sets: dict[str, tuple[str, ...] | None] = {}
        first: dict[str, OpSet] = {}
        for line in lines:
            name = line.name.text
            found = self.names(line.names)
            if name in BY_NAME:
                self._tell(f"a set of ops cannot be called {name}", line.name, "there is an op of that name")
            elif first.setdefault(name, line) is not line:
                at = first[name].span.line
                self._tell(f"the set of ops {name!r} is defined twice; the first is in line {at}", line.name, "rename one")
            else:
                self._sets[name] = found

    def _tell(self, message: str, atom: Atom, hint: str) -> None:
        self._diagnostics.append(Diagnostic(message, atom.span, hint))

    def __contains__(self, name: str) -> bool:
        return name in self._sets

    def names(self, atoms: Sequence[Atom]) -> tuple[str, ...] | None:
        """The names of ops, those of sets in their place; empty for any op, ``None`` where one is wrong, which is told."""
        for atom in atoms:
            if atom.text in WILD and len(atoms) > 1:
                self._tell(f"{atom.text} stands for any op, and other names beside it", atom, "leave the others out")
                return None
        if atoms[0].text in WILD:
            return ()
        found = [self._one(atom) for atom in atoms]
        known = [names for names in found if names is not None]
        if len(known) < len(found):
            return None
        return () if () in known else tuple(dict.fromkeys(name for names in known for name in names))

    def _one(self, atom: Atom) -> tuple[str, ...] | None:
        if atom.text in self._sets:
            return self._sets[atom.text]
        if atom.text in self._excused:
            return None
        try:
            OpPattern((atom.text,))
        except PatternError:
            near = near_hint(atom.text, self._sets, "sets of ops") if "." not in atom.text and atom.text not in BY_NAME else ""
            if near.startswith("did you mean"):
                self._tell(f"there is no op, and no set of ops, called {atom.text!r}", atom, near)
            else:
                self._diagnostics.append(unknown_op(atom, "glob" if "*" in atom.text else "match"))
            return None
        return (atom.text,)
