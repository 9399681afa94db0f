"""Text to programs: what each form of a statement and of a value means."""

from collections.abc import Callable
from pathlib import Path

import pytest

from g10c.ir.parser import load_program, parse_program
from g10c.ir.program import Level, Role
from g10c.ir.source import Span
from g10c.ir.values import Ident, Range, Size, Time

TEXT = """\
# a comment before the first line

g10c.ir 1
program tiny/net.v2 {batch = 256, source = "builder:transformer"}   # one step

tensor %wte : f32[30522, 768]     weight
tensor %layer.0/attn:q:bf16[]  activation {inactive = [1..2, 2..1]}
tensor %empty : u8[ 0 ,3 ] workspace

%layer.0/attn:q = gather.forward( %wte ,%wte)  {time = 197.632us, phase = forward}
    evict(%layer.0/attn:q)  {to = host, range = 0B..1B}
tensor %late : i64[2] gradient
%late , %empty= kernel() {kernel="x # y } \\" \\\\ \\n\\t\\r\\u{1F600}", my.tag = 3}  # the end"""


def attribute(text: str) -> object:
    return parse_program(f"g10c.ir 1\nprogram x {{a = {text}}}").attrs["a"]


def test_statements() -> None:
    program = parse_program(TEXT.replace("q:bf16", "q : bf16"))
    assert program.name == "tiny/net.v2"
    assert dict(program.attrs) == {"batch": 256, "source": "builder:transformer"}
    assert list(program.tensors) == ["wte", "layer.0/attn:q", "empty", "late"]
    wte, q, empty, _ = program.tensors.values()
    assert (wte.dtype, wte.shape, wte.role, wte.size_bytes) == ("f32", (30522, 768), Role.WEIGHT, 30522 * 768 * 4)
    assert (q.shape, q.size_bytes, q.attrs["inactive"]) == ((), 2, (Range(1, 2), Range(2, 1)))
    assert (empty.shape, empty.size_bytes) == ((0, 3), 0)
    gather, evict, kernel = program.ops
    assert (gather.name, gather.reads, gather.writes) == ("gather.forward", ("wte", "wte"), ("layer.0/attn:q",))
    assert (gather.time_ns, gather.attrs["phase"]) == (197_632, "forward")
    assert (evict.reads, evict.writes, evict.attrs["range"]) == (("layer.0/attn:q",), (), Range(Size(0), Size(1)))
    assert (kernel.reads, kernel.writes) == ((), ("late", "empty"))
    assert kernel.attrs["kernel"] == 'x # y } " \\ \n\t\r\U0001f600'
    assert program.level is Level.PLANNED


def test_spans_hold_the_statement() -> None:
    program = parse_program(TEXT.replace("q:bf16", "q : bf16"), "a.ir")
    spans = [program.location, program.tensors["wte"].location, program.ops[0].location, program.ops[1].location]
    assert [str(span) for span in spans] == ["a.ir:4:1", "a.ir:6:1", "a.ir:10:1", "a.ir:11:5"]
    last = program.ops[1].location
    assert isinstance(last, Span)
    assert last.text == "evict(%layer.0/attn:q)  {to = host, range = 0B..1B}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("3", 3),
        ("-3", -3),
        ("1_000", 1000),
        ("9223372036854775807", 2**63 - 1),
        ("3.5", 3.5),
        ("-1e-300", -1e-300),
        ("1e5", 1e5),
        ("host", Ident("host")),
        ("trueish", Ident("trueish")),
        ("pp:0", Ident("pp:0")),
        ('"host"', "host"),
        ('""', ""),
        ("197.632us", Time(197_632)),
        ("-5ns", Time(-5)),
        ("1.5s", Time(1_500_000_000)),
        ("0ns", Time(0)),
        ("64MiB", Size(64 << 20)),
        ("1.5KB", Size(1500)),
        ("0B..64MiB", Range(Size(0), Size(64 << 20))),
        ("7..3", Range(7, 3)),
        ("[]", ()),
        ('[1, [2us, "a, ]"],x ]', (1, (Time(2000), "a, ]"), Ident("x"))),
    ],
)
def test_values(text: str, value: object) -> None:
    found = attribute(text)
    assert found == value
    assert type(found) is type(value)


def test_types_inside_ranges_and_lists() -> None:
    sizes, items = attribute("1B..2B"), attribute("[1us, 1B, 1, x]")
    assert isinstance(sizes, Range)
    assert type(sizes.start) is Size
    assert isinstance(items, tuple)
    assert [type(item) for item in items] == [Time, Size, int, Ident]


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: t.replace("\n", "\r"), lambda t: "\ufeff" + t, lambda t: t + "\n\n# x"]
)
def test_line_ends_and_marks(change: Callable[[str], str]) -> None:
    text = "g10c.ir 1\nprogram x\ntensor %a : f32[2]  weight\n%a = apply_grad(%a)\n"
    program = parse_program(change(text))
    assert [op.name for op in program.ops] == ["apply_grad"]


def test_attributes_of_empty_braces() -> None:
    assert parse_program("g10c.ir 1\nprogram x {}\n").attrs == {}


def test_long_lines() -> None:
    names = [f"%t{i}" for i in range(5_000)]
    text = "g10c.ir 1\nprogram x\n" + "".join(f"tensor {name} : f32[1] input\n" for name in names)
    text += f"tensor %o : f32[1] activation\n%o = concat.forward({', '.join(names)}) {{my.list = [{', '.join('1' * 5_000)}]}}"
    op = parse_program(text).ops[0]
    assert len(op.reads) == 5_000
    assert op.attrs["my.list"] == (1,) * 5_000


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "a.ir"
    path.write_bytes(b"\xef\xbb\xbfg10c.ir 1\r\nprogram a\r\n")
    assert load_program(path).name == "a"
    assert str(load_program(str(path)).location) == f"{path}:2:1"
