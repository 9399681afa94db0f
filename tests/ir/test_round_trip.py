"""Printing and parsing are inverse: canonical text, values with their types, and no text that ends in anything but a message."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import g10c.ir.syntax
from g10c.ir.errors import InputError, InternalError
from g10c.ir.names import NAME_PATTERN, is_name, is_word, safe_name
from g10c.ir.parser import parse_program
from g10c.ir.printer import print_program
from g10c.ir.program import DTYPE_BYTES, Op, Program, Role, Tensor, directive
from g10c.ir.values import Ident, Range, Size, Time, Value
from g10c.ir.verifier import verify_form

CANONICAL = """\
g10c.ir 1
program bert_base {batch = 256, source = "builder:transformer"}

tensor %wte : f32[30522, 768]  weight
tensor %ids : i32[256, 128]  input
tensor %h0 : f32[256, 128, 768]  activation  {inactive = [3..7]}
tensor %loss : f32[]  activation

%h0 = gather.forward(%wte, %ids)  {time = 197.632us, phase = forward}
alloc(%h0)
evict(%h0)  {to = host, range = 0B..64MiB}
%h0, %loss = fused()
"""


def test_canonical_text_stays() -> None:
    assert print_program(parse_program(CANONICAL)) == CANONICAL


def test_program_without_tensors_and_ops() -> None:
    assert print_program(Program("x", {}, ())) == "g10c.ir 1\nprogram x\n"
    assert print_program(parse_program("g10c.ir 1\nprogram x\n")) == "g10c.ir 1\nprogram x\n"


def test_a_value_without_text_is_no_silent_number() -> None:
    with pytest.raises(InternalError, match="finite"):
        print_program(Program("x", {}, (), {"a": float("inf")}))


names = st.from_regex(re.compile(NAME_PATTERN), fullmatch=True).filter(lambda name: len(name) < 30)
words = names.filter(is_word)
numbers = st.integers(-(2**63) + 1, 2**63 - 1)
scalars = st.one_of(
    st.booleans(),
    numbers,
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    words.map(Ident),
    numbers.map(Time),
    numbers.map(Size),
    st.builds(Range, numbers, numbers),
    st.builds(lambda a, b: Range(Size(a), Size(b)), numbers, numbers),
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
own_attrs = st.dictionaries(words.map(lambda word: f"my.{word}"), values, max_size=3)
tensors = st.builds(
    Tensor,
    names,
    st.sampled_from(sorted(DTYPE_BYTES)),
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
    st.sampled_from(Role),
    own_attrs,
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    declared = {tensor.name: tensor for tensor in draw(st.lists(tensors, min_size=1, max_size=4))}
    some = st.lists(st.sampled_from(sorted(declared)), min_size=1, max_size=3).map(tuple)
    one = st.sampled_from(sorted(declared))
    most = min(3, len(declared))
    few, none = st.lists(one, min_size=1, max_size=most, unique=True).map(tuple), st.just(())
    ops = st.one_of(
        st.builds(Op, st.just("kernel"), some, few | none, own_attrs),
        st.builds(Op, st.sampled_from(["add.forward", "fused"]), some, few, own_attrs),
        st.builds(directive, st.just("evict"), one, st.just("ssd"), st.none() | st.just((0, 4096))),
    )
    return Program(draw(names), declared, tuple(draw(st.lists(ops, max_size=4))), draw(own_attrs))


def same(left: Value, right: Value) -> bool:
    """Equal, and of the same type all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Range) and isinstance(right, Range):
        return same(left.start, right.start) and same(left.end, right.end)
    return repr(left) == repr(right) if isinstance(left, float) else left == right


def same_attrs(left: Program | Tensor | Op, right: Program | Tensor | Op) -> bool:
    return list(left.attrs) == list(right.attrs) and all(same(left.attrs[key], right.attrs[key]) for key in left.attrs)


@given(programs())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_round_trip(program: Program) -> None:
    assert verify_form(program) == []
    text = print_program(program)
    again = parse_program(text)
    assert print_program(again) == text
    assert again.name == program.name
    assert same_attrs(again, program)
    for read, tensor in zip(again.tensors.values(), program.tensors.values(), strict=True):
        assert (read.name, read.dtype, read.shape, read.role) == (tensor.name, tensor.dtype, tensor.shape, tensor.role)
        assert same_attrs(read, tensor)
    for found, op in zip(again.ops, program.ops, strict=True):
        assert (found.name, found.reads, found.writes) == (op.name, op.reads, op.writes)
        assert same_attrs(found, op)


def parses_or_says_why(text: str) -> None:
    try:
        program = parse_program(text)
    except InputError:
        return
    assert print_program(parse_program(print_program(program))) == print_program(program)


PIECES = [
    *("{", "}", "(", ")", "[", "]", '"', "\\", "%", "=", ",", "..", ":", "#", "-", "true", "tensor", "program", "g10c.ir"),
    *("\n", "\r\n", " ", "\t", "\0", "\u00a0", "\ud800", "\U0001f600", "\u2028", "\x0b"),
    *("1e999", "9" * 50, "1e9999999s", "[" * 40, "0B.."),
]


@given(st.lists(st.tuples(st.integers(0, len(CANONICAL)), st.integers(0, 12), st.sampled_from(PIECES) | st.text(max_size=4)), max_size=4))
@settings(max_examples=400, deadline=None)
def test_mutated_texts(edits: list[tuple[int, int, str]]) -> None:
    text = CANONICAL
    for start, length, new in edits:
        text = text[:start] + new + text[start + length :]
    parses_or_says_why(text)


@given(st.text())
@example("[" * 100_000)
@example("{" + "[" * 100_000)
@example('"' * 50_001)
@example("x = {" * 20_000)
@settings(max_examples=100, deadline=None)
def test_any_statement(text: str) -> None:
    for line in (text, f"%a = fused() {{{text}}}", f"%a = fused({text})", f"tensor %b : f32[{text}] input", f"{text} = fused()"):
        parses_or_says_why(f"g10c.ir 1\nprogram x\ntensor %a : f32[2] input\n{line}\n")


def test_grammar_and_printer_mean_the_same_names() -> None:
    grammar = Path(g10c.ir.syntax.__file__).with_name("grammar.lark").read_text()
    pattern = NAME_PATTERN.replace("/", r"\/")
    assert f"\nNAME: /{pattern}/\n" in grammar
    assert f"\nREFERENCE: /%{pattern}/\n" in grammar


@given(st.text())
def test_safe_names_are_names(text: str) -> None:
    assert is_name(safe_name(text))
    if is_name(text):
        assert safe_name(text) == text


@pytest.mark.parametrize(
    ("text", "name"), [("a b", "a_b"), ("/x/", "x"), ("", "_"), ("...", "_"), ("aten::add", "aten::add"), ("a.(1)", "a._1_")]
)
def test_safe_name(text: str, name: str) -> None:
    assert safe_name(text) == name


@pytest.mark.slow
def test_speed() -> None:
    """At least 0.8 MB a second with spans, of the processor's own time."""
    tensors = "".join(f"tensor %h{i} : f32[256, 128, 768]  activation\n" for i in range(2000))
    ops = "".join(
        f"%h{i % 2000} = linear.forward(%h{(i + 7) % 2000}, %h{i % 99})  {{time = {i}.632us, phase = forward}}\n" for i in range(10_000)
    )
    text = f"g10c.ir 1\nprogram big\n{tensors}{ops}"
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        parse_program(text)
        best = max(best, len(text) / (time.process_time() - start))
    assert best >= 0.8e6
