"""Plans: a program that is ready to run on a machine, and the ``plan.json`` that holds it.

The file is plain JSON for any runtime: tensors by number, ops in the order of issue, memory directives among them with their bytes
(``plan.schema.json`` is the contract). It is deterministic: one tensor or op a line, keys in a fixed order, no dates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from g10c.ir.errors import InputError, InternalError
from g10c.ir.machine import Machine
from g10c.ir.ops import OpKind
from g10c.ir.plan_values import PlanShapeError, encode_attribute, encode_own_attribute, encode_periods, encode_value
from g10c.ir.program import Op, Program, Tensor
from g10c.ir.values import Range, Size

FORMAT = "g10c.plan"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a plan comes from: the version of g10c, the model as it was named, and the SHA-256 of its file (empty: no file)."""

    version: str = ""
    input_name: str = ""
    input_sha256: str = ""


@dataclass(frozen=True, eq=False)
class Plan:
    """A program, the machine it was planned for, and how it came about.

    ``estimate_ns`` is the planner's estimate of the step's time, ``bound_ns`` a proven lower bound; ``None`` where there is none.
    ``statistics`` holds what the passes counted, and under ``notes`` what they had to tell: JSON values under text keys.
    """

    program: Program = field(repr=False)
    machine: Machine
    pipeline: str = ""
    provenance: Provenance = field(default_factory=Provenance)
    estimate_ns: int | None = None
    bound_ns: int | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the passes had to tell about this plan."""
        notes = self.statistics.get("notes", ())
        return tuple(str(note) for note in notes) if isinstance(notes, list | tuple) else ()


def load_plan(path: str | Path) -> Plan:
    """Read a plan from a file. Raises :class:`InputError` with every mistake of it, each by path, line and column."""
    from g10c.ir.input_text import read_text

    return parse_plan(read_text(path, "a plan (JSON)"), str(path))


def parse_plan(text: str, name: str = "<string>") -> Plan:
    """Read a plan from JSON text and verify its program; ``name`` stands for it in messages.

    Raises :class:`InputError` with every mistake: of the JSON itself, against the schema, and by the verifier's rules.
    """
    from g10c.ir.plan_reader import read_plan
    from g10c.ir.verifier import check_program

    plan = read_plan(text, name)
    check_program(plan.program)
    return plan


def plan_to_json(plan: Plan) -> str:
    """The text of ``plan.json``. The program has to be one that the verifier accepts; raises :class:`InputError` where it is not."""
    from g10c.ir.machine_file import machine_to_dict

    program = plan.program
    head = {
        "format": FORMAT,
        "version": VERSION,
        "provenance": {
            "version": plan.provenance.version,
            "input_name": plan.provenance.input_name,
            "input_sha256": plan.provenance.input_sha256,
        },
        "pipeline": plan.pipeline,
        "estimate_ns": plan.estimate_ns,
        "bound_ns": plan.bound_ns,
        "statistics": plan.statistics,
        "machine": machine_to_dict(plan.machine),
        "program": {"name": program.name, "attributes": _program_attributes(program)},
    }
    numbers = {tensor: number for number, tensor in enumerate(program.tensors)}
    try:
        lines = [f"{_dump(key)}: {_dump(value)}" for key, value in head.items()]
        lines.append(_array("tensors", (_tensor(tensor, number) for number, tensor in enumerate(program.tensors.values()))))
        lines.append(_array("ops", (_op(op, number, program, numbers) for number, op in enumerate(program.ops))))
    except (TypeError, ValueError, RecursionError) as error:
        raise InternalError.at(f"the plan of {program.name} has no form in JSON: {error}") from error
    return "{\n" + ",\n".join(lines) + "\n}\n"


_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _array(key: str, items: Iterator[dict[str, Any]]) -> str:
    """A JSON array with one element a line, so that differences of two plans are lines."""
    lines = ",\n".join(map(_dump, items))
    return f'"{key}": [\n{lines}\n]' if lines else f'"{key}": []'


def _program_attributes(program: Program) -> dict[str, Any]:
    try:
        return {key: encode_value(value) for key, value in program.attrs.items()}
    except PlanShapeError as error:
        raise InputError.at(f"program {program.name}: an attribute has no form in a plan: {error}", program.location) from None


def _tensor(tensor: Tensor, number: int) -> dict[str, Any]:
    """A tensor's object; ``bytes`` is exact, before any rounding to pages."""
    entry: dict[str, Any] = {
        "index": number,
        "name": tensor.name,
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "bytes": tensor.size_bytes,
        "role": str(tensor.role),
    }
    for name, value in tensor.attrs.items():
        try:
            key, data = (name, encode_periods(value)) if name == "inactive" else encode_own_attribute(name, value)
        except PlanShapeError as error:
            raise InputError.at(f"tensor %{tensor.name}: attribute {name!r} has no form in a plan: {error}", tensor.location) from None
        entry[key] = data
    return entry


def _op(op: Op, number: int, program: Program, numbers: Mapping[str, int]) -> dict[str, Any]:
    """An op's object: operands, then attributes in the order of the program."""
    entry: dict[str, Any] = {"op": op.name}
    try:
        if op.kind is OpKind.DIRECTIVE:
            (name,) = op.reads
            entry["tensor"] = numbers[name]
            if "range" not in op.attrs:
                entry.update({"range": [0, program.tensors[name].size_bytes], "whole": True})
        else:
            entry["reads"] = [numbers[name] for name in op.reads]
            entry["writes"] = [numbers[name] for name in op.writes]
        for attr, value in op.attrs.items():
            key, data = (attr, _bytes(value)) if attr == "range" and "tensor" in entry else encode_attribute(op.name, attr, value)
            entry[key] = data
    except (PlanShapeError, KeyError, ValueError) as error:
        raise InputError.at(f"op {number} ({op.name}) has no form in a plan: {error}", op.location) from None
    return entry


def _bytes(value: object) -> list[int]:
    if not isinstance(value, Range) or type(value.start) is not Size or type(value.end) is not Size:
        raise PlanShapeError("its range is not one of bytes")
    return [int(value.start), int(value.end)]
