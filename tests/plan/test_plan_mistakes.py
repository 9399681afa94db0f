"""What a wrong plan is told: every mistake by path, line and column; never a traceback."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan.plan_programs import JSON, small_plan

from g10c.ir.errors import InputError
from g10c.ir.plan import parse_plan, plan_to_json

TEXT = plan_to_json(small_plan())


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_plan(text, "plan.json")
    assert caught.value.exit_status == 1
    return caught.value.render()


def changed(old: str, new: str) -> str:
    assert TEXT.count(old) == 1, old
    return TEXT.replace(old, new)


def test_all_mistakes_at_once() -> None:
    text = (
        TEXT.replace('"reads": [1, 0]', '"reads": [1, 9999]')
        .replace('"time_ns": 12288', '"tiem_ns": 12288')
        .replace('"from": "host"', '"from": "hots"')
    )
    text = text.replace('"count": 1', '"count": 0').replace('"role": "input"', '"role": "inptu"').replace('"index": 3', '"index": 4')
    lines = [line for line in refusal(text).splitlines() if not line[:5].strip().isdigit() and not line.startswith("      |")]
    assert lines == [
        "plan.json:9:103: error: machine.gpu.count: expected a whole number above 0, found 0",
        'plan.json:13:80: error: tensors[1].role: expected one of weight, optimizer, input, activation, gradient, workspace, found "inptu"',
        "  help: did you mean 'input'?",
        "plan.json:15:11: error: tensors[3].index: expected 3, the place in the list, found 4",
        "plan.json:19:39: error: ops[1].reads[1]: expected a tensor number below 4, found 9999",
        "plan.json:21:117: error: extra key 'tiem_ns' at ops[3]",
        "  help: did you mean 'time_ns'?",
        'plan.json:23:41: error: ops[5].from: expected one of host, ssd (the tier it is expected on), found "hots"',
        "  help: did you mean 'host'?",
    ]


def test_line_and_caret() -> None:
    assert refusal(changed('"bytes": 16,', '"bytes": 17,')) == (
        "plan.json:13:68: error: tensors[1].bytes: expected 16, what dtype and shape make, found 17\n"
        '   13 | {"index": 1, "name": "ids", "dtype": "i32", "shape": [4], "bytes": 17, "role": "input"},\n'
        "      | " + " " * 67 + "^~"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version": 1,', '"version": 2,', "version 2 of the plan format is newer than this g10c reads (1)"),
        ('"version": 1,', '"version": "1",', 'version: expected the number 1, found "1"'),
        ('"version": 1,', '"version": 1.0,', "version: expected the number 1, found 1.0"),
        ('"version": 1,', "", "missing key 'version'"),
        ('"g10c.plan"', '"g10c.plam"', "this is JSON, but not a plan"),
        ('"pipeline": "vitality,migrate{solver=greedy}"', '"pipeline": 3', "pipeline: expected the text of the passes"),
        ('"bound_ns": null', '"bound_ns": 1.5', "bound_ns: expected a whole number of nanoseconds, 0 or more, or null"),
        ('"statistics": {"moves": 3}', '"statistics": []', "statistics: expected an object"),
        ('"statistics"', '"statistcs"', "extra key 'statistcs'\n"),
        ("0f0f0f0f0f0f0f0f", "0F", "provenance.input_sha256: expected 64 hexadecimal digits"),
        ('"name": "bert/base"', '"name": "bert base"', "program.name: expected a name of letters, digits"),
        ('{"word": "uvm"}', '{"word": "u v m"}', "program.attributes.runtime: expected an attribute"),
        ('{"word": "uvm"}', '{"wrod": "uvm"}', "program.attributes.runtime: expected an attribute"),
        ('{"word": "uvm"}', '{"word": "uvn"}', "'runtime' of the program is one of uvm, direct"),
        ('"batch": 4', '"batch": "4"', "'batch' of the program: expected an integer"),
        ('"name": "ids"', '"name": "w"', "tensors[1].name: 'w' is also the name of tensors[0]"),
        ('"dtype": "i32"', '"dtype": "i33"', "tensors[1].dtype: expected one of f64"),
        ('"shape": [4]', '"shape": [-4]', "tensors[1].shape[0]: expected a whole number, 0 or more, found -4"),
        ('"inactive": [[2, 0]]', '"inactive": [[2]]', "tensors[0].inactive[0]: expected two whole numbers"),
        ('"inactive": [[2, 0]]', '"inactive": [[2, 7]]', "inactive periods of %w: 2..7 goes beyond the 2 kernels"),
        ('"my.tag"', '"tag"', "extra key 'tag' at tensors[2]"),
        ('"op": "alloc"', '"op": "aloc"', 'ops[0].op: expected the name of an op, found "aloc"\n'),
        (
            '"range": [0, 2048], "whole": true}',
            '"range": [0, 2047], "whole": true}',
            "ops[0].range: expected [0, 2048], the whole of tensors[2]",
        ),
        ('"range": [0, 4]', '"range": [0, 5]', "ops[6].range: expected bytes inside [0, 4] of tensors[3], found [0, 5]"),
        ('"range": [0, 4]', '"range": [0]', "ops[6].range: expected two numbers of bytes"),
        ('"to": "host", ', "", "ops[2]: missing key 'to'\n"),
        ('"reads": [2]', '"reads": [true]', "ops[3].reads[0]: expected the number of a tensor"),
        ('"reads": [2]', '"reads": 2', "ops[3].reads: expected a list of numbers of tensors, found 2"),
        ('"flops": 12', '"flops": 99999999999999999999', "ops[3].flops: expected a whole number of at most 64 bits"),
        ('"my.ratio": 1.0', '"my.ratio": 99999999999999999999', "'my.ratio' of kernel has no text: it is outside 64 bits"),
        ('"writes": [3]', '"writes": [3, 3]', "kernel writes %loss twice [rule operand-count]"),
    ],
)
def test_one_mistake(old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    assert message in refusal(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "plan.json: error: the file is empty, expected a plan (JSON)"),
        (" \n", "the file is empty"),
        ("g10c.ir 1\nprogram p\n", "plan.json:1:1: error: this is a program, not a plan (JSON)"),
        ('name = "box"\n', "plan.json:1:1: error: expected a plan: JSON that begins with '{'"),
        ("[]", "this is JSON, but not a plan"),
        ("{}", "this is JSON, but not a plan"),
        (TEXT[:1500], "not valid JSON: the text ends in the middle"),
        (TEXT.replace('"bound_ns": null,', '"bound_ns": null'), "plan.json:8:1: error: not valid JSON: expected ',' delimiter"),
        (TEXT + "{}", "not valid JSON: extra data"),
        (TEXT.replace("null", "NaN"), "plan.json:7:13: error: NaN is not a JSON number"),
        (TEXT.replace("null", "-Infinity"), "plan.json:7:13: error: -Infinity is not a JSON number"),
        (TEXT.replace("null", "1e999"), "plan.json:7:13: error: this number is too large"),
        (TEXT.replace("null", "9" * 10_000), "plan.json:7:13: error: not valid JSON: this number has too many digits"),
        (TEXT.replace('"bound_ns"', '"estimate_ns"'), 'plan.json:7:1: error: key "estimate_ns" occurs twice in this object'),
        (TEXT.replace("bert.ir", "\\ud800"), "plan.json:4:48: error: this string holds half of a surrogate pair"),
        (TEXT.replace('{"moves": 3}', "[" * 100_000 + "]" * 100_000), "nested too deeply"),
        (TEXT.replace('"my.ratio": 1.0', '"my.ratio": ' + "[" * 900 + "]" * 900), "nested"),
        (TEXT.replace('"my.ratio": 1.0', '"my.ratio": ' + "[" * 100 + "]" * 100), "lists are nested more than"),
    ],
)
def test_text_that_is_no_plan(text: str, message: str) -> None:
    assert message in refusal(text)


def test_all_irregularities_at_once() -> None:
    text = refusal(TEXT.replace("null", "NaN").replace('{"moves": 3}', '{"a": 1, "a": 2, "b": 1e999}'))
    assert text.count("error:") == 3


def test_surrogate_pairs_are_characters() -> None:
    assert parse_plan(TEXT.replace("bert.ir", "\\ud83d\\ude00")).provenance.input_name == "😀"


def test_the_verifier_cites_the_op() -> None:
    text = TEXT.replace('"reads": [1, 0]', '"reads": [3, 0]')
    assert refusal(text).startswith("plan.json: ops[1]: error: linear.forward reads the activation %loss before anything has written it")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += paths(item, (*path, key))
    return found


PATHS = paths(json.loads(TEXT))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PATHS), st.sampled_from(["replace", "delete", "rename", "add"]), JSON)
def test_no_change_of_a_value_raises_anything_else(path: tuple[Any, ...], how: str, value: Any) -> None:
    document = copy.deepcopy(json.loads(TEXT))
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    if how == "replace" or not isinstance(parent, dict):
        parent[path[-1]] = value
    elif how == "add":
        parent[f"{path[-1]}s"] = value
    else:
        content = parent.pop(path[-1])
        if how == "rename":
            parent[str(value)] = content
    check(json.dumps(document))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, 20), st.text(max_size=4) | st.sampled_from(list('{}[]",:0-.e\\')))
def test_no_change_of_text_raises_anything_else(start: int, length: int, middle: str) -> None:
    check(TEXT[:start] + middle + TEXT[start + length :])


def check(text: str) -> None:
    try:
        parse_plan(text, "plan.json")
    except InputError as refused:
        error = refused
    else:
        return
    assert error.diagnostics
    assert all(diagnostic.message for diagnostic in error.diagnostics)
    assert error.render()
