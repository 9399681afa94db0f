"""The published schema and the reader of machine files give the same verdicts, and neither knows a key that the other does not."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import jsonschema
import pytest

from g10c.ir.errors import InputError
from g10c.ir.machine_file import parse_machine
from g10c.ir.machine_keys import KEYS, REQUIRED_TABLES, TABLES, UNITS, Kind
from g10c.ir.schema_check import schema, schema_mistakes
from g10c.models.machine_library import BUNDLED

SCHEMA = schema("machine")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def table_schema(table: str) -> dict[str, Any]:
    if not table:
        return SCHEMA
    entry = SCHEMA["properties"][table]
    found: dict[str, Any] = SCHEMA["$defs"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("table", TABLES)
def test_same_keys(table: str) -> None:
    keys = [key.name for key in TABLES[table]]
    tables = [other for other in TABLES if other]
    assert list(table_schema(table)["properties"]) == (keys if table else keys + tables)
    required = [key.name for key in TABLES[table] if key.required]
    assert table_schema(table).get("required", []) == (required if table else required + list(REQUIRED_TABLES))


def test_same_choices() -> None:
    for key in KEYS.values():
        if key.choices:
            assert table_schema(key.table)["properties"][key.name]["enum"] == list(key.choices)


def test_same_units() -> None:
    for kind, name in ((Kind.SIZE, "size"), (Kind.BANDWIDTH, "bandwidth"), (Kind.TIME, "time"), (Kind.TIME_PER_BYTE, "time_per_byte")):
        for unit in UNITS[kind]:
            assert jsonschema.Draft202012Validator(SCHEMA["$defs"][name]).is_valid(f"1.5 {unit}"), unit


def toml_text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml_text(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def document_text(document: dict[str, Any]) -> str:
    return "\n".join(f'"{key}" = {toml_text(value)}' for key, value in document.items())


REPLACEMENTS: list[Any] = [
    1,
    0,
    -1,
    2.5,
    True,
    "",
    "x",
    "1GiB",
    "-1GiB",
    "1GB/s",
    "2us",
    [],
    ["a"],
    [1],
    {},
    {"memory": "1GiB"},
    "artifact",
    "none",
]


def mutations() -> list[dict[str, Any]]:
    base = tomllib.loads(BUNDLED["a100-40gb"].read_text(encoding="utf-8"))
    found = []
    places = [(None, key) for key in base] + [(table, key) for table in base if isinstance(base[table], dict) for key in base[table]]
    for table, key in places:
        for value in REPLACEMENTS:
            changed = copy.deepcopy(base)
            (changed if table is None else changed[table])[key] = value
            found.append(changed)
        without = copy.deepcopy(base)
        del (without if table is None else without[table])[key]
        renamed = copy.deepcopy(without)
        (renamed if table is None else renamed[table])[f"{key}x"] = (base if table is None else base[table])[key]
        found += [without, renamed]
    return found


def accepts(document: dict[str, Any]) -> bool:
    try:
        parse_machine(document_text(document))
    except InputError:
        return False
    return True


def test_what_the_reader_accepts_the_schema_accepts() -> None:
    """The reader is stricter in three things: values that are 0 or too fine, values that disagree, and names that are blank."""
    stricter = (
        "more than 0",
        "whole number of",
        "blank",
        "leaves nothing",
        "power of two",
        "needs a bandwidth",
        "a mesh of",
        "at least 1us",
    )
    verdicts = {True: 0, False: 0}
    for document in mutations():
        valid = VALIDATOR.is_valid(document)
        verdicts[valid] += 1
        try:
            parse_machine(document_text(document))
        except InputError as error:
            reasons = [diagnostic.message for diagnostic in error.diagnostics]
            assert not valid or all(any(part in reason for part in stricter) for reason in reasons), reasons
        else:
            assert valid, document
    assert min(verdicts.values()) > 50


def test_every_refusal_by_the_schema_is_told_by_path() -> None:
    for document in mutations():
        mistakes = schema_mistakes(document, "machine")
        assert bool(mistakes) != VALIDATOR.is_valid(document)
        assert all(mistake.message for mistake in mistakes)
