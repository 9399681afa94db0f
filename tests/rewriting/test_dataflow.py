"""Versions, definitions and uses, also while the program is edited."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from g10c.compiler.rewriting.dataflow import Dataflow, Version
from g10c.compiler.rewriting.rewriter import Rewriter
from g10c.compiler.rewriting.sequence import Sequence
from g10c.ir.program import Op, Program, Role, Tensor, directive

NAMES = ("w", "x", "y")
TENSORS = {name: Tensor(name, "f32", (1,), Role.WEIGHT) for name in NAMES}


def test_by_hand() -> None:
    sequence = Sequence(
        [
            Op("kernel", ("w", "w"), ("x",)),  # 0
            directive("evict", "w", "host"),  # 1
            Op("kernel", ("x", "w"), ("y", "x")),  # 2
            Op("kernel", ("w", "x"), ("w",)),  # 3
            directive("free", "x"),  # 4
        ]
    )
    flow, places = Dataflow(sequence), list(sequence)
    w0, w1, x0, x1, x2 = Version("w", None), Version("w", places[3]), Version("x", None), Version("x", places[0]), Version("x", places[2])
    y1 = Version("y", places[2])
    assert [flow.reads(place) for place in places] == [(w0, w0), (w0,), (x1, w0), (w0, x2), (x2,)]
    assert [flow.writes(place) for place in places] == [(x1,), (), (y1, x2), (w1,), ()]
    numbers = {place: number for number, place in enumerate(places)}
    assert [[numbers[place] for place in flow.uses(v)] for v in (w0, w1, x0, x1, x2, y1)] == [[0, 2, 3], [], [], [2], [3], []]
    assert [flow.count_uses(v) for v in (w0, w1, x0, x1, x2, y1)] == [3, 0, 0, 1, 1, 0]
    assert [flow.next_write(v) for v in (w0, w1, x0, x1, x2, y1)] == [places[3], None, places[0], places[2], None, None]
    assert [[numbers[place] for place in flow.directives(name)] for name in NAMES] == [[1], [4], []]
    assert [flow.last(name) for name in NAMES] == [w1, x2, y1]
    assert flow.versions("x") == [x0, x1, x2]
    assert [numbers[place] for place in flow.named("kernel")] == [0, 2, 3]
    assert (flow.next_named("kernel", places[0]), flow.previous_named("kernel", places[2])) == (places[2], places[0])
    assert (flow.next_named("kernel", places[3]), flow.previous_named("kernel", places[0])) == (None, None)
    assert flow.touched("y")
    assert not flow.touched("nothing")


operand_lists = st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)
result_lists = st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple)
random_ops = st.one_of(
    st.builds(Op, st.just("kernel"), operand_lists, result_lists),
    st.builds(directive, st.just("free"), st.sampled_from(NAMES)),
)


@given(st.lists(random_ops, max_size=12))
def test_against_the_definition(ops: list[Op]) -> None:
    """Each question answered by looking at all ops."""
    sequence = Sequence(ops)
    flow, places = Dataflow(sequence), list(sequence)
    kernels = [place for place in places if place.op.name == "kernel"]
    for name in NAMES:
        writers = [place for place in kernels if name in place.op.writes]
        readers = [place for place in kernels if name in place.op.reads]
        assert flow.readers(name) == readers
        assert flow.writers(name) == writers
        assert flow.directives(name) == [place for place in places if place.op.name == "free" and name in place.op.reads]
        for number, version in enumerate(flow.versions(name)):
            found = [place for place in readers if sum(one.order < place.order for one in writers) == number]
            assert flow.uses(version) == found
            assert flow.count_uses(version) == len(found)
        for place in places:
            before = [one for one in writers if one.order < place.order]
            assert flow.found(place, name) == Version(name, before[-1] if before else None)


edits = st.lists(
    st.tuples(st.sampled_from(("before", "after", "replace", "erase", "exchange", "append")), st.integers(0, 30), random_ops), max_size=40
)


@settings(max_examples=200)
@given(st.lists(random_ops, min_size=1, max_size=6), edits)
def test_edits_keep_it_true(ops: list[Op], wanted: list[tuple[str, int, Op]]) -> None:
    """After any edits the dataflow is that of the finished program, and the ops stand where a list would have them."""
    program = Program("p", TENSORS, tuple(ops))
    rewriter = Rewriter(program)
    assert rewriter.flow.names() is not None
    expected = list(rewriter.sequence)
    for kind, number, op in wanted:
        if not expected:
            break
        place = expected[number % len(expected)]
        at = expected.index(place)
        if kind == "before":
            expected[at:at] = rewriter.insert_before(place.op, op)
        elif kind == "append":
            expected += rewriter.append(op)
        elif kind == "replace":
            expected[at : at + 1] = rewriter.replace(place.op, op, replace(op))
        elif kind == "erase":
            rewriter.erase(place.op)
            del expected[at]
        elif kind == "exchange":
            rewriter.exchange(place, replace(op))
        else:
            expected.insert(at + 1, rewriter.insert(place.behind, op))
    assert list(rewriter.sequence) == expected
    assert [place.op for place in expected] == list(rewriter.finish().ops)
    fresh = Dataflow(rewriter.sequence)
    for name in NAMES:
        assert rewriter.flow.readers(name) == fresh.readers(name)
        assert rewriter.flow.writers(name) == fresh.writers(name)
        assert rewriter.flow.directives(name) == fresh.directives(name)
    assert [rewriter.flow.named(name) for name in ("kernel", "free")] == [fresh.named(name) for name in ("kernel", "free")]


def test_many_insertions_in_one_spot():
    ops = [Op("kernel", (), ("x",)), Op("kernel", ("x",), ("y",))]
    rewriter = Rewriter(Program("p", TENSORS, tuple(ops)))
    assert rewriter.flow.writers("x")
    new = [Op("kernel", (), ("w",)) for _ in range(500)]
    for op in new:
        rewriter.insert_before(ops[1], op)
    assert list(rewriter.finish().ops) == [ops[0], *new, ops[1]]
    assert [place.op for place in rewriter.flow.writers("w")] == new


def test_an_op_that_stands_in_two_places():
    op = Op("kernel", (), ("x",))
    rewriter = Rewriter(Program("p", TENSORS, (op, op)))
    rewriter.erase(op)
    assert [one.writes for one in rewriter.finish().ops] == [("x",)]
