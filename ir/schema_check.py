"""Checks documents against the published JSON schemas, with messages in this project's words.

The readers of machine and plan files accept what the schemas accept without loading ``jsonschema`` (its import takes longer than
reading a plan); they come here when something is wrong, to name all of it. Tests hold readers and schemas to the same verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from g10c.ir.errors import near_hint
from g10c.ir.mistakes import Mistake, found_text


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema in the file ``NAME.schema.json`` beside this module."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


@cache
def _validator(name: str, definition: str) -> Any:
    """A validator to which 1.0 is not an integer: the readers keep the types of numbers."""
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    strict = validators.extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call] # the stubs leave it untyped
    whole = schema(name)
    return strict({"$ref": f"#/$defs/{definition}", "$defs": whole["$defs"]} if definition else whole)


def schema_mistakes(document: object, name: str, definition: str = "") -> list[Mistake]:
    """Everything in which a document differs from the schema ``name``, or from one definition in it."""
    return [mistake for error in _validator(name, definition).iter_errors(document) for mistake in _mistakes_of(error, schema(name))]


def _mistakes_of(error: Any, whole: dict[str, Any]) -> Iterator[Mistake]:
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from _extra_keys(error)
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                wanted = _description(error.schema.get("properties", {}).get(key, {}), whole)
                yield Mistake(path, f"missing key {key!r}", f"it is {wanted}" if wanted else "")
    elif error.validator == "enum":
        choices = [str(choice) for choice in error.validator_value]
        hint = near_hint(error.instance, choices, "values") if isinstance(error.instance, str) else ""
        yield Mistake(path, f"expected {_expected(error)}, found {found_text(error.instance)}", hint)
    else:
        yield Mistake(path, f"expected {_expected(error)}, found {found_text(error.instance)}")


def _extra_keys(error: Any) -> Iterator[Mistake]:
    known = error.schema.get("properties", {})
    patterns = error.schema.get("patternProperties", {})
    at = tuple(error.absolute_path)
    for key in error.instance:
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            yield Mistake((*at, key), f"extra key {key!r}", near_hint(key, known, "keys"), at_key=True)


def _description(part: dict[str, Any], whole: dict[str, Any]) -> str:
    """What a part of a schema says about itself, or what it refers to says."""
    target = whole["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else {}
    return str(part.get("description") or target.get("description", ""))


def _expected(error: Any) -> str:
    """What the schema asks for: its own description, or the keyword that failed."""
    described = error.schema.get("description")
    return str(described) if described else f"{error.validator} {json.dumps(error.validator_value)}"
