"""What holds for any step, plan and machine in the pool."""

from __future__ import annotations

import contextlib
import itertools

from baselines.small import Told, machine
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from uvm.random_steps import moves, steps

from g10c.backends.direct.places import Places
from g10c.backends.pool.player import Player
from g10c.backends.pool.runner import simulate_pool
from g10c.compiler.vitality import liveness
from g10c.ir.errors import InfeasibleError


@st.composite
def cases(draw: st.DrawFn):
    step = draw(steps(40))
    plan = draw(moves(step))
    largest = max(sum(step.tensors[tensor].size_bytes for tensor in kernel.operands) for kernel in step.kernels)
    gpu = largest + sum(tensor.size_bytes for tensor in step.tensors if tensor.persistent) + draw(st.integers(0, 100))
    on = machine(gpu=gpu, host=draw(st.sampled_from([0, 40, 10_000])), ssd=draw(st.integers(1, 3)))
    count = len(step.kernels)
    fetches = draw(st.dictionaries(st.integers(0, count - 1), st.lists(st.integers(0, len(step.tensors) - 1), max_size=3)))
    upper = draw(st.frozensets(st.integers(0, len(step.tensors) - 1)))
    return step, plan, on, Told({"upper": upper, "copies_again": draw(st.booleans())}, fetches)


def check_state(player: Player, kernel: int) -> None:
    """Places are disjoint and add up; every tensor that lives on is somewhere."""
    pieces = sorted(piece for piece in player.place.values() if piece[0] < piece[1])
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(pieces))
    assert all(start >= 0 and end <= player.space.size for start, end in pieces)
    assert sum(end - start for start, end in pieces) == player.space.size - player.space.free
    lives = liveness(player.step)
    for tensor, storage in enumerate(player.step.tensors):
        if storage.persistent or lives.birth[tensor] <= kernel < lives.death[tensor] - 1:
            assert tensor in player.place or tensor in player.away
        if tensor in player.leaving:
            assert tensor in player.place
            assert player.away[tensor] == player.leaving[tensor].tier


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(1, 3))
def test_a_run_ends_or_says_why(case, steps):
    step, plan, on, policy = case
    policy.seen = lambda kernel, pool: check_state(pool, kernel)
    with contextlib.suppress(InfeasibleError):
        found = simulate_pool(Places(step), plan, on, policy, steps=steps, timeline=True)
        assert len(found.step_times_ns) == steps
        assert found.iteration_time_ns >= step.ideal_time_ns
        assert found.peak_bytes["gpu"] <= on.gpu.memory
        assert found.peak_bytes["host"] <= on.host.memory
        assert all(0 <= copy.start_ns <= copy.end_ns <= found.iteration_time_ns for copy in found.copies)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_run_repeats_itself(case):
    step, plan, on, policy = case
    try:
        found = simulate_pool(Places(step), plan, on, policy)
    except InfeasibleError:
        assume(False)
    assert found == simulate_pool(Places(step), plan, on, policy)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_with_all_the_memory_and_no_plan_nothing_waits(case):
    step, _, _, policy = case
    roomy = machine(gpu=sum(tensor.size_bytes for tensor in step.tensors))
    found = simulate_pool(Places(step), [], roomy, policy)
    assert found.iteration_time_ns == step.ideal_time_ns
    assert not found.copies
