"""Comparison and logic of checked expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from g10c.compiler.rules.arithmetic import Mistake, unit_hint, value_hint
from g10c.compiler.rules.kinds import QUANTITIES, VALUES, Kind, exact
from g10c.compiler.rules.typed import EvaluationError, Typed, as_valued, broken, expect
from g10c.ir.errors import near_hint
from g10c.ir.source import Span

ORDERS: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
EQUALITIES: dict[str, Callable[[Any, Any], Any]] = {"==": operator.eq, "!=": operator.ne}
FEW = 12
"""Words that a message lists."""


def compare(sign: str, left: Typed, right: Typed, span: Span) -> Typed | Mistake:
    """A comparison, or the mistake."""
    if Kind.BROKEN in (left.kind, right.kind):
        return broken(span)
    found = _order_mistake(sign, left, right) if sign in ORDERS else equality_mistake(left, right)
    if found:
        return found
    function = ORDERS.get(sign) or EQUALITIES[sign]
    if Kind.UNKNOWN in (left.kind, right.kind):
        return Typed(Kind.BOOL, _late(sign, left, right, span), span)
    one, other = (expect(left, ()), expect(right, ())) if sign in ORDERS else (left.run, right.run)
    if right.constant:
        value = other(None)
        return Typed(Kind.BOOL, lambda match: function(one(match), value), span)
    return Typed(Kind.BOOL, lambda match: function(one(match), other(match)), span)


def _order_mistake(sign: str, left: Typed, right: Typed) -> Mistake | None:
    for number, operand in enumerate((left, right)):
        if operand.kind not in QUANTITIES and operand.kind is not Kind.UNKNOWN:
            hint = value_hint(operand) or f"{sign} compares numbers, times and sizes"
            return f"cannot order {operand.kind}", number, hint
    if left.kind is not right.kind and Kind.UNKNOWN not in (left.kind, right.kind):
        return f"cannot compare {left.kind} with {right.kind}", 1, unit_hint(right, left.kind)
    return None


def equality_mistake(left: Typed, right: Typed) -> Mistake | None:
    """Why two values can never be equal."""
    for number, operand in enumerate((left, right)):
        if operand.kind not in VALUES and operand.kind not in (Kind.UNKNOWN, Kind.NONE):
            return f"cannot compare {operand.kind}", number, value_hint(operand)
    if Kind.UNKNOWN in (left.kind, right.kind):
        return None
    if Kind.NONE in (left.kind, right.kind):
        other, number = (right, 1) if left.kind is Kind.NONE else (left, 0)
        return None if other.optional else (f"{other.span.text} is never none", number, "")
    if left.kind is not right.kind:
        return f"cannot compare {left.kind} with {right.kind}", 1, unit_hint(right, left.kind)
    return _word_mistake(left, right, 1) or _word_mistake(right, left, 0)


def _word_mistake(asked: Typed, word: Typed, number: int) -> Mistake | None:
    """A text that what is asked can never be."""
    if not asked.words or not word.constant:
        return None
    text = str(word.run(None))
    if text in asked.words:
        return None
    longer = [repr(word) for word in asked.words if word.startswith(text + ".")]
    hint = f"did you mean {' or '.join(longer)}?" if longer else near_hint(text, asked.words, "words")
    if len(asked.words) > FEW:
        return f"{asked.span.text} is never {text!r}", number, hint
    return f"{asked.span.text} is one of {', '.join(asked.words)}, found {text!r}", number, hint


def _late(sign: str, left: Typed, right: Typed, span: Span) -> Callable[[Any], bool]:
    """The comparison where a kind is known only when it runs."""
    one, other = as_valued(left), as_valued(right)
    function = ORDERS.get(sign) or EQUALITIES[sign]
    allowed = QUANTITIES if sign in ORDERS else VALUES

    def run(match: Any) -> bool:
        (left_kind, a), (right_kind, b) = one(match), other(match)
        if sign in EQUALITIES and Kind.NONE in (left_kind, right_kind):
            return bool(function(left_kind, right_kind))
        if left_kind is not right_kind or left_kind not in allowed:
            where = f"{left.span.text} is {left_kind}, {right.span.text} is {right_kind}"
            raise EvaluationError(f"cannot compare {left_kind} with {right_kind}: {where}", span)
        return bool(function(exact(a), exact(b)))

    return run


def membership(negated: bool, operands: Sequence[Typed], span: Span) -> Typed | tuple[Mistake, Typed]:
    """``a in (b, c)``; where it is wrong the mistake and the item that it is about."""
    value, *items = operands
    if any(operand.kind is Kind.BROKEN for operand in operands):
        return broken(span)
    for item in items:
        mistake = equality_mistake(value, item)
        if mistake:
            return mistake, item
    if all(item.constant for item in items) and value.kind is not Kind.UNKNOWN:
        run, known = value.run, tuple(item.run(None) for item in items)
        if negated:
            return Typed(Kind.BOOL, lambda match: run(match) not in known, span)
        return Typed(Kind.BOOL, lambda match: run(match) in known, span)
    tests = [found.run for item in items if isinstance(found := compare("==", value, item, span), Typed)]
    return Typed(Kind.BOOL, lambda match: any(test(match) for test in tests) is not negated, span)


def logic(word: str, operands: Sequence[Typed], span: Span) -> Typed | Mistake:
    """``and``, ``or`` and ``not``."""
    for number, operand in enumerate(operands):
        if operand.kind not in (Kind.BOOL, Kind.UNKNOWN, Kind.BROKEN):
            return f"{word!r} takes what is true or false, found {operand.kind}", number, condition_hint(operand)
    if any(operand.kind is Kind.BROKEN for operand in operands):
        return broken(span)
    runs = [expect(operand, (Kind.BOOL,)) for operand in operands]
    one, other = runs[0], runs[-1]
    if word == "not":
        return Typed(Kind.BOOL, lambda match: not one(match), span)
    if word == "and":
        return Typed(Kind.BOOL, lambda match: one(match) and other(match), span)
    return Typed(Kind.BOOL, lambda match: one(match) or other(match), span)


def condition_hint(operand: Typed) -> str:
    """How a value becomes a condition."""
    text = operand.span.text
    match operand.kind:
        case Kind.NUMBER:
            return f"compare it: {text} > 0"
        case Kind.TIME | Kind.SIZE:
            return f"compare it: {text} > {'1us' if operand.kind is Kind.TIME else '1MiB'}"
        case Kind.TEXT if operand.bare:
            return f"{text!r} is only a word here; a function is called with its arguments, such as {text}(%x)"
        case Kind.TEXT:
            return f'compare it: {text} == "..."'
    return value_hint(operand) or f"compare it: {text} == ..."
