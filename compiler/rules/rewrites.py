"""The section ``rewrite`` to the function that says what a match becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.rule import Keep, Line, Rewrite
from g10c.compiler.rules.attributes import Setter, compile_attributes, form_of
from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.op_sets import OpSets
from g10c.compiler.rules.operands import check_counts, unknown_op
from g10c.compiler.rules.scope import LabelName
from g10c.compiler.rules.tensor_lines import MakeTensor, NewTensors, compile_tensor
from g10c.compiler.rules.tree import Atom, KeepLine, NothingLine, OpLine, RuleText, TensorLine, UseLine
from g10c.ir.ops import declaration
from g10c.ir.program import Op, merge_attrs

if TYPE_CHECKING:
    from g10c.compiler.rewriting.dataflow import Version
    from g10c.compiler.rewriting.rule import Match
    from g10c.ir.program import Tensor
    from g10c.ir.values import Value

MakeLine = Callable[["Match", NewTensors], "Line | Keep"]
Find = Callable[["Match", NewTensors], "tuple[str, ...]"]
"""The names of the tensors that an operand stands for."""


@dataclass(slots=True)
class RewriteBuilder:
    """A compiled section: called with a match it gives the rewrite."""

    news: list[tuple[str, MakeTensor]]
    changes: list[MakeTensor]
    lines: list[MakeLine]
    uses: list[tuple[Find, Find]]
    program: Mapping[str, Value]

    def __call__(self, match: Match) -> Rewrite:
        """What the match becomes."""
        made: dict[str, Tensor] = {}
        for name, make in self.news:
            base = make(match, made)
            made[name] = match.new_tensor(name, base)
        tensors = [make(match, made) for make in self.changes]
        lines = [line(match, made) for line in self.lines]
        uses = {old(match, made)[0]: new(match, made)[0] for new, old in self.uses}
        return Rewrite(lines, uses, tensors, self.program)


class RewriteReader:
    """Reads the lines of ``rewrite``; mistakes go to ``expressions.diagnostics``."""

    def __init__(self, expressions: Expressions, rule: RuleText, program: Mapping[str, Value], op_sets: OpSets) -> None:
        self._expressions, self._rule, self._op_sets = expressions, rule, op_sets
        self._scope = expressions.scope
        self._news: dict[str, TensorLine] = {}
        self._changed: dict[str, TensorLine] = {}
        self._found = RewriteBuilder([], [], [], [], program)

    def read(self) -> RewriteBuilder:
        """The compiled section."""
        lines = self._rule.rewrite
        nothing = next((line for line in lines if isinstance(line, NothingLine)), None)
        if nothing is not None and len(lines) > 1:
            self._expressions.tell("`nothing` stands alone", nothing.span, "leave it out: ops that are not kept go anyway")
        for line in lines:
            if isinstance(line, TensorLine) and line.new:
                self._declare(line)
        for line in lines:
            match line:
                case OpLine():
                    self._op(line)
                case KeepLine():
                    self._keep(line)
                case TensorLine():
                    self._tensor(line)
                case UseLine():
                    self._use(line)
        return self._found

    def _declare(self, line: TensorLine) -> None:
        name = line.name.name
        if line.name.many or name == "_":
            self._expressions.tell(f"{line.name.text} is no name of one tensor", line.name.span, "a new tensor is one: new %m : like %x")
        elif name in self._scope.tensors:
            first = self._scope.tensors[name].first.span.line
            message = f"%{name} is a tensor of the match, in line {first}"
            self._expressions.tell(message, line.name.span, f"give the new one another name, or write `change %{name} : ...`")
        elif name in self._news:
            message = f"new tensor %{name} is declared twice; the first is in line {self._news[name].span.line}"
            self._expressions.tell(message, line.name.span, "give it another name")
        else:
            self._news[name] = line

    def _tensor(self, line: TensorLine) -> None:
        make = compile_tensor(self._expressions, line, self._news)
        if line.new:
            self._found.news.append((line.name.name, make))
            return
        first = self._changed.setdefault(line.name.name, line)
        if first is not line:
            message = f"%{line.name.name} is changed twice; the first line is {first.span.line}"
            self._expressions.tell(message, line.name.span, "put the changes into one line")
        self._found.changes.append(make)

    def label(self, atom: Atom) -> LabelName | None:
        """What a label means; an unknown one is told."""
        found = self._scope.labels.get(atom.name)
        if found is None:
            mistake = self._scope.missing(atom)
            if mistake is not None:
                self._expressions.diagnostics.append(mistake)
        return found

    def _keep(self, line: KeepLine) -> None:
        found = self.label(line.label)
        names = found.fitting if found is not None else frozenset[str]()
        setters = compile_attributes(self._expressions, line.attributes, names, _owner(line.label, names))
        inner = found.inner if found is not None else ""
        self._found.lines.append(lambda match, _: Keep(inner, {key: set_(match) for key, set_ in setters.items()}))

    def _use(self, line: UseLine) -> None:
        for atom in (line.new, line.old):
            if atom.many:
                self._expressions.tell("`use` takes one tensor for another", atom.span, "write use %x for %y")
                return
        new, old = self._operand(line.new), self._operand(line.old)
        known = self._scope.tensors.get(line.old.name)
        if line.new.name == line.old.name:
            self._expressions.tell(f"%{line.old.name} is used for itself", line.span, "name two tensors: use %x for %y")
        elif (known is not None and known.slot[1] == 0) or line.old.name in self._news:
            hint = "what an op of the match makes can be read elsewhere afterwards"
            self._expressions.tell(f"no op of the match makes %{line.old.name}", line.old.span, hint)
        self._found.uses.append((new, old))

    def _op(self, line: OpLine) -> None:
        maker, source = line.maker, None
        names: frozenset[str] = frozenset()
        if maker.type == "LABEL":
            source = self.label(maker)
            names = source.fitting if source is not None else names
        elif "*" in maker.text or maker.type == "ANY":
            hint = "name the op; one like a matched op @a is written @a(...)"
            self._expressions.tell(f"{maker.text} is no op that can be made", maker.span, hint)
        elif maker.text in self._op_sets:
            hint = "give the line a label, and write the op it fits: @a(...)"
            self._expressions.tell(f"{maker.text!r} is a set of ops, and a new op is one op", maker.span, hint)
        elif declaration(maker.text) is None:
            self._expressions.diagnostics.append(unknown_op(maker, "rewrite"))
        else:
            names = frozenset({maker.text})
        place = self.label(line.label) if line.label is not None else None
        check_counts(self._expressions, names, line.operands, line.results, line)
        reads = [self._operand(atom) for atom in line.operands]
        writes = [self._operand(atom) for atom in line.results]
        self._check_results(line)
        setters = compile_attributes(self._expressions, line.attributes, names, _owner(maker, names))
        if source is None:
            self._check_required(line, setters)
        name, at = maker.text, place.inner if place is not None else ""
        self._found.lines.append(_op_maker(name, source, reads, writes, setters, at))

    def _check_required(self, line: OpLine, setters: Mapping[str, Setter]) -> None:
        decl = declaration(line.maker.text)
        for attr in decl.attrs if decl is not None else ():
            if attr.required and attr.name not in setters:
                message = f"{line.maker.text} needs the attribute {attr.name!r}"
                self._expressions.tell(message, line.maker.span, f"{attr.doc}; {form_of(attr)}")

    def _check_results(self, line: OpLine) -> None:
        seen: set[str] = set()
        for atom in line.results:
            if atom.type == "REFERENCE" and atom.name in seen:
                self._expressions.tell(f"%{atom.name} is written twice by one op", atom.span, "an op writes a tensor once")
            seen.add(atom.name)

    def _operand(self, atom: Atom) -> Find:
        """What finds the tensors of an operand."""
        if atom.type == "ANY":
            hint = "give it a name in the match, and use the name here"
            self._expressions.tell(f"{atom.text} stands for nothing in a rewrite", atom.span, hint)
            return lambda match, _: ()
        name = atom.name
        known = self._scope.tensors.get(name)
        if known is not None:
            if known.many is not atom.many:
                what = "several tensors" if known.many else "one tensor"
                self._expressions.tell(f"%{name} stands for {what}", atom.span, f"write {known.first.text}")
            return tensor_names(known.slot)
        if name in self._news:
            if atom.many:
                self._expressions.tell(f"%{name} is one tensor", atom.span, f"write %{name}")
            return lambda match, made: (made[name].name,)
        mistake = self._scope.missing(atom, self._news)
        if mistake is not None:
            new = f"a new one is declared first: new %{name} : like ..."
            self._expressions.tell(mistake.message, atom.span, f"{mistake.hint}; {new}" if mistake.hint else new)
        return lambda match, _: ()


def tensor_names(slot: tuple[str, int]) -> Find:
    """What finds the names of the tensors that a name of the match stands for."""

    def find(match: Match, _: NewTensors) -> tuple[str, ...]:
        bound: Version | tuple[Version, ...] = match.bindings.slots[slot]
        return (bound.tensor,) if hasattr(bound, "tensor") else tuple([version.tensor for version in bound])

    return find


def _owner(maker: Atom, names: frozenset[str]) -> str:
    """An op for messages."""
    return next(iter(names)) if len(names) == 1 else maker.text


def _op_maker(
    name: str, source: LabelName | None, reads: Sequence[Find], writes: Sequence[Find], setters: Mapping[str, Setter], at: str
) -> MakeLine:
    def operands(match: Match, made: NewTensors, finds: Sequence[Find]) -> tuple[str, ...]:
        return tuple([tensor for find in finds for tensor in find(match, made)])

    def make(match: Match, made: NewTensors) -> Line:
        like: Op | None = match.bindings.places[source.position].op if source is not None else None  # type: ignore[union-attr]
        given = {key: set_(match) for key, set_ in setters.items()}
        attrs = merge_attrs(like.attrs if like is not None else {}, given)
        op = Op(like.name if like is not None else name, operands(match, made, reads), operands(match, made, writes), attrs)
        return Line(op, at, tuple(key for key, value in given.items() if value is None))

    return make
