"""Calls of users' functions from rules."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from g10c.compiler.rules.kinds import QUANTITIES, Kind, Valued, exact, round_half_up, valued
from g10c.compiler.rules.tree import Atom, Expression
from g10c.compiler.rules.typed import EvaluationError, Typed, as_valued
from g10c.ir.values import Size, Time

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import Captured
    from g10c.compiler.rules.scope import Scope
    from g10c.ir.source import Span

_RESULTS = frozenset({Kind.BOOL, Kind.NUMBER, Kind.TIME, Kind.SIZE, Kind.TEXT})


def count_mistake(name: str, function: Callable[..., Any], found: int) -> tuple[str, str] | None:
    """Message and hint where a function does not take this many arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*range(found))
    except TypeError:
        of = f" at {_place(function)}" if _place(function) else ""
        return f"{name} does not take {found} argument{'s' if found != 1 else ''}", f"it is defined{of} as {name}{signature}"
    return None


def call(
    name: str, function: Callable[..., Any], nodes: Sequence[Expression], arguments: Sequence[Typed], scope: Scope, span: Span
) -> Callable[[Any], Valued]:
    """A closure that calls a function on a match. What it raises or returns amiss is an :class:`EvaluationError`."""
    given = [_argument(node, argument, scope) for node, argument in zip(nodes, arguments, strict=True)]

    def run(match: Any) -> Valued:
        values = [one(match) for one in given]
        try:
            result = function(*values)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also what is no Exception: a function that exits has failed
            message = f"rule function {name!r} raised {type(error).__name__}: {error}{_raised_at(function, error)}"
            raise EvaluationError(message, span, "this is a mistake in the function") from error
        found = valued(result)
        if found is None or found.kind not in _RESULTS:
            message = f"rule function {name!r} gave {_short(repr(result))}"
            raise EvaluationError(message, span, "it has to return true or false, a number, a Time, a Size or text")
        return found

    return run


def _argument(node: Expression, typed: Typed, scope: Scope) -> Callable[[Any], Any]:
    """What the function is given for an argument."""
    if isinstance(node, Atom) and typed.kind in (Kind.TENSOR, Kind.TENSORS):
        name = scope.tensors[node.name].slot[0]
        if typed.kind is Kind.TENSORS:
            return lambda match: [_readonly(tensor) for tensor in match.tensors(name)]
        return lambda match: _readonly(match.tensor(name))
    if typed.kind is Kind.OP:
        return lambda match: replace(typed.run(match), attrs=MappingProxyType(typed.run(match).attrs))
    found = as_valued(typed)
    return lambda match: _plain(found(match))


def _readonly(tensor: Captured) -> Captured:
    """The tensor with attributes that cannot be changed."""
    return replace(tensor, tensor=replace(tensor.tensor, attrs=MappingProxyType(tensor.tensor.attrs)))


def _plain(value: Valued) -> Any:
    """A value as Python has it: whole times and sizes, and numbers as ``int`` or ``float``."""
    match value.kind:
        case Kind.TIME:
            return Time(round_half_up(exact(value.value)))
        case Kind.SIZE:
            return Size(round_half_up(exact(value.value)))
        case kind if kind in QUANTITIES:
            return int(value.value) if value.value == int(value.value) else float(value.value)
    return value.value


def _raised_at(function: Callable[..., Any], error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    frame = (own or frames)[-1]
    return f" at {_relative(frame.filename)}:{frame.lineno}"


def _place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{_relative(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def _relative(path: str) -> str:
    """A path as a user would type it here: relative where the file lies below this folder."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."
