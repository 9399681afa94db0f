"""The rules of the verifier: for each a program that breaks it and, beside it, one that does not."""

import math
import time
from dataclasses import replace

import pytest

from g10c.ir.errors import InputError
from g10c.ir.parser import parse_program
from g10c.ir.program import Level, Op, Program, Role, Tensor, directive
from g10c.ir.source import Origin
from g10c.ir.values import Ident, Range, Size, Time
from g10c.ir.verifier import RULES, check_program, verify

TENSORS = """
tensor %w : f32[4]  weight
tensor %m : f32[4]  optimizer
tensor %x : f32[4]  input
tensor %a : f32[4]  activation
tensor %g : f32[4]  gradient
tensor %s : f32[4]  workspace
"""


def mistakes(ops: str, attrs: str = "", level: Level | None = None, tensors: str = TENSORS) -> list[str]:
    """Mistakes as ``line:column message``, lines counted from the first op."""
    head = f"g10c.ir 1\nprogram p {attrs}{tensors}"
    lines = head.count("\n")
    found = []
    for diagnostic in verify(parse_program(head + ops, "t"), level):
        line, column = str(diagnostic.location).removeprefix("t:").split(":")
        found.append(f"{int(line) - lines}:{column} {diagnostic.message}")
    return found


def test_rules_are_named_and_told() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.doc.endswith(".") and rule.levels for rule in RULES)


LEGAL = """\
%a = relu.forward(%x)
%g = zero()
%g = linear.backward_weight(%g, %a, %x)
%g = linear.backward_weight(%g, %a)
%w, %m = apply_grad(%w, %m, %g)
"""


def test_a_legal_program() -> None:
    assert mistakes(LEGAL) == []
    check_program(parse_program("g10c.ir 1\nprogram p"))


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ("%g = relu.forward(%a)", ["1:19 relu.forward reads the activation %a before anything has written it"]),
        ("%a = relu.forward(%g)", ["1:19 relu.forward reads the gradient %g before anything has written it"]),
        ("%a = relu.forward(%s)", ["1:19 relu.forward reads the workspace %s before anything has written it"]),
        ("%g = accumulate(%g, %x)", ["1:17 accumulate reads the gradient %g before anything has written it"]),
        ("%g = relu.forward(%a)\n%g = relu.forward(%a)", ["1:19 relu.forward reads the activation %a before anything has written it"]),
        ("alloc(%a)\n%g = relu.forward(%a)", ["2:19 relu.forward reads the activation %a before anything has written it"]),
        ("%a = zero()\nfree(%a)\n%g = relu.forward(%a)", ["3:19 relu.forward reads %a after it was freed in line 10"]),
        ("%a = zero()\nfree(%a) {range = 0B..4B}\n%g = relu.forward(%a)", ["3:19 relu.forward reads %a after it was freed in line 10"]),
        ("%a = zero()\nfree(%a)\nalloc(%a)\n%g = relu.forward(%a)", ["4:19 relu.forward reads %a after it was freed in line 10"]),
        ("%a = zero()\nfree(%a)\nalloc(%a)\n%a = zero()\n%g = relu.forward(%a)", []),
        ("%a = zero()\nfree(%a)\n%a = zero()\n%g = relu.forward(%a)\nfree(%x)", []),
        ("%a = zero()\nevict(%a) {to = host}\nprefetch(%a) {from = host}\n%g = relu.forward(%a)", []),
    ],
)
def test_written_before_read(ops: str, expected: list[str]) -> None:
    assert mistakes(ops) == [f"{text} [rule written-before-read]" for text in expected]


def test_written_on_the_ranks_that_read() -> None:
    mesh = '{mesh = "pp=2"}'
    first = '%a = relu.forward(%x) {on = "pp:0"}\n'
    read = '%g = relu.forward(%a) {on = "pp:1"}\n'
    expected = ["2:19 relu.forward reads %a on ranks where nothing has written it [rule written-before-read]"]
    assert mistakes(first + read, mesh) == expected
    assert mistakes(first + "%g = relu.forward(%a)", mesh) == expected
    sent = 'send(%a) {on = "pp:0", to = "pp:1"}\n%a = recv() {on = "pp:1", from = "pp:0"}\n'
    assert mistakes(first + sent + read, mesh) == []
    assert mistakes(first + sent + "%g = relu.forward(%a)", mesh) == []


def test_persistent_tensors_are_kept() -> None:
    assert mistakes("free(%w)") == ["1:6 the weight %w is freed, and the next step needs it [rule persistent-kept]"]
    assert mistakes("free(%m)") == ["1:6 the optimizer %m is freed, and the next step needs it [rule persistent-kept]"]
    assert mistakes("free(%w)\n%w = zero()\nfree(%x)") == []
    mesh = '{mesh = "dp=2"}'
    assert mistakes('free(%w)\n%w = zero() {on = "dp:0"}', mesh) != []
    assert mistakes('free(%w)\n%w = zero() {on = "dp:0"}\n%w = zero() {on = "dp:1"}', mesh) == []


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ("0B..16B", ""),
        ("4B..5B", ""),
        ("0B..17B", "the range 0B..17B ends behind the tensor's 16B"),
        ("4B..4B", "expected a start of 0B or more below the end, found 4B..4B"),
        ("8B..4B", "expected a start of 0B or more below the end, found 8B..4B"),
        ("-8B..4B", "expected a start of 0B or more below the end, found -8B..4B"),
        ("0..16", "expected bytes with units, such as 0B..16B, found 0..16"),
    ],
)
def test_directive_ranges(span: str, problem: str) -> None:
    expected = [f"1:31 evict of %w: {problem} [rule directive-range]"] if problem else []
    assert mistakes(f"evict(%w)  {{to = ssd, range = {span}}}") == expected


@pytest.mark.parametrize(
    ("periods", "problem"),
    [
        ("[0..1, 2..0]", ""),
        ("[2..1]", ""),
        ("[0..3]", "0..3 goes beyond the 2 kernels"),
        ("[-1..1]", "-1..1 goes beyond the 2 kernels"),
        ("[1..1]", "1..1 holds no kernel"),
        ("[0B..1B]", "expected ranges of kernel numbers, such as 3..7, found 0B..1B"),
        ("[3]", "expected ranges of kernel numbers, such as 3..7, found 3"),
    ],
)
def test_inactive_periods(periods: str, problem: str) -> None:
    tensors = TENSORS + f"tensor %b : f32[1] activation {{inactive = {periods}}}\n"
    expected = [f"0:43 inactive periods of %b: {problem} [rule inactive-period]"] if problem else []
    assert mistakes("%a = zero()\n%a = zero()", tensors=tensors) == expected


@pytest.mark.parametrize(
    ("ops", "attrs", "expected"),
    [
        ("%g = zero()\n%g = all_reduce(%g) {over = dp, stream = comm}", '{mesh = "dp=2"}', []),
        ("", '{mesh = "dp=2,"}', ["-6:19 expected an axis and its number of ranks, found '' [rule mesh]"]),
        ("%w = all_reduce(%w) {over = tp}", '{mesh = "dp=2"}', ["1:29 'over' of all_reduce: the mesh has no axis 'tp' [rule rank]"]),
        ("%w = all_reduce(%w) {over = dp}", "", ["1:29 'over' of all_reduce: axis 'dp': the program has no mesh [rule rank]"]),
        ('%a = zero() {on = "pp:0"}', "", ["1:19 'on' of zero: axis 'pp': the program has no mesh [rule rank]"]),
        ('%a = zero() {on = "pp:2"}', '{mesh = "pp=2"}', ["1:19 'on' of zero: axis 'pp' has 2 ranks, there is no pp:2 [rule rank]"]),
        (
            'send(%w) {on = "pp:0", to = "pp=1"}',
            '{mesh = "pp=2"}',
            ["1:29 'to' of send: expected ranks as axis:number, found 'pp=1' [rule rank]"],
        ),
        ('send(%w) {on = "pp:0", to = "pp:0"}', '{mesh = "pp=2"}', ["1:29 send between 'pp:0' and itself [rule exchange]"]),
    ],
)
def test_ranks(ops: str, attrs: str, expected: list[str]) -> None:
    assert mistakes(ops, attrs) == expected


def test_levels() -> None:
    mesh, reduce, free = '{mesh = "dp=2"}', "%w = all_reduce(%w) {over = dp}\n", "free(%x)\n"
    assert mistakes(reduce + free, mesh) == []
    assert mistakes(reduce + free, mesh, Level.PARTITIONED) == ["2:1 a partitioned program holds no directive, found free [rule level]"]
    assert mistakes(reduce, mesh, Level.PARTITIONED) == []
    assert mistakes(reduce + free, mesh, Level.TRACED) == [
        "-6:19 a traced program has no mesh [rule level]",
        "1:1 a traced program holds no collective, found all_reduce [rule level]",
        "2:1 a traced program holds no directive, found free [rule level]",
    ]
    assert mistakes(LEGAL, level=Level.TRACED) == []


def built(*ops: Op, tensors: tuple[Tensor, ...] = (), **attrs: object) -> Program:
    declared = (Tensor("w", "f32", (4,), Role.WEIGHT, {}, Origin("row 7")), *tensors)
    return Program("p", {tensor.name: tensor for tensor in declared}, ops, attrs)  # type: ignore[arg-type]


def only(program: Program) -> str:
    (found,) = verify(program)
    return found.message


def nested(depth: int) -> tuple[object, ...]:
    return (nested(depth - 1),) if depth else ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.inf, "it is not finite"),
        (math.nan, "it is not finite"),
        (1 << 63, "it is outside 64 bits"),
        (Time(-(1 << 63)), "it is outside 64 bits"),
        (Size(1 << 63), "it is outside 64 bits"),
        (Ident("two words"), "'two words' is no word"),
        (Ident("true"), "'true' is no word"),
        (Ident(""), "'' is no word"),
        (Range(Size(0), 4), "its ends differ in type"),
        (Range(0, 1 << 63), "it is outside 64 bits"),
        (None, "NoneType is no type of a value"),
        ((1, [2]), "list is no type of a value"),
        (nested(40), "lists are nested more than 32 deep"),
    ],
)
def test_values_that_have_no_text(value: object, reason: str) -> None:
    assert only(built(own=value)) == f"'own' of the program has no text: {reason} [rule writable-attribute]"


def test_programs_that_were_not_read_from_text() -> None:
    good = built(Op("apply_grad", ("w",), ("w",)))
    check_program(good)
    assert only(replace(good, name="two words")) == "a program cannot be called 'two words' [rule legal-name]"
    assert only(replace(good, tensors={**good.tensors, "v": good.tensors["w"]})) == "tensor %w is listed as %v [rule legal-name]"
    assert only(built(tensors=(Tensor("%b", "f32", (1,), Role.INPUT),))) == "a tensor cannot be called '%b' [rule legal-name]"
    assert only(built(tensors=(Tensor("b", "f31", (1,), Role.INPUT),))) == "%b has the unknown data type 'f31' [rule tensor-type]"
    wrong = Tensor("b", "f32", (-1,), Role.INPUT)
    assert only(built(tensors=(wrong,))) == "%b has a dimension that is not an integer of 0 or more: (-1,) [rule tensor-type]"
    assert only(built(tensors=(Tensor("b", "f32", (1,), "wight"),))) == "%b has the unknown role 'wight' [rule tensor-type]"  # type: ignore[arg-type]
    assert only(built(Op("a (b", ("w",), ("w",)))) == "unknown op 'a (b' [rule declared-op]"
    assert only(built(directive("free", "v"))) == "tensor %v is not declared [rule declared-tensor]"
    assert only(replace(good, attrs={"two words": 1})) == "'two words' of the program is no name of an attribute [rule writable-attribute]"
    strings = built(Op("apply_grad", ("w",), ("w",), {"phase": "update"}))
    assert only(strings) == "'phase' of apply_grad: expected a word without quotes, found \"update\" [rule attribute-type]"
    assert verify(built(tensors=(Tensor("b", "f31", (1,), Role.INPUT, {}, Origin("row 7")),)))[0].render().startswith("row 7: error: ")


def test_check_raises_all() -> None:
    with pytest.raises(InputError) as caught:
        check_program(built(directive("free", "v"), Op("nothing")))
    assert len(caught.value.diagnostics) == 2


@pytest.mark.slow
def test_speed() -> None:
    """20,000 ops in less than 0.2 s of the processor's own time."""
    ops = [Op("add.forward", ("w", "w"), (f"t{i % 3000}",), {"time": Time(i), "phase": Ident("forward")}) for i in range(20_000)]
    program = built(*ops, tensors=tuple(Tensor(f"t{i}", "f32", (4,), Role.ACTIVATION) for i in range(3000)))
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        assert verify(program) == []
        best = min(best, time.process_time() - start)
    assert best < 0.2
