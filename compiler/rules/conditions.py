"""The section ``where`` to conditions: closures with their text, and what each found for those who ask why a rule did not fire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.rule import Condition
from g10c.compiler.rules.comparisons import EQUALITIES, ORDERS, condition_hint
from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.failures import guarded
from g10c.compiler.rules.kinds import UNSURE, VALUES, Kind, show
from g10c.compiler.rules.lines import without_comments
from g10c.compiler.rules.tree import Atom, Call, Expression, Operation, RuleText
from g10c.compiler.rules.typed import EvaluationError, as_valued, expect

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import Match


def compile_conditions(rule: RuleText, expressions: Expressions) -> Iterator[Condition]:
    """The conditions of a rule; one that `and` joins is several."""
    name = rule.heading.name.text
    for line in rule.where:
        for part in _conjuncts(line):
            typed = expressions.compile(part)
            if typed.kind not in UNSURE | {Kind.BOOL}:
                hint = expressions.word_hint(typed) or condition_hint(typed)
                expressions.tell(f"a condition is true or false, found {typed.kind}", part.span, hint)
            run = expect(typed, (Kind.BOOL,), "a condition, true or false")
            yield Condition(_text(part), guarded(name, run), part.span, _finder(part, expressions))


def _conjuncts(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Operation) and node.operator == "and":
        for operand in node.operands:
            yield from _conjuncts(operand)
    else:
        yield node


def _finder(node: Expression, expressions: Expressions) -> Callable[[Match], str]:
    """Says on a match what the parts of a condition were: ``users(%s) = 2``. Compiled when it is first asked for."""

    def found(match: Match) -> str:
        compiler = Expressions(expressions.scope, expressions.lets, expressions.helpers, [])
        texts = [_found(part, compiler, match) for part in _asked(node)]
        return ", ".join(dict.fromkeys(filter(None, texts)))

    return found


def _asked(node: Expression) -> Iterator[Expression]:
    """The parts of a condition whose values say why it does not hold."""
    if not isinstance(node, Operation):
        yield node
        return
    compares = node.operator in EQUALITIES or node.operator in ORDERS or node.operator in ("in", "not in")
    for operand in node.operands:
        if compares and not isinstance(operand, Call):
            yield operand
        else:
            yield from _asked(operand)


def _found(node: Expression, compiler: Expressions, match: Match) -> str:
    typed = compiler.compile(node)
    named = isinstance(node, Atom) and node.text in compiler.lets
    if (typed.constant and not named) or typed.kind not in VALUES | {Kind.UNKNOWN}:
        return ""
    try:
        kind, value = as_valued(typed)(match)
    except EvaluationError as error:
        return error.message
    return f"{_text(node)} = {show(kind, value)}"


def _text(node: Expression) -> str:
    """The text of an expression in one line."""
    return " ".join(without_comments(node.span.text).split())
