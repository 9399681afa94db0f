from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from g10c.backends.direct.extents import Place, count, move, whole

SIZE = 12
SPANS = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(sorted)
CHANGES = st.lists(st.tuples(SPANS, st.dictionaries(st.sampled_from(Place), st.sampled_from(Place))), max_size=6)


@given(CHANGES, SPANS)
def test_extents_agree_with_a_place_for_every_byte(changes, asked):
    extents, places = whole(SIZE, Place.ABSENT), [Place.ABSENT] * SIZE
    for (start, end), to in changes:
        extents = move(extents, start, end, to)
        places[start:end] = [to.get(place, place) for place in places[start:end]]
    assert [place for start, end, place in extents for _ in range(start, end)] == places
    assert all(one[2] is not two[2] for one, two in pairwise(extents)), "neighbours are joined"
    assert count(extents, *asked) == Counter(places[asked[0] : asked[1]])


def test_a_tensor_without_bytes_has_no_extents():
    assert whole(0, Place.GPU) == move((), 0, 0, {Place.GPU: Place.HOST}) == ()
