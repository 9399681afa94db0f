"""What can be told of a rule before it runs: whether the rewrite reads what is there, and whether it changes anything at all."""

from __future__ import annotations

from collections.abc import Iterator

from g10c.compiler.rewriting.placement import INHERITED
from g10c.compiler.rules.scope import Scope
from g10c.compiler.rules.tree import Action, Atom, KeepLine, NothingLine, OpLine, PatternLine, RuleText, TensorLine, UseLine
from g10c.ir.errors import Diagnostic
from g10c.ir.ops import OpKind, kind_of


def check_rewrite(rule: RuleText, scope: Scope) -> Iterator[Diagnostic]:
    """The mistakes of a rule whose lines have all been read."""
    yield from _labels(rule, scope)
    yield from _reads(rule, scope)
    yield from _unused(rule)
    yield from _changes_nothing(rule, scope)


def _labels(rule: RuleText, scope: Scope) -> Iterator[Diagnostic]:
    """Every label has one line, and they stand in the order of the match."""
    seen: dict[str, Action] = {}
    last: Atom | None = None
    for line in rule.rewrite:
        atom = line.label if isinstance(line, KeepLine | OpLine) else None
        if atom is None or atom.name not in scope.labels:
            continue
        first = seen.get(atom.name)
        if first is not None:
            if not (isinstance(first, KeepLine) and isinstance(line, OpLine)):  # that one stands behind the kept op
                yield _twice(atom, first, line)
            continue
        seen[atom.name] = line
        if last is not None and scope.labels[last.name].position > scope.labels[atom.name].position:
            message = f"@{atom.name} stands above @{last.name} in the match"
            yield Diagnostic(message, atom.span, "put the lines with labels in the order of the match")
        last = atom


def _twice(atom: Atom, first: Action, line: Action) -> Diagnostic:
    where = f"in line {first.span.line}"
    if isinstance(first, KeepLine) and isinstance(line, KeepLine):
        return Diagnostic(f"@{atom.name} is kept already, {where}", atom.span, "keep it once")
    if isinstance(first, KeepLine) or isinstance(line, KeepLine):
        message = f"@{atom.name} is both kept and replaced; the other line is {first.span.line}"
        return Diagnostic(message, atom.span, f"put `keep @{atom.name}` first, and the op stands behind it")
    return Diagnostic(
        f"@{atom.name} is replaced already, {where}", atom.span, "leave the label out: the op stands before the next line that has"
    )


def _reads(rule: RuleText, scope: Scope) -> Iterator[Diagnostic]:
    """Every operand is there by the time it is read: from before the match, from a kept op, or from a line above."""
    makers = {atom.name: line for line in rule.match for atom in line.results}
    there = {name for name, known in scope.tensors.items() if known.live_in or name not in makers}
    for number, line in enumerate(rule.rewrite):
        if isinstance(line, KeepLine):
            kept = _matched(rule, scope, line.label)
            operands, results, place = (kept.operands, kept.results, line) if kept is not None else ((), (), line)
            yield from (_missing(rule, number, makers, place, atom) for atom in operands if _lacks(atom, there, scope))
            there.update(atom.name for atom in results)
        elif isinstance(line, OpLine):
            if kind_of(line.maker.text) is not OpKind.DIRECTIVE:
                yield from (_missing(rule, number, makers, None, atom) for atom in line.operands if _lacks(atom, there, scope, rule))
            there.update(atom.name for atom in line.results)
    for line in rule.rewrite:
        if isinstance(line, UseLine) and _lacks(line.new, there, scope, rule):
            yield _missing(rule, len(rule.rewrite), makers, None, line.new)


def _lacks(atom: Atom, there: set[str], scope: Scope, rule: RuleText | None = None) -> bool:
    declared = rule is not None and any(isinstance(line, TensorLine) and line.new and line.name.name == atom.name for line in rule.rewrite)
    return atom.type == "REFERENCE" and atom.name not in there and (atom.name in scope.tensors or declared)


def _matched(rule: RuleText, scope: Scope, label: Atom) -> PatternLine | None:
    known = scope.labels.get(label.name)
    return rule.match[known.position] if known is not None else None


def _missing(rule: RuleText, number: int, makers: dict[str, PatternLine], kept: KeepLine | None, atom: Atom) -> Diagnostic:
    """Why a tensor is not there where it is read."""
    name, span = atom.name, kept.label.span if kept is not None else atom.span
    who = f"the kept @{kept.label.name} reads %{name}: it" if kept is not None else f"%{name}"
    maker = makers.get(name)
    later = [line for line in rule.rewrite[number:] if isinstance(line, OpLine) and any(one.name == name for one in line.results)]
    if maker is None and not later:
        return Diagnostic(f"nothing writes the new tensor %{name} before it is read", span, "write it in a line above")
    if later and later[0] is not rule.rewrite[min(number, len(rule.rewrite) - 1)]:
        return Diagnostic(f"{who} is written further down, in line {later[0].span.line}", span, "put that line above this one")
    if maker is not None and maker.label is not None:
        label = maker.label.name
        keep = next((line for line in rule.rewrite[number:] if isinstance(line, KeepLine) and line.label.name == label), None)
        if keep is not None:
            return Diagnostic(f"{who} is made by @{label}, which is kept further down", span, f"put `keep @{label}` above this line")
    hint = f"write `keep @{maker.label.name}`" if maker is not None and maker.label else "give its op a label and `keep` it"
    return Diagnostic(f"{who} is made by an op that the rewrite takes out", span, f"{hint}, or write %{name} in a line above")


def _unused(rule: RuleText) -> Iterator[Diagnostic]:
    """Every new tensor is an operand or a result."""
    used = {atom.name for line in rule.rewrite if isinstance(line, OpLine) for atom in (*line.operands, *line.results)}
    used |= {line.new.name for line in rule.rewrite if isinstance(line, UseLine)}
    for line in rule.rewrite:
        if isinstance(line, TensorLine) and line.new and line.name.name not in used:
            yield Diagnostic(f"the new tensor %{line.name.name} is never used", line.name.span, "leave its line out")


def _changes_nothing(rule: RuleText, scope: Scope) -> Iterator[Diagnostic]:
    """A rewrite gives something else than what was matched."""
    lines = [line for line in rule.rewrite if not isinstance(line, NothingLine)]
    if len(lines) != len(rule.match) or not lines:
        return
    for line, matched in zip(lines, rule.match, strict=True):
        if isinstance(line, KeepLine):
            if line.attributes or _matched(rule, scope, line.label) is not matched:
                return
        elif not isinstance(line, OpLine) or not _equal(line, matched):
            return
    hint = "change an op, an operand or an attribute; otherwise it would match again without an end"
    yield Diagnostic("the rewrite is what was matched", rule.sections["rewrite"], hint)


def _equal(line: OpLine, matched: PatternLine) -> bool:
    """Whether an op is the matched one over again."""
    named = [atom.text for atom in matched.names]
    same = (matched.label is not None and line.maker.text == matched.label.text) or named == [line.maker.text]
    texts = [[atom.text for atom in atoms] for atoms in (line.results, line.operands)]
    before = [[atom.text for atom in atoms] for atoms in (matched.results, matched.operands)]
    if not same or texts != before or any("_" in text[:1] for side in texts for text in side):
        return False
    wanted = {item.key.text: [one.span.text for one in item.alternatives] for item in matched.wanted}
    given = {attribute.key.text: [attribute.value.span.text] for attribute in line.attributes}
    stays = wanted.keys() if line.maker.type == "LABEL" else INHERITED
    return all(wanted.get(key) == value for key, value in given.items()) and all(key in given or key in stays for key in wanted)
