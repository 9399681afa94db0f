"""Expressions of rules to closures, checked on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_never

from g10c.compiler.rules import helpers
from g10c.compiler.rules.arithmetic import Mistake, calculate, negate
from g10c.compiler.rules.builtins import Builtin, CallSite, table
from g10c.compiler.rules.comparisons import EQUALITIES, ORDERS, compare, logic, membership
from g10c.compiler.rules.functions import HOW
from g10c.compiler.rules.kinds import PLAIN, UNSURE, Kind, round_half_up, valued_or_none
from g10c.compiler.rules.literals import read_number, read_string
from g10c.compiler.rules.scope import Scope
from g10c.compiler.rules.tree import Atom, Call, Expression, Operation
from g10c.compiler.rules.typed import EvaluationError, Typed, any_of, broken, constant, expect
from g10c.ir.errors import Diagnostic, near_names
from g10c.ir.source import Span
from g10c.ir.values import Ident, Range, Size

Helpers = Mapping[str, Callable[..., Any]]


class Expressions:
    """Compiles expressions of one scope; mistakes are added to ``diagnostics``."""

    def __init__(self, scope: Scope, lets: Mapping[str, Typed], functions: Helpers, diagnostics: list[Diagnostic]) -> None:
        self.scope, self.lets, self.diagnostics = scope, lets, diagnostics
        self.helpers = functions
        self._builtins = table()

    def tell(self, message: str, span: Span, hint: str = "") -> Typed:
        """Record a mistake; what stands in its place."""
        self.diagnostics.append(Diagnostic(message, span, hint))
        return broken(span)

    def compile(self, node: Expression) -> Typed:
        """An expression with its kind; constants are calculated at once."""
        match node:
            case Atom():
                return self._atom(node)
            case Call():
                return self._call(node)
            case Operation():
                return self._operation(node)
            case _:
                assert_never(node)

    def value(self, node: Expression, kinds: Iterable[Kind], what: str) -> Typed:
        """An expression that has to be of one of some kinds."""
        found = self.compile(node)
        if found.kind in frozenset(kinds) | UNSURE:
            return found
        return self.tell(f"expected {what}, found {found.kind}", found.span, self.word_hint(found))

    def word_hint(self, found: Typed) -> str:
        """For a word that was meant to be a constant the near names of constants."""
        near = near_names(found.span.text, self.lets) if found.bare else []
        return f"did you mean the constant {' or '.join(map(repr, near))}?" if near else ""

    def _atom(self, atom: Atom) -> Typed:
        match atom.type:
            case "NUMBER":
                return read_number(atom, self.diagnostics)
            case "STRING":
                return read_string(atom, self.diagnostics)
            case "REFERENCE":
                return self._tensor(atom)
            case "CAPTURE":
                return self._capture(atom)
            case "LABEL":
                return self._label(atom)
            case "ANY":
                return self.tell(f"{atom.text} has no value", atom.span, "give it a name in the match, and use the name here")
        return self._word(atom)

    def _word(self, atom: Atom) -> Typed:
        match atom.text:
            case "true" | "false":
                return constant(Kind.BOOL, atom.text == "true", atom.span)
            case "none":
                return constant(Kind.NONE, None, atom.span)
        known = self.lets.get(atom.text)
        return known.at(atom.span) if known is not None else constant(Kind.TEXT, Ident(atom.text), atom.span, bare=True)

    def _tensor(self, atom: Atom) -> Typed:
        found = self.scope.tensors.get(atom.name)
        if found is None:
            return self._missing(atom)
        if atom.many and not found.many:
            return self.tell(f"%{atom.name} is one tensor, not a list", atom.span, f"write %{atom.name}")
        slot = found.slot
        return Typed(Kind.TENSORS if found.many else Kind.TENSOR, lambda match: match.bindings.slots[slot], atom.span)

    def _capture(self, atom: Atom) -> Typed:
        found = self.scope.captures.get(atom.name)
        if found is None:
            return self._missing(atom)
        name = found.inner
        if found.kind is Kind.UNKNOWN:
            return Typed(Kind.UNKNOWN, lambda match: valued_or_none(match.bindings.attrs[name]), atom.span)
        return Typed(found.kind, lambda match: match.bindings.attrs[name], atom.span, words=found.words)

    def _label(self, atom: Atom) -> Typed:
        found = self.scope.labels.get(atom.name)
        if found is None:
            return self._missing(atom)
        position = found.position
        return Typed(Kind.OP, lambda match: match.bindings.places[position].op, atom.span)

    def _missing(self, atom: Atom) -> Typed:
        mistake = self.scope.missing(atom)
        if mistake is not None:
            self.diagnostics.append(mistake)
        return broken(atom.span)

    def _operation(self, node: Operation) -> Typed:
        operands = [self.compile(operand) for operand in node.operands]
        sign = node.operator
        if sign == "[]":
            return self._list(operands, node.span)
        if sign == "..":
            return self._folded(self._range(operands[0], operands[1], node.span), operands)
        if sign in ("in", "not in"):
            return self._membership(sign, operands, node.span)
        if sign in ("and", "or", "not"):
            found = logic(sign, operands, node.span)
        elif sign in ORDERS or sign in EQUALITIES:
            found = compare(sign, operands[0], operands[1], node.span)
        elif len(operands) == 1:
            found = negate(operands[0], node.span)
        else:
            found = calculate(sign, operands[0], operands[1], node.span)
        return self._folded(self._told(found, operands, node.span), operands)

    def _told(self, found: Typed | Mistake, operands: list[Typed], span: Span) -> Typed:
        if isinstance(found, Typed):
            return found
        message, number, hint = found
        blamed = operands[number]
        near = next(filter(None, map(self.word_hint, operands)), "")
        if blamed.bare and message.startswith(("cannot order", "cannot calculate")):
            hint = f"{blamed.span.text} is only a word here; a constant is defined with let: let {blamed.span.text} = 1MiB"
        self.tell(message, blamed.span, near or hint)
        return broken(span)

    def _membership(self, sign: str, operands: list[Typed], span: Span) -> Typed:
        if len(operands) < 2:
            return self.tell("there is nothing between the parentheses", span, "write the values: phase(@a) in (forward, loss)")
        found = membership(sign == "not in", operands, span)
        if isinstance(found, Typed):
            return self._folded(found, operands)
        mistake, item = found
        return self._told(mistake, [operands[0], item], span)

    def _folded(self, found: Typed, operands: Iterable[Typed]) -> Typed:
        """The value itself where all operands are constants."""
        if found.kind in UNSURE or not all(operand.constant for operand in operands):
            return found
        try:
            value = found.run(None)
        except EvaluationError as error:
            return self.tell(error.message, error.span, error.hint)
        return constant(found.kind, value, found.span)

    def _list(self, items: list[Typed], span: Span) -> Typed:
        if any(item.kind is Kind.BROKEN for item in items):
            return broken(span)
        wrong = next((item for item in items if item.kind not in PLAIN | UNSURE), None)
        if wrong is not None:
            return self.tell(f"a list holds values, found {wrong.kind}", wrong.span)
        runs = [expect(item, PLAIN) for item in items]
        made = Typed(Kind.SHAPE, lambda match: tuple([run(match) for run in runs]), span)
        return self._folded(made, items)

    def _range(self, first: Typed, last: Typed, span: Span) -> Typed:
        ends = (Kind.SIZE, Kind.NUMBER)
        for end in (first, last):
            if end.kind is Kind.BROKEN:
                return broken(span)
            if end.kind not in ends and end.kind is not Kind.UNKNOWN:
                return self.tell(f"a range goes from a size to a size or from a number to a number, found {end.kind}", end.span)
        kind = first.kind if first.kind is not Kind.UNKNOWN else last.kind
        if kind is Kind.UNKNOWN or last.kind not in (kind, Kind.UNKNOWN):
            return self.tell(f"a range from {first.kind} to {last.kind}", span, "both ends are sizes, or both numbers: 0B..64MiB, 1..3")
        start, end_, form = expect(first, (kind,)), expect(last, (kind,)), Size if kind is Kind.SIZE else int
        return Typed(Kind.RANGE, lambda match: Range(form(round_half_up(start(match))), form(round_half_up(end_(match)))), span)

    def _call(self, node: Call) -> Typed:
        name = node.function.text
        builtin, helper = self._builtins.get(name), self.helpers.get(name)
        arguments = [self._argument(builtin, number, argument) for number, argument in enumerate(node.arguments)]
        if builtin is not None:
            return self._builtin_call(node, builtin, arguments)
        if helper is None:
            known = [*self._builtins, *self.helpers]
            near = near_names(name, known)
            hint = f"did you mean {' or '.join(map(repr, near))}? To add one" if near else "to add one"
            return self.tell(f"there is no function {name!r}", node.function.span, f"{hint}, {HOW}")
        wrong = helpers.count_mistake(name, helper, len(arguments))
        if wrong:
            return self.tell(wrong[0], node.span, wrong[1])
        if any(argument.kind is Kind.BROKEN for argument in arguments):
            return broken(node.span)
        return Typed(Kind.UNKNOWN, helpers.call(name, helper, node.arguments, arguments, self.scope, node.span), node.span)

    def _argument(self, builtin: Builtin | None, number: int, node: Expression) -> Typed:
        """An argument; one that is a key means itself, whatever constants there are."""
        if builtin is not None and number == builtin.key and isinstance(node, Atom) and node.type == "WORD":
            return constant(Kind.TEXT, Ident(node.text), node.span, bare=True)
        return self.compile(node)

    def _builtin_call(self, node: Call, builtin: Builtin, arguments: list[Typed]) -> Typed:
        least, most = builtin.counts
        if len(arguments) < least or (most is not None and len(arguments) > most):
            wanted = f"{least} or more" if most is None else str(least) if most == least else f"{least} or {most}"
            plural = "" if wanted == "1" else "s"
            message = f"{builtin.name} takes {wanted} argument{plural}, found {len(arguments)}"
            return self.tell(message, node.span, f"{builtin.usage}: {builtin.doc}")
        fine = True
        for number, argument in enumerate(arguments):
            if argument.kind is not Kind.BROKEN and not builtin.accepts(number, argument.kind):
                message = f"{builtin.name} takes {any_of(builtin.kinds(number))} here, found {argument.kind}"
                self.tell(message, argument.span, self._argument_hint(builtin, argument))
                fine = False
            fine &= argument.kind is not Kind.BROKEN
        if not fine:
            return broken(node.span)
        labels = {n: self._fitting(one) for n, one in enumerate(node.arguments) if arguments[n].kind is Kind.OP}
        made = builtin.make(CallSite(node.span, arguments, labels, self.diagnostics.append))
        return self._folded(made, arguments)

    def _argument_hint(self, builtin: Builtin, argument: Typed) -> str:
        text = argument.span.text
        if argument.bare and text in self.scope.tensors and Kind.TENSOR in builtin.takes[0]:
            return f"did you mean %{text}?"
        if argument.bare and text in self.scope.labels and Kind.OP in builtin.takes[0]:
            return f"did you mean @{text}?"
        return self.word_hint(argument) or f"{builtin.usage}: {builtin.doc}"

    def _fitting(self, node: Expression) -> frozenset[str]:
        found = self.scope.labels.get(node.name) if isinstance(node, Atom) else None
        return found.fitting if found is not None else frozenset()
