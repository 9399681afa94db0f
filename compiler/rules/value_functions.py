"""Functions of plain values: numbers, times, sizes and text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from g10c.compiler.rules.arithmetic import unary, unit_hint
from g10c.compiler.rules.builtins import ANYTHING, QUANTITY, TEXT, TRUTH, WHOLE, Builtin, CallSite
from g10c.compiler.rules.kinds import QUANTITIES, Kind, Valued, exact, round_half_up, show
from g10c.compiler.rules.typed import EvaluationError, Typed, as_valued, broken, expect
from g10c.ir.errors import Diagnostic


def _unary(function: Callable[[Any], Any]) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        found = unary(site.first, site.span, function)
        return found if isinstance(found, Typed) else broken(site.span)  # other kinds are refused before

    return make


def _same_kind(site: CallSite, arguments: Sequence[Typed], what: str) -> Kind | None:
    """The kind that all arguments have; unknown where one is, ``None`` where they differ, which is told."""
    known = [argument for argument in arguments if argument.kind not in (Kind.UNKNOWN, Kind.NONE)]
    other = next((argument for argument in known if argument.kind is not known[0].kind), None)
    if other is not None:
        message = f"{what} are of one kind: {known[0].span.text} is {known[0].kind}, and this is {other.kind}"
        site.tell(Diagnostic(message, other.span, unit_hint(other, known[0].kind)))
        return None
    return Kind.UNKNOWN if any(argument.kind is Kind.UNKNOWN for argument in arguments) or not known else known[0].kind


def _extreme(function: Callable[..., Any], name: str) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        kind = _same_kind(site, site.arguments, f"the arguments of {name}")
        if kind is None:
            return broken(site.span)
        if kind is not Kind.UNKNOWN:
            runs = [expect(argument, QUANTITIES) for argument in site.arguments]
            return Typed(kind, lambda match: function([run(match) for run in runs]), site.span)
        found = [as_valued(argument) for argument in site.arguments]

        def late(match: Any) -> Valued:
            values = [one(match) for one in found]
            for argument, value in zip(site.arguments, values, strict=True):
                if value.kind not in QUANTITIES or value.kind is not values[0].kind:
                    message = f"the arguments of {name} are of one kind: {site.first.span.text} is {values[0].kind}, this is {value.kind}"
                    raise EvaluationError(message, argument.span)
            return Valued(values[0].kind, function([exact(value.value) for value in values]))

        return Typed(Kind.UNKNOWN, late, site.span)

    return make


def _if(site: CallSite) -> Typed:
    condition, one, other = site.arguments
    kind = _same_kind(site, (one, other), "both results of if")
    if kind is None:
        return broken(site.span)
    test = expect(condition, (Kind.BOOL,))
    if kind is Kind.UNKNOWN:
        yes, no = as_valued(one), as_valued(other)
        return Typed(Kind.UNKNOWN, lambda match: yes(match) if test(match) else no(match), site.span)
    first, second = one.run, other.run
    words = tuple(dict.fromkeys((*one.words, *other.words))) if one.words and other.words else ()
    optional = one.optional or other.optional
    return Typed(kind, lambda match: first(match) if test(match) else second(match), site.span, optional=optional, words=words)


def _as_text(site: CallSite) -> Typed:
    found = as_valued(site.first)

    def text(match: Any) -> str:
        kind, value = found(match)
        return str(value) if kind is Kind.TEXT else show(kind, value)

    return Typed(Kind.TEXT, text, site.span)


def _text(function: Callable[[str, str], bool]) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        subject, part = site.first, expect(site.arguments[1], TEXT)
        whole = expect(subject, (Kind.TEXT, Kind.NONE)) if subject.kind is Kind.UNKNOWN else subject.run

        def test(match: Any) -> bool:
            text = whole(match)
            return text is not None and function(text, part(match))

        return Typed(Kind.BOOL, test, site.span)

    return make


VALUE_FUNCTIONS = (
    Builtin("min(a, b, ...)", "the least of numbers, times or sizes", (QUANTITY, QUANTITY), _extreme(min, "min"), more=True),
    Builtin("max(a, b, ...)", "the largest of numbers, times or sizes", (QUANTITY, QUANTITY), _extreme(max, "max"), more=True),
    Builtin("round(a)", "the nearest whole number, ns or byte; a half goes up", (WHOLE,), _unary(round_half_up)),
    Builtin("floor(a)", "the whole number, ns or byte below", (WHOLE,), _unary(math.floor)),
    Builtin("ceil(a)", "the whole number, ns or byte above", (WHOLE,), _unary(math.ceil)),
    Builtin("abs(a)", "the value without its sign", (QUANTITY,), _unary(abs)),
    Builtin("if(condition, a, b)", "a where the condition holds, else b", (TRUTH, ANYTHING, ANYTHING), _if),
    Builtin("text(a)", "a value as text, such as 3, 1.5us or 64MiB, to join with +", (ANYTHING,), _as_text),
    Builtin(
        "starts_with(text, part)", "whether a text starts so; false for none", (TEXT, TEXT), _text(lambda text, part: text.startswith(part))
    ),
    Builtin("ends_with(text, part)", "whether a text ends so; false for none", (TEXT, TEXT), _text(lambda text, part: text.endswith(part))),
    Builtin("contains(text, part)", "whether a text holds another; false for none", (TEXT, TEXT), _text(lambda text, part: part in text)),
)
