"""Programs and plans for tests: one by hand with something of everything, and random ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from g10c.ir.machine import Gpu, Host, Link, Machine
from g10c.ir.ops import PHASES, STREAMS
from g10c.ir.plan import Plan, Provenance
from g10c.ir.program import DTYPE_BYTES, Op, Program, Role, Tensor, directive
from g10c.ir.values import Ident, Range, Size, Time, Value

MACHINE = Machine("box", Gpu("A100", 1, 40 << 30, 1 << 30, 8.14e-4), Host(64 << 30), Link(25_000_000_000, 10), source=("a label",))


def tensors(*declared: Tensor) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in declared}


def small_program() -> Program:
    """A planned program of two kernels in which attributes of every type occur."""
    return Program(
        "bert/base",
        tensors(
            Tensor("w", "f32", (256, 768), Role.WEIGHT, {"inactive": (Range(2, 0),)}),
            Tensor("ids", "i32", (4,), Role.INPUT),
            Tensor("h.0", "bf16", (4, 256), Role.ACTIVATION, {"my.tag": (True, Ident("odd"), ())}),
            Tensor("loss", "f32", (), Role.ACTIVATION),
        ),
        (
            directive("alloc", "h.0"),
            Op("linear.forward", ("ids", "w"), ("h.0",), {"time": Time(197_632), "phase": Ident("forward"), "my.note": 'a "b" \n β'}),
            directive("evict", "w", "host", (0, 65_536)),
            Op(
                "kernel",
                ("h.0",),
                ("loss",),
                {
                    "kernel": "volta_sgemm",
                    "my.ratio": 1.0,
                    "my.size": Size(4096),
                    "time": Time(12_288),
                    "my.time": Time(-5),
                    "my.bytes": Range(Size(0), Size(64)),
                    "my.range": Range(3, 1),
                    "flops": 12,
                },
            ),
            directive("free", "h.0").with_attrs(stream=Ident("copy_out")),
            directive("prefetch", "w", "host", (0, 65_536)),
            directive("free", "loss", None, (0, 4)),
        ),
        {"batch": 4, "runtime": Ident("uvm"), "estimated_time": Time(300_000), "source": "hand"},
    )


def small_plan() -> Plan:
    return Plan(
        small_program(), MACHINE, "vitality,migrate{solver=greedy}", Provenance("1.2", "bert.ir", "0f" * 32), 300_000, None, {"moves": 3}
    )


INT64 = st.integers(1 - (1 << 63), (1 << 63) - 1)
COUNTS = st.integers(0, (1 << 63) - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.from_regex(r"\A\w([\w.\-/:]{0,6}\w)?\Z")
WORDS = st.from_regex(r"\A[^\W\d]([\w.\-/:]{0,4}\w)?\Z").filter(lambda word: word not in ("true", "false"))
OWN_KEYS = st.from_regex(r"\A[a-z]{1,2}\.[a-z]{1,2}\Z")
SCALARS = st.one_of(
    st.booleans(),
    INT64,
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
    WORDS.map(Ident),
    INT64.map(Time),
    INT64.map(Size),
    st.builds(Range, INT64, INT64),
    st.builds(Range, INT64.map(Size), INT64.map(Size)),
)
VALUES: st.SearchStrategy[Value] = st.recursive(SCALARS, lambda items: st.lists(items, max_size=3).map(tuple), max_leaves=6)


def shuffled(draw: st.DrawFn, attrs: dict[str, Value]) -> dict[str, Value]:
    return {key: attrs[key] for key in draw(st.permutations(sorted(attrs)))}


@st.composite
def some_attrs(draw: st.DrawFn, declared: dict[str, st.SearchStrategy[Any]]) -> dict[str, Value]:
    """Some of the declared attributes and some of the user's own, in any order."""
    attrs: dict[str, Value] = {key: draw(values) for key, values in declared.items() if draw(st.booleans())}
    attrs.update(draw(st.dictionaries(OWN_KEYS, VALUES, max_size=2)))
    return shuffled(draw, attrs)


PLACEMENT: dict[str, st.SearchStrategy[Any]] = {"stream": st.sampled_from(STREAMS).map(Ident)}
KERNEL: dict[str, st.SearchStrategy[Any]] = {
    "time": COUNTS.map(Time),
    "all_fault_time": COUNTS.map(Time),
    "phase": st.sampled_from(PHASES).map(Ident),
    "flops": COUNTS,
    "kernel": TEXTS,
    "layer": TEXTS,
    "microbatch": st.integers(0, 8),
    **PLACEMENT,
}


@st.composite
def ops(draw: st.DrawFn, declared: list[Tensor]) -> Op:
    kind = draw(st.sampled_from(["kernel", "alloc", "evict", "prefetch"]))
    names = [tensor.name for tensor in declared]
    if kind == "kernel" or not declared:
        reads = st.lists(st.sampled_from(names), max_size=3).map(tuple) if names else st.just(())
        writes = reads.map(lambda chosen: tuple(dict.fromkeys(chosen)))
        return Op("kernel", draw(reads), draw(writes), draw(some_attrs(KERNEL)))
    tensor = draw(st.sampled_from(declared))
    attrs = draw(some_attrs(PLACEMENT))
    if kind != "alloc":
        attrs["to" if kind == "evict" else "from"] = Ident(draw(st.sampled_from(["host", "ssd"])))
    if tensor.size_bytes and draw(st.booleans()):
        start = draw(st.integers(0, tensor.size_bytes - 1))
        attrs["range"] = Range(Size(start), Size(draw(st.integers(start + 1, tensor.size_bytes))))
    return Op(kind, (tensor.name,), (), shuffled(draw, attrs))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    roles = st.sampled_from([Role.WEIGHT, Role.OPTIMIZER, Role.INPUT])
    shapes = st.lists(st.integers(0, 1 << 15), max_size=3).map(tuple)
    declared = [Tensor(name, draw(st.sampled_from(sorted(DTYPE_BYTES))), draw(shapes), draw(roles), draw(some_attrs({}))) for name in names]
    body = draw(st.lists(ops(declared), max_size=5))
    attrs = draw(st.dictionaries(OWN_KEYS, VALUES, max_size=2)) | {"batch": draw(COUNTS), "runtime": Ident("uvm")}
    return Program(draw(NAMES), tensors(*declared), tuple(body), shuffled(draw, attrs))


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda items: st.lists(items, max_size=3) | st.dictionaries(TEXTS, items, max_size=3),
    max_leaves=6,
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    return Plan(
        draw(programs()),
        MACHINE,
        draw(TEXTS),
        Provenance(draw(TEXTS), draw(TEXTS), draw(st.sampled_from(["", "ab" * 32]))),
        draw(st.none() | COUNTS),
        draw(st.none() | COUNTS),
        draw(st.dictionaries(TEXTS, JSON, max_size=2)),
    )
