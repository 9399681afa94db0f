"""Calculation with kinds: ``+ - * /`` and the sign. Exact: whole numbers and fractions, rounded only when an attribute is set."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from g10c.compiler.rules.kinds import DIMENSIONS, QUANTITIES, UNSURE, Kind, Valued, exact
from g10c.compiler.rules.typed import EvaluationError, Typed, as_valued, broken, constant, expect
from g10c.ir.source import Span

_OF_DIMENSIONS = {powers: kind for kind, powers in DIMENSIONS.items()}
Mistake = tuple[str, int, str]
"""A message, which operand is to blame, and a hint."""


def kind_of_result(sign: str, left: Kind, right: Kind) -> Kind | None:
    """The kind of a sum, difference, product or quotient; ``None`` where there is none."""
    if sign == "+" and left is right is Kind.TEXT:
        return Kind.TEXT
    if left not in QUANTITIES or right not in QUANTITIES:
        return None
    if sign in "+-":
        return left if left is right else None
    (times, sizes), (more_times, more_sizes), factor = DIMENSIONS[left], DIMENSIONS[right], 1 if sign == "*" else -1
    return _OF_DIMENSIONS.get((times + factor * more_times, sizes + factor * more_sizes))


def _divide(left: Any, right: Any) -> Any:
    quotient, rest = divmod(left, right)
    return Fraction(left) / right if rest else quotient


MOST_BITS = 1000
"""Of the numbers of a fraction: far more than a time or a size has room for, and less than a float."""
MOST_TEXT = 1 << 16


def _within(value: Any, span: Span) -> Any:
    """A result that is of a size to go on with; rules without an end would let numbers and texts grow without one."""
    if isinstance(value, str):
        if len(value) > MOST_TEXT:
            raise EvaluationError(f"a text would have more than {MOST_TEXT:,} characters", span)
    elif max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise EvaluationError("a number would be out of range", span, f"numbers and fractions have up to {MOST_BITS} bits")
    return value


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide}
_CANNOT = {
    "+": "cannot add {right} to {left}",
    "-": "cannot subtract {right} from {left}",
    "*": "cannot multiply {left} by {right}",
    "/": "cannot divide {left} by {right}",
}


def mistake(sign: str, left: Typed, right: Typed) -> Mistake:
    """Why two operands do not go together."""
    if sign == "+" and Kind.TEXT in (left.kind, right.kind) and {left.kind, right.kind} <= QUANTITIES | {Kind.TEXT}:
        other = 1 if left.kind is Kind.TEXT else 0
        text = (left, right)[other].span.text
        return f"cannot add {right.kind} to {left.kind}", other, f"text joins text: text({text})"
    for number, operand in enumerate((left, right)):
        if operand.kind not in QUANTITIES | UNSURE and not (sign == "+" and operand.kind is Kind.TEXT):
            return f"cannot calculate with {operand.kind}", number, value_hint(operand)
    return _CANNOT[sign].format(left=left.kind, right=right.kind), 1, unit_hint(right, left.kind)


def unit_hint(operand: Typed, wanted: Kind) -> str:
    """What a number without a unit was meant to be."""
    if operand.kind is Kind.NUMBER and operand.span.text[:1].isdigit():
        text = operand.span.text
        if wanted is Kind.TIME:
            return f"write {text}ns, {text}us or {text}ms"
        if wanted is Kind.SIZE:
            return f"write {text}B, {text}KiB or {text}MiB"
        if wanted is Kind.BANDWIDTH:
            return f"write {text}GB/s"
    elif operand.kind is Kind.NUMBER and wanted in (Kind.TIME, Kind.SIZE):
        return f"{wanted} has a unit: multiply by {'1us' if wanted is Kind.TIME else '1B'}"
    return ""


def value_hint(operand: Typed) -> str:
    """What to ask of a tensor or an op, which are no values themselves."""
    text = operand.span.text
    if operand.kind in (Kind.TENSOR, Kind.TENSORS):
        return f"ask for bytes({text}), users({text}), role({text}), ..."
    if operand.kind is Kind.OP:
        return f"ask for time({text}), phase({text}), attr({text}, key), ..."
    return ""


def calculate(sign: str, left: Typed, right: Typed, span: Span) -> Typed | Mistake:
    """The result of two operands, or the mistake."""
    if Kind.BROKEN in (left.kind, right.kind):
        return broken(span)
    if Kind.UNKNOWN in (left.kind, right.kind) and {left.kind, right.kind} <= QUANTITIES | UNSURE | {Kind.TEXT}:
        return Typed(Kind.UNKNOWN, _late(sign, left, right, span), span)
    kind = kind_of_result(sign, left.kind, right.kind)
    if kind is None:
        return mistake(sign, left, right)
    if sign == "/" and right.constant and not right.run(None):
        return "division by zero", 1, ""
    found = Typed(kind, _sure(sign, left, right, span), span)
    if not (left.constant and right.constant):
        return found
    try:
        return constant(kind, found.run(None), span)
    except EvaluationError as error:
        return error.message, 1, error.hint


def _sure(sign: str, left: Typed, right: Typed, span: Span) -> Callable[[Any], Any]:
    """The calculation where kinds are known."""
    one, other, function = expect(left, ()), expect(right, ()), FUNCTIONS[sign]
    if sign != "/":
        return lambda match: _within(function(one(match), other(match)), span)

    def quotient(match: Any) -> Any:
        below = other(match)
        if not below:
            raise _by_zero(right)
        return _within(_divide(one(match), below), span)

    return quotient


def _by_zero(right: Typed) -> EvaluationError:
    return EvaluationError("division by zero", right.span, "" if right.constant else f"ask whether {right.span.text} is 0 first")


def _late(sign: str, left: Typed, right: Typed, span: Span) -> Callable[[Any], Valued]:
    """The calculation where a kind is known only when it runs."""
    one, other = as_valued(left), as_valued(right)

    def run(match: Any) -> Valued:
        (left_kind, a), (right_kind, b) = one(match), other(match)
        kind = kind_of_result(sign, left_kind, right_kind)
        if kind is None:
            message = _CANNOT[sign].format(left=left_kind, right=right_kind)
            raise EvaluationError(f"{message}: {left.span.text} is {left_kind}, {right.span.text} is {right_kind}", span)
        if sign == "/" and not b:
            raise _by_zero(right)
        return Valued(kind, _within(FUNCTIONS[sign](exact(a), exact(b)), span))

    return run


def negate(operand: Typed, span: Span) -> Typed | Mistake:
    """The operand with the other sign."""
    return unary(operand, span, operator.neg)


def unary(operand: Typed, span: Span, function: Callable[[Any], Any]) -> Typed | Mistake:
    """A function of one quantity that keeps its kind."""
    run = expect(operand, QUANTITIES)
    if operand.kind is Kind.UNKNOWN:
        found = as_valued(operand)

        def late(match: Any) -> Valued:
            run(match)
            kind, value = found(match)
            return Valued(kind, function(exact(value)))

        return Typed(Kind.UNKNOWN, late, span)
    if operand.kind is Kind.BROKEN:
        return broken(span)
    if operand.kind not in QUANTITIES:
        return f"cannot calculate with {operand.kind}", 0, value_hint(operand)
    return Typed(operand.kind, lambda match: function(run(match)), span)
