"""What goes wrong while a rule runs, told with the rule and the match."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from g10c.compiler.rules.typed import EvaluationError
from g10c.ir.errors import Diagnostic

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import Match

T = TypeVar("T")


def guarded(rule: str, run: Callable[[Match], T]) -> Callable[[Match], T]:
    """The same closure; an :class:`EvaluationError` becomes a :class:`~g10c.compiler.rewriting.apply.RuleError`."""

    def outcome(match: Match) -> T:
        try:
            return run(match)
        except EvaluationError as error:
            from g10c.compiler.rewriting.apply import RuleError

            message = f"rule {rule!r}: {error.message}{_matched(match)}"
            raise RuleError(Diagnostic(message, error.span, error.hint)) from error

    return outcome


def _matched(match: Match) -> str:
    ops = [place.op for place in match.places]
    places = [f"{op.name} at {op.location}" if op.location is not None else op.name for op in ops]
    return f"; it matched {' and '.join(places)}"
