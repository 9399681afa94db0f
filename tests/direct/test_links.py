from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.backends.direct.links import SharedLink, max_min_rates
from g10c.backends.engine import Engine
from g10c.ir.errors import InternalError


def arrivals(bandwidth: int, flows: list[tuple[int, int, int]]) -> list[int]:
    """End of each flow; a flow is (start, bytes, its own bandwidth)."""
    engine = Engine()
    link = SharedLink(engine, bandwidth)
    ends = [0] * len(flows)

    def begin(number):
        _, size, cap = flows[number]
        link.start(size, cap, lambda: ends.__setitem__(number, engine.now_ns))

    for number, (start, _, _) in enumerate(flows):
        engine.schedule(start, 0, lambda number=number: begin(number))
    engine.run()
    return ends


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=5), st.integers(1, 3000))
def test_rates_are_max_min_fair(caps, capacity):
    scale = math.lcm(*range(1, len(caps) + 1))
    rates = [Fraction(rate, scale) for rate in max_min_rates(capacity * scale, [cap * scale for cap in caps])]
    assert sum(rates) == min(capacity, sum(caps))
    for rate, cap in zip(rates, caps, strict=True):
        assert 0 < rate <= cap
        assert rate == cap or rate == max(rates), "a flow below its cap has no less than any other"


def test_a_flow_alone_has_the_lesser_of_both_bandwidths_and_ends_on_a_whole_nanosecond():
    assert arrivals(3 * 10**9, [(7, 10, 10**10)]) == [7 + 4]
    assert arrivals(10**10, [(0, 10, 3 * 10**9)]) == [4]


def test_two_flows_share_until_one_ends():
    assert arrivals(10**9, [(0, 100, 10**9), (0, 50, 10**9)]) == [150, 100]
    assert arrivals(10**9, [(0, 100, 10**9), (0, 100, 10**9 // 4)]) == [134, 400], "100 bytes at 3/4, the other never has more than 1/4"
    assert arrivals(10**9, [(0, 100, 10**9), (40, 30, 10**9)]) == [130, 100]


def test_many_changes_of_rate_do_not_add_up_to_an_error():
    short = [(start, 1, 10**9) for start in range(10, 10_000, 10)]
    ends = arrivals(10**9, [(0, 20_000, 10**9), *short])
    assert ends[0] == 20_000 + len(short)
    assert ends[1:] == [start + 2 for start, _, _ in short]


def test_more_flows_than_the_link_is_made_for_are_refused():
    link = SharedLink(Engine(), 10**9, flows=1)
    link.start(1, 1, lambda: None)
    with pytest.raises(InternalError, match="more than 1 flows"):
        link.start(1, 1, lambda: None)


def test_sent_bytes_are_whole_bytes_that_have_arrived():
    engine = Engine()
    link = SharedLink(engine, 10**9 // 3)
    flow = link.start(9, 10**9, lambda: None)
    seen = []
    for time_ns in (1, 4, 20):
        engine.schedule(time_ns, 0, lambda: seen.append(link.sent_bytes(flow)))
    engine.run()
    assert seen == [0, 1, 6], "4 ns at a little less than 1/3 byte per nanosecond are 1.33 bytes, 20 are 6.67"
