"""Versions, definitions and uses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.ir.def_use import DefUse, Version
from g10c.ir.program import Op, Program, Role, Tensor, directive

NAMES = ("w", "x", "y")
TENSORS = {name: Tensor(name, "f32", (1,), Role.WEIGHT) for name in NAMES}


def chains(*ops: Op) -> DefUse:
    return DefUse(Program("p", TENSORS, ops))


def test_by_hand() -> None:
    found = chains(
        Op("kernel", ("w", "w"), ("x",)),  # 0
        directive("evict", "w", "host"),  # 1
        Op("kernel", ("x", "w"), ("y", "x")),  # 2
        Op("kernel", ("w", "x"), ("w",)),  # 3
        directive("free", "x"),  # 4
        directive("evict", "w", "ssd"),  # 5
    )
    w0, w1, x0, x1, x2, y1 = Version("w", 0), Version("w", 1), Version("x", 0), Version("x", 1), Version("x", 2), Version("y", 1)
    assert [found.reads(i) for i in range(6)] == [(w0, w0), (), (x1, w0), (w0, x2), (), ()]
    assert [found.writes(i) for i in range(6)] == [(x1,), (), (y1, x2), (w1,), (), ()]
    assert [found.definition(v) for v in (w0, w1, x0, x1, x2, y1)] == [None, 3, None, 0, 2, 2]
    assert [found.uses(v) for v in (w0, w1, x0, x1, x2, y1)] == [(0, 2, 3), (), (), (2,), (3,), ()]
    assert [found.users(name) for name in NAMES] == [(0, 2, 3), (0, 2, 3), (2,)]
    assert [found.directives(name) for name in NAMES] == [(1, 5), (4,), ()]
    assert [found.producer(i, "x") for i in range(6)] == [None, 0, 0, 2, 2, 2]
    assert [found.last(name) for name in NAMES] == [w1, x2, y1]
    assert found.versions("x") == (x0, x1, x2)


def test_what_is_not_there() -> None:
    found = chains(Op("kernel", (), ("x",)))
    assert found.users("nothing") == found.directives("nothing") == ()
    assert found.versions("nothing") == (Version("nothing", 0),)
    assert found.uses(Version("x", 9)) == ()
    assert found.producer(0, "nothing") is None
    with pytest.raises(KeyError):
        found.definition(Version("x", 2))
    with pytest.raises(KeyError):
        found.definition(Version("nothing", 1))


operand_lists = st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)
random_ops = st.one_of(
    st.builds(Op, st.just("kernel"), operand_lists, operand_lists), st.builds(directive, st.just("free"), st.sampled_from(NAMES))
)


@given(st.lists(random_ops, max_size=12))
def test_against_the_definition(ops: list[Op]) -> None:
    """Each question answered by looking at all ops."""
    found, touching = chains(*ops), [op.name == "kernel" for op in ops]
    for name in NAMES:
        writers = [i for i, op in enumerate(ops) if touching[i] and name in op.writes]
        readers = [i for i, op in enumerate(ops) if touching[i] and name in op.reads]
        assert found.users(name) == tuple(sorted({*writers, *readers}))
        assert found.directives(name) == tuple(i for i, op in enumerate(ops) if not touching[i] and name in op.reads)
        assert [found.definition(version) for version in found.versions(name)] == [None, *writers]
        for version in found.versions(name):
            assert found.uses(version) == tuple(i for i in readers if sum(w < i for w in writers) == version.number)
        for i in range(len(ops)):
            assert found.producer(i, name) == max((w for w in writers if w < i), default=None)
    for i, op in enumerate(ops):
        assert [version.tensor for version in found.reads(i)] == (list(op.reads) if touching[i] else [])
        assert [found.definition(version) for version in found.writes(i)] == [i] * (len(set(op.writes)) if touching[i] else 0)
