"""Plans: the exact text of a small one, the way back, and what random ones show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from plan.plan_programs import MACHINE, plans, small_plan, small_program, tensors

from g10c.ir.errors import InputError, InternalError
from g10c.ir.plan import Plan, load_plan, parse_plan, plan_to_json
from g10c.ir.printer import print_program
from g10c.ir.program import Op, Program, Role, Tensor, directive
from g10c.ir.source import Origin
from g10c.ir.values import Ident, Range, Size, Time
from g10c.ir.verifier import verify

SMALL_TEXT = (Path(__file__).parent / "small_plan.json").read_text(encoding="utf-8")


def assert_same(read: Plan, plan: Plan) -> None:
    assert print_program(read.program) == print_program(plan.program)
    for found, wanted in zip(
        (*read.program.tensors.values(), *read.program.ops), (*plan.program.tensors.values(), *plan.program.ops), strict=True
    ):
        assert list(map(repr, found.attrs.items())) == list(map(repr, wanted.attrs.items()))
        assert list(map(type, found.attrs.values())) == list(map(type, wanted.attrs.values()))
    assert (read.machine, read.pipeline, read.provenance) == (plan.machine, plan.pipeline, plan.provenance)
    assert (read.estimate_ns, read.bound_ns, read.statistics) == (plan.estimate_ns, plan.bound_ns, plan.statistics)


def test_exact_text() -> None:
    assert verify(small_program()) == []
    assert plan_to_json(small_plan()) == SMALL_TEXT


def test_way_back() -> None:
    read = parse_plan(SMALL_TEXT, "plan.json")
    assert_same(read, small_plan())
    assert read.program.ops[1].attrs == {"time": Time(197_632), "phase": Ident("forward"), "my.note": 'a "b" \n β'}
    assert read.program.ops[2].attrs == {"to": Ident("host"), "range": Range(Size(0), Size(65_536))}
    assert read.program.ops[4].attrs == {"stream": Ident("copy_out")}
    assert type(read.program.ops[3].attrs["my.ratio"]) is float


def test_ops_and_tensors_cite_their_place() -> None:
    program = parse_plan(SMALL_TEXT, "plan.json").program
    assert program.ops[2].location == Origin("plan.json: ops[2]")
    assert program.tensors["ids"].location == Origin("plan.json: tensors[1]")


def test_readable_by_any_json_reader() -> None:
    data = json.loads(plan_to_json(small_plan()))
    moves = [(op["op"], data["tensors"][op["tensor"]]["name"], op["range"]) for op in data["ops"] if "tensor" in op]
    assert moves[1] == ("evict", "w", [0, 65_536])
    assert moves[2] == ("free", "h.0", [0, 2048])


def test_empty_program() -> None:
    plan = Plan(Program("nothing", {}, ()), MACHINE)
    assert_same(parse_plan(plan_to_json(plan)), plan)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(SMALL_TEXT, encoding="utf-8")
    assert_same(load_plan(path), small_plan())
    with pytest.raises(InputError, match=r"no such file\n  help: did you mean 'plan\.json'\?"):
        load_plan(tmp_path / "plan.jsn")
    with pytest.raises(InputError, match="this is a folder, expected a plan"):
        load_plan(tmp_path)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (Op("kernel", (), (), {"time": 5}), "op 0 (kernel) has no form in a plan: expected Time, found int"),
        (Op("kernel", (), (), {"phase": Ident("forwrd")}), "expected Ident"),
        (Op("kernel", (), (), {"tag": 5}), "no such attribute is declared"),
        (Op("kernel", (), (), {"my.x": 1 << 63}), "it is outside 64 bits"),
        (Op("kernel", (), (), {"my.x": float("nan")}), "it is not finite"),
        (Op("kernel", (), (), {"my.x": Range(Size(1), 2)}), "the ends of a range differ in type"),
        (Op("kernel", ("y",), ()), "has no form in a plan: 'y'"),
        (Op("alloc", (), ()), "op 0 (alloc) has no form in a plan"),
        (directive("free", "x").with_attrs(range=Range(0, 4)), "its range is not one of bytes"),
    ],
)
def test_programs_that_the_verifier_refuses_are_not_written(op: Op, message: str) -> None:
    program = Program("p", tensors(Tensor("x", "f32", (1,), Role.INPUT)), (op,))
    assert verify(program)
    with pytest.raises(InputError) as caught:
        plan_to_json(Plan(program, MACHINE))
    assert message in caught.value.render()


def test_statistics_without_a_form_in_json_are_an_error_of_the_pass() -> None:
    with pytest.raises(InternalError, match="has no form in JSON"):
        plan_to_json(Plan(Program("p", {}, ()), MACHINE, statistics={"x": float("nan")}))


@settings(max_examples=150, deadline=None)
@given(plans())
def test_round_trip(plan: Plan) -> None:
    text = plan_to_json(plan)
    assert verify(plan.program) == []
    read = parse_plan(text)
    assert_same(read, plan)
    assert plan_to_json(read) == text
