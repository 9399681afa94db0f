"""Runs of pages against plain lists of pages."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from g10c.backends.uvm.order import ArrivalOrder
from g10c.backends.uvm.runs import PageQueue, Run, join, split

TENSORS = st.integers(0, 3)
PARTS = st.lists(st.tuples(TENSORS, st.integers(1, 6)), min_size=1, max_size=4).map(lambda parts: joined(parts))
LONG = 1000


def joined(parts):
    result = []
    join(result, parts)
    return result


def pages(parts):
    return [tensor for tensor, count in parts for _ in range(count)]


def run_pages(run):
    return pages(run.lead) + pages(run.pattern) * run.repeats


@given(PARTS, st.integers(1, 30))
def test_split_cuts_after_a_number_of_pages(parts, cut):
    first, rest = split(parts, cut)
    assert (pages(first), pages(rest)) == (pages(parts)[:cut], pages(parts)[cut:])


@given(PARTS, st.integers(1, 5), st.lists(st.integers(1, 9)), TENSORS, st.integers(1, 9))
def test_a_run_gives_its_pages_in_order_and_loses_those_of_a_tensor(pattern, repeats, takes, tensor, most):
    run = Run(pattern, len(pages(pattern)), repeats)
    plain = pages(pattern) * repeats
    for take in takes:
        count = min(take, run.pages)
        if count:
            assert pages(run.take(count)) == plain[:count]
            plain = plain[count:]
    assert (run.pages, run_pages(run)) == (len(plain), plain)
    assert run.holds(tensor) == plain.count(tensor)
    gone = run.remove(tensor, most)
    assert gone == min(most, plain.count(tensor))
    assert run.pages == len(plain) - gone
    left = list(plain)
    for _ in range(gone):
        left.remove(tensor)
    assert run_pages(run) == left


@given(PARTS, st.integers(1, 6), st.integers(0, 9), st.integers(1, 3))
def test_dropping_whole_periods_is_taking_them(pattern, repeats, begun, periods):
    run, other = (Run(pattern, len(pages(pattern)), repeats) for _ in range(2))
    for each in (run, other):
        if 0 < begun < each.pages:
            each.take(begun)
    count = min(periods, run.stock(LONG) // run.period) * run.period
    if count:
        place = run.place(LONG)
        run.drop(count, LONG)
        taken = other.take(count)
        assert Counter(pages(taken)) == Counter({tensor: n * (count // run.period) for tensor, n in Counter(pages(run.pattern)).items()})
        assert run.place(LONG) == place
        assert (run.pages, run_pages(run)) == (other.pages, run_pages(other))


@given(st.lists(st.tuples(PARTS, st.integers(1, 3)), min_size=1, max_size=5), st.lists(st.integers(1, 9)))
def test_a_queue_is_first_in_first_out(pushes, takes):
    queue, plain = PageQueue(), []
    for pattern, repeats in pushes:
        queue.push_pattern(pattern, repeats)
        plain += pages(pattern) * repeats
    for take in takes:
        if queue.runs:
            got = pages(queue.take(min(take, queue.runs[0].pages)))
            assert got == plain[: len(got)]
            plain = plain[len(got) :]
    assert queue.pages == len(plain)


SPARED = st.frozensets(TENSORS, max_size=2)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), PARTS, st.integers(1, 4)),
        st.tuples(st.just("take"), SPARED, st.integers(1, 12)),
        st.tuples(st.just("remove"), TENSORS, st.just(10**6)),
    ),
    max_size=25,
)


@settings(max_examples=300)
@given(ACTIONS)
def test_the_arrival_order_takes_the_oldest_that_are_not_spared(actions):
    order, plain = ArrivalOrder(4), []
    for action, what, number in actions:
        if action == "append":
            order.append(what, number)
            plain += pages(what) * number
        elif action == "remove":
            assert order.remove(what, number) == plain.count(what)
            plain = [tensor for tensor in plain if tensor != what]
        else:
            run = order.victim(what)
            eligible = [tensor for tensor in plain if tensor not in what]
            assert (run is None) == (not eligible)
            if run is not None:
                taken = pages(order.take(run, min(number, order.available(run, what)), what))
                assert taken
                assert taken == eligible[: len(taken)]
                for tensor in taken:
                    plain.remove(tensor)
    left = []
    while (run := order.victim()) is not None:
        left += pages(order.take(run, run.pages))
    assert left == plain
