"""The section ``match`` to a pattern of the rewriting engine, and what its names mean."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.pattern import ANY, Capture, OneOf, Operand, OpPattern, Pattern, PatternError
from g10c.compiler.rules.arithmetic import unit_hint
from g10c.compiler.rules.attributes import attribute_value, check_key
from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.kinds import Kind, kind_of_attribute
from g10c.compiler.rules.op_sets import OpSets
from g10c.compiler.rules.operands import check_counts
from g10c.compiler.rules.scope import CaptureName, LabelName, Scope, TensorName, attribute_of, kind_and_words
from g10c.compiler.rules.tree import Atom, Expression, PatternLine, Wanted
from g10c.compiler.rules.typed import EvaluationError, Typed

if TYPE_CHECKING:
    from g10c.compiler.rewriting.pattern import AttrPattern
    from g10c.ir.values import Value


class PatternReader:
    """Reads the lines of ``match`` in order; ``scope`` fills with their names. Mistakes go to ``expressions.diagnostics``."""

    def __init__(self, expressions: Expressions, op_sets: OpSets) -> None:
        self._expressions = expressions
        self._op_sets = op_sets
        self._scope: Scope = expressions.scope
        self._ops: list[OpPattern | None] = []
        self._inner: set[str] = set()
        """Names of the pattern that are taken; it has no sigils."""

    def read(self, lines: Sequence[PatternLine]) -> Pattern | None:
        """The pattern; ``None`` where there is a mistake, which is told."""
        before = len(self._expressions.diagnostics)
        for line in lines:
            for operand in (*line.operands, *line.results):
                self._inner.add(operand.name)
        for number, line in enumerate(lines):
            self._ops.append(self._line(number, line))
        ops = [item for item in self._ops if item is not None]
        if not ops or len(self._expressions.diagnostics) > before:
            return None
        try:
            return Pattern(tuple(ops))
        except PatternError as error:
            self._expressions.tell(error.message, lines[0].span, error.hint)
            return None

    def _line(self, number: int, line: PatternLine) -> OpPattern | None:
        before = len(self._expressions.diagnostics)
        names = self._op_sets.names(line.names)
        fitting = OpPattern(names).fitting if names is not None else frozenset[str]()
        if names is not None:
            self._check_directive_glob(line.names, fitting)
            check_counts(self._expressions, fitting, line.operands, line.results, line)
        reads = self._operands(line.operands, written=False)
        writes = self._operands(line.results, written=True)
        self._check_results(line.results)
        attrs = self._wanted(line, fitting)
        label = self._label(line, number, fitting)
        if names is None or len(self._expressions.diagnostics) > before:
            return None
        return OpPattern(names, reads, writes, attrs, label)

    def _check_directive_glob(self, atoms: Sequence[Atom], fitting: frozenset[str]) -> None:
        if not fitting:
            self._expressions.tell(f"{atoms[0].text} fits directives only", atoms[0].span, "a directive is matched by its name: evict(%x)")

    def _operands(self, atoms: Sequence[Atom], *, written: bool) -> tuple[Operand, ...]:
        self._check_lists(atoms)
        for atom in atoms:
            if atom.text.startswith("%_") and atom.name == ANY:
                self._expressions.tell("the name _ means nothing in particular", atom.span, f"write {atom.text[1:]} without %")
            elif atom.type == "REFERENCE":
                self._bind(atom, written=written)
        return tuple(Operand(atom.name, atom.many) for atom in atoms)

    def _check_lists(self, atoms: Sequence[Atom]) -> None:
        for one, other in pairwise(atoms):
            if one.many and other.many and one.type == other.type == "ANY":
                message = "two unnamed lists, _..., stand side by side"
                self._expressions.tell(message, other.span, "one is enough, or give them names: %xs...")

    def _bind(self, atom: Atom, *, written: bool) -> None:
        known = self._scope.tensors.get(atom.name)
        if known is None:
            self._scope.tensors[atom.name] = TensorName(atom.many, not written, (atom.name, int(written)), atom)
            return
        if known.many is not atom.many:
            one = "several tensors" if known.many else "one tensor"
            message = f"%{atom.name} stands for {one} in line {known.first.span.line}"
            self._expressions.tell(message, atom.span, f"write {known.first.text}, or give it another name")
        elif written:
            known.slot = (atom.name, known.slot[1] + 1)

    def _check_results(self, atoms: Sequence[Atom]) -> None:
        seen: set[str] = set()
        for atom in atoms:
            if atom.type == "REFERENCE" and atom.name in seen:
                self._expressions.tell(f"%{atom.name} is written twice by one op", atom.span, "give the results different names")
            seen.add(atom.name)

    def _label(self, line: PatternLine, number: int, fitting: frozenset[str]) -> str:
        atom = line.label
        if atom is None:
            return ""
        known = self._scope.labels.get(atom.name)
        if known is not None:
            self._expressions.tell(
                f"the label @{atom.name} is given twice; the first is in line {known.atom.span.line}", atom.span, "give it another name"
            )
            return ""
        inner = self._free(atom.name, "@")
        self._scope.labels[atom.name] = LabelName(number, fitting, inner, atom)
        return inner

    def _free(self, name: str, sigil: str) -> str:
        """A name for the pattern, which has one for tensors, attributes and labels together."""
        inner = name if name not in self._inner else sigil + name
        self._inner.add(inner)
        return inner

    def _wanted(self, line: PatternLine, fitting: frozenset[str]) -> dict[str, AttrPattern]:
        found: dict[str, AttrPattern] = {}
        owner = " | ".join(atom.text for atom in line.names)
        for item in line.wanted:
            check_key(self._expressions, item.key, fitting, owner, found)
            found[item.key.text] = self._alternatives(item, fitting, owner)
        return found

    def _alternatives(self, item: Wanted, fitting: frozenset[str], owner: str) -> AttrPattern:
        first = item.alternatives[0]
        if isinstance(first, Atom) and first.type in ("CAPTURE", "ANY"):
            if len(item.alternatives) > 1:
                self._expressions.tell(f"{first.text} takes any value, and others stand beside it", first.span, "leave the others out")
            return self._capture(first, item, fitting)
        values = [value for one in item.alternatives if (value := self._constant(one, item, fitting, owner)) is not None]
        return OneOf(tuple(values))

    def _capture(self, atom: Atom, item: Wanted, fitting: frozenset[str]) -> Capture:
        if atom.text == ANY:
            return Capture(ANY)
        if atom.type == "ANY" or atom.name == ANY:
            self._expressions.tell(
                f"{atom.text} is no name of an attribute's value", atom.span, "write _ for any value, or $name to keep it"
            )
            return Capture(ANY)
        kind, words = kind_and_words(fitting, item.key.text)
        known = self._scope.captures.get(atom.name)
        if known is not None:
            if kind is not known.kind and Kind.UNKNOWN not in (kind, known.kind):
                message = f"{atom.text} is {known.kind} above, and {item.key.text!r} is {kind}: they are never equal"
                self._expressions.tell(message, atom.span, "give one of them another name")
            return Capture(known.inner)
        inner = self._free(atom.name, "$")
        self._scope.captures[atom.name] = CaptureName(kind, words, inner)
        return Capture(inner)

    def _constant(self, node: Expression, item: Wanted, fitting: frozenset[str], owner: str) -> Value | None:
        typed = self._expressions.compile(node)
        what = f"{item.key.text!r} of {owner}"
        decl, same = attribute_of(fitting, item.key.text)
        wanted = kind_of_attribute(decl) if decl is not None and same else None
        if typed.kind is Kind.BROKEN:
            return None
        if typed.kind is Kind.NONE:
            hint = "leave it out, and add a condition on a label: not has(@a, " + item.key.text + ")"
            self._expressions.tell(f"{what}: an attribute that is not there cannot be matched", typed.span, hint)
        elif not typed.constant:
            self._expressions.tell(
                f"{what}: {node.span.text} is no constant", typed.span, "capture the attribute as $name, and compare in `where`"
            )
        elif wanted is not None and typed.kind is not wanted:
            hint = self._expressions.word_hint(typed) or unit_hint(typed, wanted)
            self._expressions.tell(f"{what}: expected {wanted}, found {typed.kind}", typed.span, hint)
        else:
            return self._exact(typed, decl if same else None, what)
        return None

    def _exact(self, typed: Typed, decl: object, what: str) -> Value | None:
        try:
            return attribute_value(typed.kind, typed.run(None), decl, what, typed.span)  # type: ignore[arg-type]
        except EvaluationError as error:
            self._expressions.tell(error.message, error.span, error.hint)
            return None
