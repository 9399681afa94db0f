"""The rules of the pool runtime, each on a step of a few kernels."""

from __future__ import annotations

import pytest
from baselines.small import Told, copies, machine, play, spans
from small_models import SmallModel

from g10c.ir.errors import InfeasibleError, InputError

# w is a weight; a lives from k0 to k3.
MODEL = SmallModel(
    {"w": (20,), "a": 30, "b": 30, "c": 30}, [(10, "w", "a"), (10, "a", "b"), (100, "b", "c"), (10, "a c", ""), (10, "w", "c")]
)
A, B = 1, 2


def test_without_moves_kernels_follow_one_another():
    found = play(MODEL, on=machine(gpu=110))
    assert spans(found) == [(0, 10), (10, 20), (20, 120), (120, 130), (130, 140)]
    assert (found.peak_bytes, found.runtime) == ({"gpu": 110, "host": 0, "ssd": 0}, "direct")


def test_an_eviction_leaves_when_it_ends_and_a_prefetch_waits_for_its_place():
    # w, b and a leave no room for c until the eviction ends at 50: c waits, and k2 with it. At 150 b dies, which makes room for a.
    found = play(MODEL, "2 evict a ssd", "3 prefetch a ssd", on=machine(gpu=100))
    assert spans(found) == [(0, 10), (10, 20), (50, 150), (180, 190), (190, 200)]


def test_a_prefetch_gives_up_an_eviction():
    begun = play(MODEL, "2 evict a ssd", "2 prefetch a ssd", on=machine(gpu=110))
    assert copies(begun) == [("a", "gpu_to_ssd", 20, 50)]
    # A copy that has not begun is not made.
    slow = play(MODEL, "2 evict b ssd", "2 evict a ssd", "2 prefetch a ssd", on=machine(gpu=110))
    assert [tensor for tensor, *_ in copies(slow)] == ["b"]


def test_a_kernel_keeps_what_is_on_its_way_out():
    model = SmallModel({"a": 30}, [(10, "", "a"), (20, "", "a"), (10, "a", ""), (10, "a", "")])
    kept, gone = (play(model, "1 evict a ssd", policy=Told({"copies_again": quirk})) for quirk in (False, True))
    assert copies(kept) == [("a", "gpu_to_ssd", 10, 40)]
    assert spans(kept)[3] == (40, 50)
    assert spans(gone)[3] == (70, 80)


def test_what_a_kernel_does_not_find_is_fetched_from_where_it_is():
    found = play(MODEL, "2 evict a host", on=machine(gpu=110))
    assert copies(found) == [("a", "gpu_to_host", 20, 30), ("a", "host_to_gpu", 120, 130)]
    assert found.links["host_to_gpu"].bytes == 30
    assert "were fetched for them: 30 B" in found.notes[0]
    other = play(MODEL, "2 evict a host", on=machine(gpu=110), policy=Told({"demand_from_ssd": True}))
    assert copies(other)[1] == ("a", "ssd_to_gpu", 120, 150)


def test_weights_that_return_free_need_no_copy():
    plain, free = (
        play(MODEL, "1 evict w ssd", on=machine(gpu=110), policy=Told({"weights_return_free": quirk})) for quirk in (False, True)
    )
    assert spans(plain)[4] == (150, 160)
    assert spans(free)[4] == (130, 140)


def test_copying_again_moves_what_is_there():
    """As in the artifact a prefetch of what is leaving brings it anew, it leaves nevertheless, and is fetched on demand."""
    found = play(MODEL, "2 evict a ssd", "2 prefetch a ssd", on=machine(gpu=110), policy=Told({"copies_again": True}))
    assert copies(found) == [("a", "gpu_to_ssd", 20, 50), ("a", "ssd_to_gpu", 20, 50), ("a", "ssd_to_gpu", 120, 150)]


def test_a_kernel_waits_until_evictions_have_ended():
    found = play(MODEL, "1 evict w ssd", on=machine(gpu=110), policy=Told({"drained_at": 2}))
    assert spans(found)[2] == (30, 130)


def test_scratch_shares_a_place():
    model = SmallModel({"a": 10, "s": 40, "t": 50}, [(10, "", "a s"), (10, "a", "t")])
    assert play(model).peak_bytes["gpu"] == 60
    shared = play(model, policy=Told({"shared_scratch": True}), on=machine(gpu=60))
    assert (shared.iteration_time_ns, shared.peak_bytes["gpu"]) == (20, 60)


def test_a_policy_fetches_after_a_kernel():
    holes = []
    policy = Told(fetches={1: (A, B), 2: (A,)}, seen=lambda kernel, pool: holes.append((pool.largest_hole_bytes, pool.has_place(A))))
    found = play(MODEL, "1 evict a host", on=machine(gpu=110), policy=policy)
    # a is to leave at k1, which reads it: so it stays, and there is nothing to fetch.
    assert copies(found) == [("a", "gpu_to_host", 10, 20)]
    assert holes[0] == (60, True)
    found = play(MODEL, "2 evict a host", on=machine(gpu=110), policy=policy)
    assert copies(found)[1] == ("a", "host_to_gpu", 120, 130)
    assert found.copies[1].cause == "policy"


def test_host_memory_is_waited_for():
    model = SmallModel({"w": (30,), "v": (30,), "c": 10}, [(10, "w v", "c"), (50, "c", "c"), (50, "c", "c"), (10, "c", "")])
    moves = ("1 evict w host", "1 evict v host", "2 prefetch w host")
    found = play(model, *moves, on=machine(host=30))
    assert [(tensor, start) for tensor, _, start, _ in copies(found)] == [("w", 10), ("w", 60), ("v", 70)]
    assert found.peak_bytes["host"] == 30


def test_places_and_copies_go_on_in_the_next_step():
    first, second = (play(MODEL, "1 evict w ssd", on=machine(gpu=110), steps=steps) for steps in (1, 2))
    assert second.step_times_ns[0] == first.iteration_time_ns
    assert spans(second) == spans(first)  # w is back at the end of each
    away = play(MODEL, "5 evict w ssd", on=machine(gpu=110), steps=2)
    assert away.step_times_ns == (140, 140)  # k0 wants w, so it stays


def test_a_policy_may_place_tensors_at_the_upper_end():
    model = SmallModel({"a": 30, "b": 30, "c": 50}, [(10, "", "a"), (10, "", "b"), (10, "a", ""), (10, "b", "c")])
    with pytest.raises(InfeasibleError, match="50 B in one piece for %c; the largest free piece of 100 B of GPU memory has 40 B: 10 B are"):
        play(model)  # b lies in the middle
    assert play(model, policy=Told({"upper": frozenset({B - 1})})).iteration_time_ns == 40


@pytest.mark.parametrize(
    ("moves", "on", "message"),
    [
        ((), machine(gpu=10), r"persistent tensors of model need 20 B of GPU memory from the start"),
        (("2 evict a host",), machine(pcie=1), r"evict\(%a\) .*small has no bandwidth for it: the SSD may use all of the PCIe link"),
        (("2 evict a ssd",), machine(ssd=0), "has no bandwidth for it: there is no link"),
    ],
)
def test_what_cannot_run_is_refused(moves, on, message):
    with pytest.raises(InfeasibleError, match=message):
        play(MODEL, *moves, on=on)


def test_parts_of_tensors_are_refused():
    with pytest.raises(InputError, match=r"range = 0B\.\.5B\} at kernel 2 \(k2\) is of a part"):
        play(MODEL, "2 evict a ssd 0..5")


def test_a_wait_that_never_ends_is_told():
    with pytest.raises(InfeasibleError, match=r"nothing can proceed: kernel 2 \(k2\) waits for copies; gpu_to_host cannot begin with %a"):
        play(MODEL, "2 evict a host", on=machine(host=10), policy=Told({"drained_at": 2}))
