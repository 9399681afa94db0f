"""The published schema of plans: in step with the declarations of the IR, and of one mind with the reader."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from plan.plan_programs import plans, small_plan

from g10c.ir.errors import InputError
from g10c.ir.machine_keys import KEYS, TABLES
from g10c.ir.ops import DECLARATIONS, OpKind, known_names
from g10c.ir.plan import plan_to_json
from g10c.ir.plan_reader import read_plan
from g10c.ir.plan_values import json_key
from g10c.ir.program import DTYPE_BYTES, Role
from g10c.ir.schema_check import schema, schema_mistakes
from g10c.ir.values import Range

SCHEMA = schema("plan")
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
BASE: dict[str, Any] = json.loads(plan_to_json(small_plan()))


def definition_of(op: str) -> dict[str, Any]:
    """The definition that the schema applies to an op."""
    for rule in DEFINITIONS["op"]["allOf"]:
        if op in rule["if"]["properties"]["op"].get("enum", ()):
            return DEFINITIONS[rule["then"]["$ref"].rpartition("/")[2]]
    return DEFINITIONS["kernel"]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_names_are_those_of_the_ir() -> None:
    assert DEFINITIONS["op_name"]["enum"] == known_names(), "ir/ops.py and ir/plan.schema.json list different ops"
    assert DEFINITIONS["tensor"]["properties"]["dtype"]["enum"] == list(DTYPE_BYTES)
    assert DEFINITIONS["tensor"]["properties"]["role"]["enum"] == [str(role) for role in Role]


@pytest.mark.parametrize("decl", DECLARATIONS, ids=lambda decl: decl.name)
def test_attributes_are_those_declared(decl: Any) -> None:
    name = f"{decl.name}.{decl.variants[0]}" if decl.variants else decl.name
    definition = definition_of(name)
    operands = {"tensor", "range", "whole"} if decl.kind is OpKind.DIRECTIVE else {"reads", "writes"}
    attrs = {json_key(attr): attr for attr in decl.attrs if attr.type is not Range}
    assert set(definition["properties"]) == {"op", *operands, *attrs}
    required = {key for key, attr in attrs.items() if attr.required}
    assert set(definition["required"]) == {"op", *(operands - {"whole"}), *required}
    for key, attr in attrs.items():
        if attr.choices:
            assert definition["properties"][key]["enum"] == list(attr.choices)


def test_machine_keys_are_those_of_machines() -> None:
    machine = DEFINITIONS["machine"]["properties"]
    for key in KEYS.values():
        part = machine
        if key.table:
            entry = machine[key.table]
            part = (DEFINITIONS[entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry)["properties"]
            assert set(part) == {other.name for other in TABLES[key.table]}
        assert key.name in part
        if key.choices:
            assert part[key.name]["enum"] == list(key.choices)


def test_every_definition_says_what_it_expects() -> None:
    assert [name for name, definition in DEFINITIONS.items() if not definition.get("description")] == []


REPLACEMENTS: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    1.0,
    0.5,
    1 << 63,
    "",
    "x",
    "host",
    "true",
    "a b",
    "x\n",
    [],
    [0],
    [0, 4],
    [0, 1.0],
    ["x"],
    {},
    {"word": "x"},
    {"x": 1},
]
BEYOND_THE_SCHEMA = (
    "the place in the list",
    "what dtype and shape make",
    "is also the name of",
    "expected a tensor number below",
    "the whole of tensors",
    "expected bytes inside",
    "leaves nothing of gpu.memory",
    "expected a power of two",
    "needs a bandwidth",
    "a mesh of",
    "expected a name of one line",
)


def mutations(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The small plan with one value replaced, removed, renamed or added, for every value."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, item in items:
        for replacement in REPLACEMENTS:
            yield (*path, key), edited(path, lambda parent, key=key, new=replacement: parent.__setitem__(key, new))
        yield (*path, key), edited(path, lambda parent, key=key: parent.__delitem__(key))
        if isinstance(value, dict):
            yield (*path, key), edited(path, lambda parent, key=key: parent.__setitem__(f"{key}.x", parent.pop(key)))
            yield (*path, key), edited(path, lambda parent, key=key: parent.__setitem__(f"{key}x", parent[key]))
        yield from mutations(item, (*path, key))


def edited(path: tuple[Any, ...], edit: Any) -> dict[str, Any]:
    document = copy.deepcopy(BASE)
    parent = document
    for step in path:
        parent = parent[step]
    edit(parent)
    return document


@pytest.mark.parametrize("stride", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_reader_and_schema_give_the_same_verdict(stride: int) -> None:
    verdicts = {"both accept": 0, "both refuse": 0, "beyond the schema": 0}
    for path, document in islice(mutations(BASE), 0, None, stride):
        mistakes = schema_mistakes(document, "plan")
        try:
            read_plan(json.dumps(document), "plan.json")
        except InputError as error:
            if mistakes:
                verdicts["both refuse"] += 1
            else:
                reasons = [diagnostic.message for diagnostic in error.diagnostics]
                assert all(any(part in reason for part in BEYOND_THE_SCHEMA) for reason in reasons), (path, reasons)
                verdicts["beyond the schema"] += 1
        else:
            assert not mistakes, (path, mistakes)
            verdicts["both accept"] += 1
    assert min(verdicts.values()) >= 50 // stride, verdicts


@settings(max_examples=60, deadline=None)
@given(plans())
def test_what_is_written_fits_the_schema(plan: Any) -> None:
    document = json.loads(plan_to_json(plan))
    assert schema_mistakes(document, "plan") == []
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
