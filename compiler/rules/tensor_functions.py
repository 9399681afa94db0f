"""Functions of tensors. A list ``%xs...`` counts as one: sizes and users add up; other answers are what all have in common, or none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from g10c.compiler.rules.builtins import NUMBER, TENSORS, Builtin, CallSite
from g10c.compiler.rules.kinds import Kind
from g10c.compiler.rules.typed import EvaluationError, Typed, expect
from g10c.ir.program import DTYPE_BYTES, Role

if TYPE_CHECKING:
    from g10c.compiler.rewriting.dataflow import Version
    from g10c.compiler.rewriting.rule import Match
    from g10c.ir.program import Tensor

Ask = "Callable[[Match, Version], Any]"


def _tensor(match: Match, version: Version) -> Tensor:
    return match.rewriter.tensors[version.tensor]


def _summed(kind: Kind, ask: Callable[[Match, Version], int]) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        find = site.first.run
        if site.first.kind is Kind.TENSOR:
            return Typed(kind, lambda match: ask(match, find(match)), site.span)
        return Typed(kind, lambda match: sum(ask(match, version) for version in find(match)), site.span)

    return make


def _common(kind: Kind, ask: Callable[[Match, Version], Any], words: tuple[str, ...] = ()) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        find = site.first.run
        if site.first.kind is Kind.TENSOR:
            return Typed(kind, lambda match: ask(match, find(match)), site.span, words=words)

        def common(match: Match) -> Any:
            found = [ask(match, version) for version in find(match)]
            return found[0] if found and all(value == found[0] for value in found) else None

        return Typed(kind, common, site.span, optional=True, words=words)

    return make


def _persistent(site: CallSite) -> Typed:
    find = site.first.run
    if site.first.kind is Kind.TENSOR:
        return Typed(Kind.BOOL, lambda match: _tensor(match, find(match)).persistent, site.span)
    return Typed(Kind.BOOL, lambda match: any(_tensor(match, version).persistent for version in find(match)), site.span)


def _count(site: CallSite) -> Typed:
    find = site.first.run
    return Typed(Kind.NUMBER, (lambda match: 1) if site.first.kind is Kind.TENSOR else lambda match: len(find(match)), site.span)


def _dim(site: CallSite) -> Typed:
    which = expect(site.arguments[1], NUMBER)

    def ask(match: Match, version: Version) -> int:
        tensor, number = _tensor(match, version), which(match)
        if number != int(number) or not -len(tensor.shape) <= number < len(tensor.shape):
            has = f"%{tensor.name} has {len(tensor.shape)} dimension{'s' if len(tensor.shape) != 1 else ''}"
            raise EvaluationError(f"{has}, and no dimension {float(number):g}", site.arguments[1].span, "the first is 0, the last -1")
        return tensor.shape[int(number)]

    return _common(Kind.NUMBER, ask)(site)


TENSOR_FUNCTIONS = (
    Builtin(
        "bytes(%x)",
        "size of a tensor; of a list the sum",
        (TENSORS,),
        _summed(Kind.SIZE, lambda match, version: match.rewriter.tensors[version.tensor].size_bytes),
    ),
    Builtin(
        "elements(%x)",
        "number of elements; of a list the sum",
        (TENSORS,),
        _summed(Kind.NUMBER, lambda match, version: math.prod(_tensor(match, version).shape)),
    ),
    Builtin(
        "users(%x)",
        "how many ops read this version of a tensor; of a list the sum",
        (TENSORS,),
        _summed(Kind.NUMBER, lambda match, version: match.rewriter.flow.count_uses(version)),
    ),
    Builtin("count(%xs)", "how many tensors a list holds", (TENSORS,), _count),
    Builtin(
        "role(%x)",
        "weight, optimizer, input, activation, gradient or workspace; of a list the role of all, none where they differ",
        (TENSORS,),
        _common(Kind.TEXT, lambda match, version: str(_tensor(match, version).role), tuple(role.value for role in Role)),
    ),
    Builtin(
        "dtype(%x)",
        "data type, such as f32; of a list that of all, none where they differ",
        (TENSORS,),
        _common(Kind.TEXT, lambda match, version: _tensor(match, version).dtype, tuple(DTYPE_BYTES)),
    ),
    Builtin(
        "shape(%x)",
        "dimensions, to compare with such as [4, 768]; of a list those of all, none where they differ",
        (TENSORS,),
        _common(Kind.SHAPE, lambda match, version: _tensor(match, version).shape),
    ),
    Builtin(
        "rank(%x)",
        "number of dimensions; of a list that of all, none where they differ",
        (TENSORS,),
        _common(Kind.NUMBER, lambda match, version: len(_tensor(match, version).shape)),
    ),
    Builtin(
        "dim(%x, i)", "dimension i, counted from 0; -1 is the last; of a list that of all, none where they differ", (TENSORS, NUMBER), _dim
    ),
    Builtin("persistent(%x)", "whether a tensor lives across steps; of a list whether any of them does", (TENSORS,), _persistent),
)
