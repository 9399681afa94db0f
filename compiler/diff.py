"""Differences of two plans or of two results, as rows of (what, left, right)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from g10c.compiler.summary import directive_label
from g10c.ir.machine_file import machine_to_dict
from g10c.ir.ops import OpKind

if TYPE_CHECKING:
    from g10c.ir.plan import Plan
    from g10c.ir.program import Program

Row = tuple[str, str, str]


def diff_plans(left: Plan, right: Plan) -> list[Row]:
    """Where two plans differ: pipeline, machine values, tensors, kernels, and directives by kernel."""
    rows: list[Row] = []
    if left.pipeline != right.pipeline:
        rows.append(("pipeline", left.pipeline, right.pipeline))
    rows += _diff_maps("machine ", flatten(machine_to_dict(left.machine)), flatten(machine_to_dict(right.machine)))
    return rows + diff_programs(left.program, right.program)


def diff_programs(left: Program, right: Program) -> list[Row]:
    """Where two programs differ: tensors and kernels that one lacks, and directives by the kernel they are issued at."""
    tensors = [{name: f"{t.dtype}{list(t.shape)} {t.role}" for name, t in program.tensors.items()} for program in (left, right)]
    rows = _diff_maps("tensor %", *tensors)
    kernels = [{f"{n}": f"{op.name} {op.time_ns} ns" for n, op in enumerate(program.kernels)} for program in (left, right)]
    rows += _diff_maps("kernel ", *kernels)
    return rows + _diff_maps("at kernel ", _directives(left), _directives(right))


def _directives(program: Program) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    slot = 0
    for op in program.ops:
        if op.kind is OpKind.KERNEL:
            slot += 1
        elif op.kind is OpKind.DIRECTIVE:
            extent = f" {op.attrs['range']}" if "range" in op.attrs else ""
            key = f"{slot} %{op.reads[0]}"
            found.setdefault(key, []).append(directive_label(op.name, op.attrs) + extent)
    return {key: ", ".join(value) for key, value in found.items()}


def diff_results(left: Mapping[str, object], right: Mapping[str, object]) -> list[Row]:
    """Where two results (the JSON of ``g10c sim``) differ, by path."""
    return _diff_maps("", flatten(left), flatten(right))


def flatten(value: object, path: str = "") -> dict[str, str]:
    """A JSON document as text by path: ``links.host_to_gpu.bytes``."""
    if isinstance(value, Mapping):
        parts = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    else:
        return {path: str(value)}
    return {key: text for sub_path, item in parts for key, text in flatten(item, sub_path).items()}


def _diff_maps(prefix: str, left: Mapping[str, str], right: Mapping[str, str]) -> list[Row]:
    names = list(dict.fromkeys([*left, *right]))
    return [(prefix + name, left.get(name, ""), right.get(name, "")) for name in names if left.get(name) != right.get(name)]
