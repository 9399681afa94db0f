"""Expressions that have been checked: a kind, and a closure that gives the value on a match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from g10c.compiler.rules.kinds import DERIVED, Kind, Valued

if TYPE_CHECKING:
    from g10c.ir.source import Span

Run = Callable[[Any], Any]
"""From a :class:`~g10c.compiler.rewriting.rule.Match` to a value. Constants take anything."""


class EvaluationError(Exception):
    """What is wrong on this match, with its place in the rule."""

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint


@dataclass(frozen=True, slots=True)
class Typed:
    """``run`` gives a plain value of the kind; a :class:`~g10c.compiler.rules.kinds.Valued` where the kind is unknown.

    Numbers, times and sizes are whole numbers or fractions, exactly. Tensors are versions, ops are ops.
    """

    kind: Kind
    run: Run
    span: Span
    constant: bool = False
    optional: bool = False
    """Whether the value may be none."""
    words: tuple[str, ...] = ()
    """The only texts that it can be; empty where it can be any."""
    bare: bool = False
    """Whether it is a word without quotes."""

    def at(self, span: Span) -> Typed:
        """The same, written elsewhere."""
        return replace(self, span=span)


def constant(kind: Kind, value: Any, span: Span, bare: bool = False) -> Typed:
    """A value that is known."""
    return Typed(kind, lambda _: value, span, True, kind is Kind.NONE, bare=bare)


def broken(span: Span) -> Typed:
    """What stands where a mistake has been told."""
    return Typed(Kind.BROKEN, lambda _: None, span)


def as_valued(typed: Typed) -> Callable[[Any], Valued]:
    """The value with its kind, whether that is known before or not."""
    run, kind = typed.run, typed.kind
    if kind is Kind.UNKNOWN:
        return run
    if not typed.optional:
        return lambda match: Valued(kind, run(match))

    def optional(match: Any) -> Valued:
        value = run(match)
        return Valued(kind if value is not None else Kind.NONE, value)

    return optional


def expect(typed: Typed, kinds: Iterable[Kind], what: str = "") -> Run:
    """The plain value of one of these kinds. What is only known when it runs is checked then."""
    run, span = typed.run, typed.span
    if typed.kind is Kind.UNKNOWN:
        allowed = frozenset(kinds)

        def checked(match: Any) -> Any:
            kind, value = run(match)
            if kind not in allowed:
                raise EvaluationError(f"expected {what or any_of(allowed)}, and {span.text} is {kind}", span)
            return value

        return checked
    if typed.optional and typed.kind is not Kind.NONE:

        def there(match: Any) -> Any:
            value = run(match)
            if value is None:
                raise EvaluationError(f"expected {typed.kind}, and {span.text} is none", span, _default_hint(span.text))
            return value

        return there
    return run


def _default_hint(text: str) -> str:
    if text.startswith("attr("):
        return "give a default, attr(@a, key, 0), or ask has(@a, key) first"
    return "compare it with none first"


def any_of(kinds: Iterable[Kind]) -> str:
    """Kinds in a sentence; what goes without saying is left out."""
    wanted = frozenset(kinds)
    implied = (DERIVED if Kind.NUMBER in wanted else set()) | ({Kind.TENSORS} if Kind.TENSOR in wanted else set())
    names = [str(kind) for kind in Kind if kind in wanted - implied]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
