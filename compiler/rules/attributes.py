"""Attributes that rules ask for and set: checked against the declarations, and rounded to what an attribute holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from g10c.compiler.rules.arithmetic import unit_hint, value_hint
from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.kinds import PLAIN, Kind, kind_of_attribute, round_half_up, show, valued_or_none
from g10c.compiler.rules.scope import attribute_keys, attribute_of
from g10c.compiler.rules.tree import Atom, Attribute
from g10c.compiler.rules.typed import EvaluationError, Typed, as_valued
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.names import is_word
from g10c.ir.ops import AttrDecl
from g10c.ir.parse_values import INTEGER_LIMIT
from g10c.ir.source import Span
from g10c.ir.values import Ident, Size, Time, Value

Setter = Callable[[Any], "Value | None"]


def compile_attributes(expressions: Expressions, attributes: Sequence[Attribute], names: Iterable[str], owner: str) -> dict[str, Setter]:
    """What sets each attribute of an op that has one of these names; ``none`` removes one."""
    fitting = frozenset(names)
    setters: dict[str, Setter] = {}
    for attribute in attributes:
        known = check_key(expressions, attribute.key, fitting, owner, setters)
        decl = attribute_of(fitting, attribute.key.text)[0] if known else None
        typed = expressions.compile(attribute.value)
        if typed.kind is Kind.BROKEN:
            setters[attribute.key.text] = typed.run
            continue
        setters[attribute.key.text] = setter(expressions, typed, decl, f"{attribute.key.text!r} of {owner}")
    return setters


def check_key(expressions: Expressions, key: Atom, fitting: frozenset[str], owner: str, seen: Iterable[str]) -> bool:
    """Tell of a key that stands twice, or that none of the ops has; whether it is known."""
    text = key.text
    if text in seen:
        expressions.tell(f"attribute {text!r} is given twice", key.span, "give it once")
    if not fitting:
        return False  # the op itself is a mistake
    known = attribute_keys(fitting)
    if text in known or "." in text:
        return text in known
    own = f"an attribute of your own has a dot in its name, such as my.{text}"
    near = near_hint(text, known, "attributes")
    expressions.tell(f"{owner} has no attribute {text!r}", key.span, f"{near}; {own}" if near else own)
    return False


def form_of(decl: AttrDecl) -> str:
    """What an attribute is given, for a hint."""
    return f"one of {', '.join(decl.choices)}" if decl.choices else str(kind_of_attribute(decl))


def setter(expressions: Expressions, typed: Typed, decl: AttrDecl | None, what: str) -> Setter:
    """What gives the attribute's value on a match; a constant of the wrong kind or range is told at once."""
    wanted = kind_of_attribute(decl) if decl is not None else None
    if typed.kind not in PLAIN | {Kind.NONE, Kind.UNKNOWN}:
        expressions.tell(f"{what}: an attribute cannot be {typed.kind}", typed.span, value_hint(typed))
        return typed.run
    if wanted is not None and typed.kind not in (wanted, Kind.NONE, Kind.UNKNOWN):
        hint = expressions.word_hint(typed) or unit_hint(typed, wanted) or (decl.doc if decl else "")
        expressions.tell(f"{what}: expected {wanted}, found {typed.kind}", typed.span, hint)
        return typed.run
    found, span = as_valued(typed), typed.span

    def run(match: Any) -> Value | None:
        kind, value = found(match)
        if kind is Kind.NONE:
            return None
        if wanted is not None and kind is not wanted:
            raise EvaluationError(f"{what}: expected {wanted}, and {span.text} is {kind}", span)
        return attribute_value(kind, value, decl, what, span)

    if typed.constant:
        try:
            fixed = run(None)
        except EvaluationError as error:
            expressions.diagnostics.append(Diagnostic(error.message, error.span, error.hint))
            return typed.run
        return lambda _: fixed
    return run


def attribute_value(kind: Kind, value: Any, decl: AttrDecl | None, what: str, span: Span) -> Value:
    """A value as an attribute holds it: times and sizes whole, a half going up. Raises :class:`EvaluationError` where it has no room."""
    match kind:
        case Kind.TIME:
            return Time(_whole(kind, value, what, span))
        case Kind.SIZE:
            return Size(_whole(kind, value, what, span))
        case Kind.NUMBER if decl is not None and decl.type is int:
            return _whole(kind, value, what, span)
        case Kind.NUMBER:
            return _number(value, what, span)
        case Kind.TEXT:
            return _text(value, decl, what, span)
        case Kind.SHAPE:
            items = [valued_or_none(item) for item in value]
            return tuple([attribute_value(item.kind, item.value, None, what, span) for item in items])
        case Kind.RANGE if value.start < 0:
            raise EvaluationError(f"{what} would be {value}", span, "a range begins at 0 or later")
    return value  # type: ignore[no-any-return]  # a bool or a range


def _whole(kind: Kind, value: Any, what: str, span: Span) -> int:
    number = round_half_up(Fraction(value) if isinstance(value, float) else value)
    if number < 0:
        hint = {Kind.TIME: "a time is 0ns or more", Kind.SIZE: "a size is 0B or more"}.get(kind, "it is 0 or more")
        raise EvaluationError(f"{what} would be negative: {show(kind, number)}", span, hint)
    if number >= INTEGER_LIMIT:
        raise EvaluationError(f"{what} would not be below 2^63: {show(kind, number)}", span)
    return number


def _number(value: Any, what: str, span: Span) -> int | float:
    if isinstance(value, float):
        return value
    if abs(value) >= INTEGER_LIMIT:
        raise EvaluationError(f"{what} would not lie between -2^63 and 2^63", span)
    return int(value) if value == int(value) else float(value)


def _text(value: str, decl: AttrDecl | None, what: str, span: Span) -> str:
    if decl is None:
        return value
    if decl.type is str:
        return str(value)
    if decl.choices and value not in decl.choices:
        message = f"{what} is one of {', '.join(decl.choices)}, found {str(value)!r}"
        raise EvaluationError(message, span, near_hint(value, decl.choices, "words"))
    if not is_word(value):
        raise EvaluationError(f"{what} is a word, found {str(value)!r}", span, "a word holds letters, digits and _, with . - / : inside")
    return Ident(value)
