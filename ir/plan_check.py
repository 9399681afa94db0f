"""What is wrong with a plan's JSON: by the schema, and by what a schema cannot say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.json_text import scan_json
from g10c.ir.machine_file import machine_dict_mistakes
from g10c.ir.mistakes import Mistake, Path, Places, diagnostics_of
from g10c.ir.plan_reader import PlanReader
from g10c.ir.plan_values import PlanShapeError
from g10c.ir.program import DTYPE_BYTES
from g10c.ir.schema_check import schema_mistakes
from g10c.ir.source import Source


def plan_diagnostics(document: Mapping[str, Any], source: Source) -> list[Diagnostic]:
    """Every mistake of a document, in the order of its text."""
    mistakes = _without_consequences([*_head_mistakes(document), *_element_mistakes(document)])
    wrong = {mistake.path[:2] for mistake in mistakes}
    tensors, ops = _list(document, "tensors"), _list(document, "ops")
    mistakes += [mistake for mistake in _tensor_mistakes(tensors) if mistake.path[:2] not in wrong]
    mistakes += [mistake for mistake in _op_mistakes(ops, tensors) if mistake.path[:2] not in wrong]
    places: Places = {}
    with suppress(InputError):  # nested too deeply to find places: paths still tell
        places = scan_json(source).places
    return diagnostics_of(mistakes, source, places)


def _list(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _head_mistakes(document: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with everything but the elements of the two long lists."""
    skeleton = {key: [] if key in ("tensors", "ops") and isinstance(value, list) else value for key, value in document.items()}
    yield from (mistake for mistake in schema_mistakes(skeleton, "plan") if mistake.path[:1] != ("machine",))
    yield from (_inside(("machine",), mistake) for mistake in _machine_mistakes(document))


def _element_mistakes(document: Mapping[str, Any]) -> Iterator[Mistake]:
    """What the schema says of the tensors and ops that the reader refuses; it takes the schema far longer to look at all of them."""
    reader = PlanReader("")
    for number, tensor in enumerate(_list(document, "tensors")):
        try:
            reader.tensor(number, tensor)
        except PlanShapeError:
            yield from (_inside(("tensors", number), mistake) for mistake in schema_mistakes(tensor, "plan", "tensor"))
            reader.names.append("")
            reader.sizes.append(0)
    for number, op in enumerate(_list(document, "ops")):
        try:
            reader.op(number, op)
        except PlanShapeError:
            yield from (_inside(("ops", number), mistake) for mistake in schema_mistakes(op, "plan", "op"))


def _machine_mistakes(document: Mapping[str, Any]) -> list[Mistake]:
    return machine_dict_mistakes(document["machine"]) if "machine" in document else []


def _inside(path: Path, mistake: Mistake) -> Mistake:
    return Mistake((*path, *mistake.path), mistake.message, mistake.hint, mistake.at_key)


def _without_consequences(mistakes: list[Mistake]) -> list[Mistake]:
    """Without what follows from the name of an op being unknown: its keys are then judged as a kernel's."""
    unknown = {mistake.path[:2] for mistake in mistakes if mistake.path[:1] == ("ops",) and mistake.path[2:] == ("op",)}
    return [mistake for mistake in mistakes if mistake.path[:2] not in unknown or mistake.path[2:] == ("op",)]


def _tensor_mistakes(tensors: list[Any]) -> Iterator[Mistake]:
    first: dict[str, int] = {}
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, dict):
            continue
        if tensor.get("index") != number:
            yield Mistake(("tensors", number, "index"), f"expected {number}, the place in the list, found {tensor.get('index')}")
        size, shape, dtype = (tensor.get(key) for key in ("bytes", "shape", "dtype"))
        if isinstance(shape, list) and all(type(extent) is int for extent in shape) and isinstance(dtype, str):
            expected = math.prod(shape) * DTYPE_BYTES.get(dtype, 0)
            if size != expected:
                yield Mistake(("tensors", number, "bytes"), f"expected {expected}, what dtype and shape make, found {size}")
        name = tensor.get("name")
        if isinstance(name, str) and first.setdefault(name, number) != number:
            yield Mistake(("tensors", number, "name"), f"{name!r} is also the name of tensors[{first[name]}]", "every name once")


def _op_mistakes(ops: list[Any], tensors: list[Any]) -> Iterator[Mistake]:
    for number, op in enumerate(ops):
        if not isinstance(op, dict):
            continue
        at = ("ops", number)
        for key in ("reads", "writes"):
            operands = op.get(key)
            for place, tensor in enumerate(operands if isinstance(operands, list) else ()):
                yield from _number_mistakes((*at, key, place), tensor, tensors)
        if "tensor" in op:
            wrong = list(_number_mistakes((*at, "tensor"), op["tensor"], tensors))
            yield from wrong or _range_mistakes(at, op, tensors)


def _number_mistakes(path: tuple[str | int, ...], number: object, tensors: list[Any]) -> Iterator[Mistake]:
    if type(number) is int and not 0 <= number < len(tensors):
        yield Mistake(path, f"expected a tensor number below {len(tensors)}, found {number}")


def _range_mistakes(at: tuple[str, int], op: Mapping[str, Any], tensors: list[Any]) -> Iterator[Mistake]:
    tensor, span = op["tensor"], op.get("range")
    size = tensors[tensor].get("bytes") if type(tensor) is int and isinstance(tensors[tensor], dict) else None
    if type(size) is not int or not isinstance(span, list) or len(span) != 2 or not all(type(end) is int for end in span):
        return
    if "whole" in op and span != [0, size]:
        yield Mistake((*at, "range"), f"expected [0, {size}], the whole of tensors[{tensor}], found {span}", "or leave out 'whole'")
    elif not 0 <= span[0] <= span[1] <= size:
        yield Mistake((*at, "range"), f"expected bytes inside [0, {size}] of tensors[{tensor}], found {span}")
