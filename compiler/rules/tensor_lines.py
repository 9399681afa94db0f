"""``new %m : ...`` and ``change %y : ...``: declarations that a rewrite makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from g10c.compiler.rules.expressions import Expressions
from g10c.compiler.rules.kinds import Kind, show, valued_or_none
from g10c.compiler.rules.tree import Expression, Operation, TensorLine
from g10c.compiler.rules.typed import EvaluationError, Run, expect
from g10c.ir.errors import near_hint
from g10c.ir.parse_values import INTEGER_LIMIT
from g10c.ir.program import DTYPE_BYTES, Role, Tensor

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import Match
    from g10c.ir.source import Span

NewTensors = Mapping[str, Tensor]
"""The new tensors of a firing by the names they have in the rule."""
MakeTensor = Callable[["Match", NewTensors], Tensor]

_WORDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "dtype": (tuple(DTYPE_BYTES), "a data type, such as f16", "data types"),
    "role": (tuple(role.value for role in Role), "a role, such as workspace", "roles"),
}


def compile_tensor(expressions: Expressions, line: TensorLine, news: Mapping[str, TensorLine]) -> MakeTensor:
    """What gives the declaration on a match; that of a new tensor has no name yet."""
    runs: dict[str, Run] = {}
    for kind, node in line.properties:
        if kind in runs:
            expressions.tell(f"{kind} is given twice", node.span, "give it once")
        runs[kind] = _shape(expressions, node) if kind == "shape" else _word(expressions, kind, node)
    base = _base(expressions, line, news)
    if line.new and line.like is None and "role" not in runs:
        roles = ", ".join(_WORDS["role"][0])
        expressions.tell(f"new tensor %{line.name.name} needs a role", line.span, f"write it at the end: one of {roles}")
    dtype, shape, role, span = runs.get("dtype"), runs.get("shape"), runs.get("role"), line.span

    def make(match: Match, made: NewTensors) -> Tensor:
        old = base(match, made)
        tensor = replace(
            old,
            dtype=str(dtype(match)) if dtype is not None else old.dtype,
            shape=shape(match) if shape is not None else old.shape,
            role=Role(role(match)) if role is not None else old.role,
        )
        if math.prod(tensor.shape) * DTYPE_BYTES[tensor.dtype] >= INTEGER_LIMIT:
            raise EvaluationError(f"{line.name.text} would have more than 2^63 bytes", span)
        return tensor

    return make


def _base(expressions: Expressions, line: TensorLine, news: Mapping[str, TensorLine]) -> MakeTensor:
    """What the declaration starts from: the tensor that it changes or is like, or nothing."""
    atom = line.like if line.new else line.name
    if atom is None:
        return lambda match, made: Tensor("", "u8", (), Role.WORKSPACE)
    name, known = atom.name, expressions.scope.tensors.get(atom.name)
    earlier = news.get(name)
    if known is not None and not known.many and not atom.many:
        return tensor_of(known.slot)
    if known is not None:
        expressions.tell(f"%{name} stands for several tensors", atom.span, "name one of them by itself in the match")
    elif earlier is not None and not line.new:
        expressions.tell(f"%{name} is new", atom.span, f"write what it is in line {earlier.span.line}, where it is declared")
    elif earlier is not None and earlier.span.start >= line.span.start:
        expressions.tell(f"%{name} is declared further down", atom.span, f"put its line, {earlier.span.line}, above this one")
    elif earlier is not None:
        return lambda match, made: made[name]
    else:
        mistake = expressions.scope.missing(atom)
        if mistake is not None:
            expressions.diagnostics.append(mistake)
    return lambda match, made: made[name]


def tensor_of(slot: tuple[str, int]) -> MakeTensor:
    """What finds the declaration of a tensor of the match."""

    def find(match: Match, _: NewTensors) -> Tensor:
        version: Any = match.bindings.slots[slot]
        return match.rewriter.tensors[version.tensor]

    return find


def _word(expressions: Expressions, kind: str, node: Expression) -> Run:
    words, what, plural = _WORDS[kind]
    typed = expressions.value(node, (Kind.TEXT,), what)
    if typed.constant and typed.run(None) not in words:
        found = str(typed.run(None))
        article = "data type" if kind == "dtype" else "role"
        expressions.tell(f"unknown {article} {found!r}", typed.span, expressions.word_hint(typed) or near_hint(found, words, plural))
    run, span = expect(typed, (Kind.TEXT,), what), typed.span
    if typed.constant or (typed.words and not typed.optional):
        return run

    def checked(match: Any) -> Any:
        value = run(match)
        if value not in words:
            raise EvaluationError(f"expected {what}, and {span.text} is {value!r}", span)
        return value

    return checked


def _shape(expressions: Expressions, node: Expression) -> Run:
    if isinstance(node, Operation) and node.operator == "[]":
        items = [_item(expressions, operand) for operand in node.operands]
        return lambda match: tuple([item(match) for item in items])
    typed = expressions.value(node, (Kind.SHAPE,), "a shape, such as [4, dim(%x, 0)]")
    run, span = expect(typed, (Kind.SHAPE,), "a shape"), typed.span
    return lambda match: tuple([_dimension(item, span) for item in run(match)])


def _item(expressions: Expressions, node: Expression) -> Run:
    typed = expressions.value(node, (Kind.NUMBER,), "a dimension, a number such as dim(%x, 0)")
    run, span = expect(typed, (Kind.NUMBER,), "a dimension"), typed.span
    if typed.constant:
        try:
            _dimension(run(None), span)
        except EvaluationError as error:
            expressions.tell(error.message, error.span, error.hint)
    return lambda match: _dimension(run(match), span)


def _dimension(item: Any, span: Span) -> int:
    kind, value = valued_or_none(item)
    if kind is not Kind.NUMBER:
        raise EvaluationError(f"a dimension is a number, found {kind}", span)
    if value != int(value):
        raise EvaluationError(f"a dimension would be {show(kind, value)}", span, "make it whole: floor(...) or ceil(...)")
    if not 0 <= value < INTEGER_LIMIT:
        raise EvaluationError(f"a dimension would be {show(kind, value)}", span, "dimensions are 0 or more, and below 2^63")
    return int(value)
