"""Pieces of a range, against a list of cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from g10c.backends.pool.space import Space

SIZE = 24


def first_fit(cells: list[bool], size: int, upper: bool) -> tuple[int, int] | None:
    """The lowest, or highest, run of free cells that is large enough, from its outer end."""
    places = range(SIZE - size + 1)
    for start in reversed(places) if upper else places:
        if not any(cells[start : start + size]):
            return start, start + size
    return None


@given(st.lists(st.one_of(st.tuples(st.integers(0, 12), st.booleans()), st.integers(0, 30)), max_size=40))
def test_pieces_are_those_of_first_fit(actions):
    space, cells, held = Space(SIZE), [False] * SIZE, []
    for action in actions:
        if isinstance(action, tuple):
            size, upper = action
            found = space.take(size, upper=upper)
            if not size:
                assert found == (0, 0)
                continue
            assert found == first_fit(cells, size, upper)
            if found:
                held.append(found)
                cells[found[0] : found[1]] = [True] * size
        elif held:
            piece = held.pop(action % len(held))
            space.give(piece)
            cells[piece[0] : piece[1]] = [False] * (piece[1] - piece[0])
        assert space.free == cells.count(False)
        runs = "".join("x" if taken else "." for taken in cells).split("x")
        assert space.largest_hole == max(map(len, runs))


def test_nothing_has_no_holes():
    space = Space(0)
    assert space.take(1) is None
    assert space.largest_hole == 0
