"""Each rule of the runtime on a step small enough to time by hand."""

from __future__ import annotations

from direct.build import BYTE_PER_NS, Model, machine, stalls, starts, used

from g10c.ir.result import Copy, MemorySample

SWAP = Model({"a": 60, "b": 30, "c": 60}, [(10, "", "a"), (10, "", "b"), (10, "", "c"), (10, "a", "b")])
"""60 bytes that k3 reads have to make room for the 60 that k2 writes, in 100 bytes of memory."""

PAIR = Model({"x": 40, "y": 40}, [(10, "", "x y"), (1000, "", ""), (10, "x y", "")])


def test_without_moves_kernels_follow_each_other_and_tensors_live_from_first_to_last_use():
    result = Model({"a": 60, "b": 30, "c": 40}, [(10, "", "a"), (20, "a", "b"), (30, "b", "c")]).run()
    assert (result.iteration_time_ns, result.ideal_time_ns, result.stall_time_ns) == (60, 60, 0)
    assert (result.program, result.machine, result.runtime, result.steps) == ("model", "small", "direct", 1)
    assert starts(result) == [0, 10, 30]
    assert result.peak_bytes == {"gpu": 90, "host": 0, "ssd": 0}
    assert used(result) == {}
    assert result.notes == ()


def test_an_allocation_waits_for_an_eviction_and_a_kernel_for_its_prefetch():
    result = SWAP.run("1 evict a host\n3 prefetch a host")
    assert starts(result) == [0, 10, 70, 140], "a leaves from 10 to 70, c starts when it has left; a comes back from 80 to 140"
    assert stalls(result) == [0, 0, 50, 60]
    assert used(result) == {"gpu_to_host": (60, 60), "host_to_gpu": (60, 60)}
    assert result.peak_bytes == {"gpu": 90, "host": 60, "ssd": 0}


def test_the_ssd_is_slower_and_latency_comes_before_each_copy():
    result = SWAP.run("1 evict a ssd\n3 prefetch a ssd", machine(ssd_latency=5))
    assert starts(result) == [0, 10, 10 + 5 + 120, 145 + 5 + 120]
    assert used(result) == {"gpu_to_ssd": (60, 125), "ssd_to_gpu": (60, 125)}
    assert result.peak_bytes["ssd"] == 60
    fast = SWAP.run("1 evict a host\n3 prefetch a host", machine(pcie_latency=7, ssd_latency=5))
    assert starts(fast) == [0, 10, 10 + 7 + 60, 87 + 7 + 60]


def test_an_ssd_faster_than_the_link_has_the_link():
    assert starts(SWAP.run("1 evict a ssd\n3 prefetch a ssd", machine(ssd=10 * BYTE_PER_NS))) == [0, 10, 70, 140]


def test_an_engine_makes_one_copy_after_another():
    result = PAIR.run("1 evict x host\n1 evict y host\n2 prefetch x host\n2 prefetch y host", timeline=True)
    assert [(copy.tensor, copy.start_ns, copy.end_ns) for copy in result.copies] == [
        ("x", 10, 50),
        ("y", 50, 90),
        ("x", 1010, 1050),
        ("y", 1050, 1090),
    ]


def test_copies_to_two_tiers_share_a_direction_fairly():
    plan = "1 evict x host\n1 evict y ssd\n2 prefetch x host\n2 prefetch y ssd"
    result = PAIR.run(plan, timeline=True)
    assert [(copy.end_ns - copy.start_ns) for copy in result.copies] == [80, 80, 80, 80], "each has half"
    slow = PAIR.run(plan, machine(ssd=BYTE_PER_NS // 4), timeline=True)
    ends = {(copy.link, copy.end_ns - copy.start_ns) for copy in slow.copies}
    assert ends == {("gpu_to_host", 54), ("gpu_to_ssd", 160), ("host_to_gpu", 54), ("ssd_to_gpu", 160)}, "40 bytes at 3/4 and at 1/4"


def test_directions_do_not_share():
    model = Model({"x": 40, "y": 40}, [(10, "", "x y"), (100, "", ""), (100, "", ""), (10, "x y", "")])
    result = model.run("1 evict x host\n2 evict y host\n2 prefetch x host\n3 prefetch y host", timeline=True)
    assert [(copy.link, copy.start_ns, copy.end_ns) for copy in result.copies[1:3]] == [
        ("gpu_to_host", 110, 150),
        ("host_to_gpu", 110, 150),
    ]


def test_a_prefetch_follows_the_eviction_of_the_same_bytes():
    result = PAIR.run("1 evict x host\n1 prefetch x host", timeline=True)
    assert [(copy.link, copy.start_ns, copy.end_ns) for copy in result.copies] == [("gpu_to_host", 10, 50), ("host_to_gpu", 50, 90)]


def test_a_prefetch_takes_a_new_place_while_its_eviction_is_under_way_where_there_is_room():
    roomy = PAIR.run("1 evict x host\n1 prefetch x host", machine(gpu=120))
    assert roomy.peak_bytes == {"gpu": 120, "host": 40, "ssd": 0}
    tight = PAIR.run("1 evict x host\n1 prefetch x host", machine(gpu=80))
    assert tight.peak_bytes == {"gpu": 80, "host": 40, "ssd": 0}


def test_an_engine_does_not_pass_over_a_copy_that_waits():
    model = Model({"x": 40, "y": 40}, [(10, "", "x y"), (10, "", ""), (500, "", ""), (10, "x y", "")])
    result = model.run("1 evict y host\n2 evict x host\n2 prefetch x host\n2 prefetch y host", timeline=True)
    back = [(copy.tensor, copy.start_ns) for copy in result.copies if copy.link == "host_to_gpu"]
    assert back == [("x", 90), ("y", 130)], "y has left at 50, but x, which comes first, is gone only at 90"


def test_parts_of_a_tensor_move_on_their_own():
    model = Model({"x": 90, "y": 50}, [(10, "", "x"), (10, "", "y"), (10, "x", "")])
    plan = "1 evict x host 0..30\n1 evict x ssd 60..90\n2 prefetch x host 0..30\n2 prefetch x ssd 60..90"
    result = model.run(plan)
    assert starts(result) == [0, 70, 140], "two halves of the link; y waits for both parts"
    assert used(result) == dict.fromkeys(("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu"), (30, 60))


def test_bytes_that_are_where_a_directive_wants_them_are_left_alone():
    plan = "1 evict x host 0..10\n1 evict x host\n2 prefetch x host 5..40\n2 prefetch x host\n0 alloc x\n0 alloc x"
    assert used(PAIR.run(plan)) == {"gpu_to_host": (40, 40), "host_to_gpu": (40, 40)}


def test_free_drops_bytes_wherever_they_are_but_waits_for_copies_of_them():
    model = Model({"x": 40, "y": 70}, [(10, "", "x"), (10, "", "y"), (10, "", "y"), (10, "", "")])
    result = model.run("1 evict x host\n1 free x", timeline=True)
    assert starts(result)[1] == 50, "y needs the room that x leaves when its copy has ended"
    assert result.memory[-1] == MemorySample(70, 0, 0, 0)
    assert result.peak_bytes["host"] == 40
    freed = model.run("1 free x")
    assert starts(freed)[1] == 10


def test_an_explicit_allocation_before_the_first_use_takes_room_from_then_on():
    model = Model({"a": 60, "b": 60}, [(10, "", "a"), (10, "", ""), (10, "", "b")])
    assert starts(model.run("1 alloc b")) == [0, 10, 20]
    assert stalls(model.run("1 alloc b\n2 free a\n1 evict a host")) == [0, 0, 50]


def test_room_is_granted_in_order_of_issue():
    model = Model({"a": 60, "b": 50, "c": 30}, [(10, "", "a"), (10, "", "c"), (10, "a", ""), (10, "", "b c")])
    assert starts(model.run("1 alloc c\n3 alloc b")) == [0, 10, 20, 30]
    roomy = model.run("1 evict a host\n1 alloc b\n1 alloc c\n2 prefetch a host", machine(gpu=140))
    assert starts(roomy) == [0, 10, 130, 140], "c has its room at once: b, before it, has its own"


def test_an_allocation_does_not_overtake_one_that_waits():
    model = Model({"a": 60, "b": 50, "c": 30}, [(10, "", "a"), (10, "", "c"), (10, "", "b c"), (10, "a", "")])
    result = model.run("1 evict a host\n1 alloc b\n1 alloc c\n3 prefetch a host")
    assert starts(result) == [0, 70, 80, 150], "there would be room for c at 10, but b comes first and has none until 70"


def test_reserved_memory_is_not_for_the_program():
    assert stalls(SWAP.run("1 evict a host\n3 prefetch a host", machine(gpu=150))) == [0, 0, 0, 100], (
        "nothing waits for a to leave but its own prefetch"
    )
    assert stalls(SWAP.run("1 evict a host\n3 prefetch a host", machine(gpu=150, reserved=50))) == [0, 0, 50, 60]


def test_host_memory_is_waited_for():
    model = Model({"x": 40, "y": 40}, [(10, "", "x y"), (100, "", ""), (100, "", ""), (100, "", ""), (10, "x y", "")])
    plan = "1 evict x host\n1 evict y host\n2 prefetch x host\n3 prefetch y host"
    result = model.run(plan, machine(host=60), timeline=True)
    out = [(copy.tensor, copy.start_ns) for copy in result.copies if copy.link == "gpu_to_host"]
    assert out == [("x", 10), ("y", 150)], "x is back at 150"
    assert result.peak_bytes["host"] == 40


def test_freed_host_memory_lets_an_eviction_go_on():
    model = Model({"x": 40, "y": 40}, [(10, "", "x y"), (100, "", ""), (100, "", ""), (100, "", ""), (10, "y", "")])
    result = model.run("1 evict x host\n1 evict y host\n2 free x\n3 prefetch y host", machine(host=60), timeline=True)
    assert [(copy.tensor, copy.start_ns) for copy in result.copies] == [("x", 10), ("y", 110), ("y", 210)]


def test_inputs_are_there_once_they_are_allocated():
    model = Model({"batch": 40, "y": 40}, [(10, "batch", "y")])
    assert model.run().iteration_time_ns == 10
    assert model.run("0 alloc batch\n1 free batch").iteration_time_ns == 10


WRAP = Model({"w": (80,), "x": 60}, [(50, "", ""), (10, "w", ""), (50, "", "x"), (50, "x", "")])
"""A weight that has to leave for x, and comes back in the next step."""


def test_what_a_step_leaves_the_next_one_finds():
    plan = "0 prefetch w host\n2 evict w host"
    first, second = WRAP.run(plan), WRAP.run(plan, steps=2)
    assert starts(first) == [0, 80, 170, 220]
    assert stalls(first) == [0, 30, 80, 0], "w begins on the host, where the plan leaves it"
    assert starts(second) == starts(first)
    assert (second.steps, second.iteration_time_ns) == (2, 270)
    assert used(second) == {"gpu_to_host": (80, 80), "host_to_gpu": (80, 80)}


def test_copies_go_on_beyond_the_end_of_the_step():
    model = Model({"w": (80,)}, [(50, "", ""), (10, "w", ""), (10, "", "")])
    result = model.run("1 prefetch w host\n3 evict w host", steps=2, timeline=True)
    assert [(copy.link, copy.start_ns, copy.end_ns, copy.bytes) for copy in result.copies] == [
        ("gpu_to_host", 0, 80, 80),
        ("host_to_gpu", 80, 160, 80),
    ]
    assert starts(result) == [0, 160, 170], "the eviction of the step before delays the prefetch"


def test_a_copy_across_the_beginning_of_the_step_counts_for_the_part_after_it():
    model = Model({"w": (80,), "v": (1,)}, [(100, "", ""), (10, "w", ""), (30, "v", "")])
    result = model.run("1 prefetch w host\n2 evict w host", steps=2, timeline=True)
    assert result.copies[0] == Copy("gpu_to_host", "w", 0, 50, 50, "directive")
    assert used(result)["gpu_to_host"] == (80, 80), "50 bytes of the step before, 30 of its own"
    assert sum(copy.bytes for copy in result.copies if copy.link == "gpu_to_host") == 80


def test_a_step_whose_copies_outlast_it_says_so():
    model = Model({"w": (80,)}, [(10, "w", "")])
    (note,) = model.run("1 evict w host\n0 prefetch w host").notes
    assert note == "80 B of copies were still to be made when the step ended, 0 B when it began: it took less time than a later one may"
    assert model.run("1 evict w host\n0 prefetch w host", steps=2).notes == ()


def test_weights_that_do_not_fit_together_begin_on_the_host_and_are_fetched_at_first_use():
    model = Model({"w": (60,), "v": (60,)}, [(10, "w", ""), (10, "v", "")])
    result = model.run("1 evict w host\n2 prefetch w host", timeline=True)
    assert result.copies == (Copy("gpu_to_host", "w", 10, 70, 60, "directive"), Copy("host_to_gpu", "v", 70, 130, 60, "policy"))
    assert result.iteration_time_ns == 140, "v has no room on the GPU when the step begins, and is fetched when w has left"
    assert result.notes[-1] == "data that kernels did not find in GPU memory were fetched when they became current: 60 B"


def test_directives_of_the_current_kernel_overtake_where_else_nothing_could_proceed():
    model = Model({"a": 60, "b": 60, "c": 30}, [(10, "", "a"), (10, "a", ""), (10, "a", "c"), (10, "c", ""), (10, "", "b")])
    result = model.run("1 alloc b")
    assert starts(result) == [0, 10, 20, 30, 40], "b is asked for before c, but c is what the kernel waits for"
    assert result.notes == (
        "the plan asks for more GPU memory than there is: directives of the current kernel had to overtake earlier ones 1 times",
    )


ON_DEMAND = Model({"x": 40, "y": 40}, [(10, "", "x y"), (200, "", ""), (10, "x", ""), (10, "y", "")])


def test_on_demand_a_kernel_fetches_what_it_does_not_find():
    result = ON_DEMAND.run("1 evict x host\n1 evict y ssd", on_demand=True, timeline=True)
    assert starts(result) == [0, 10, 210 + 40, 260 + 80]
    assert [copy.cause for copy in result.copies] == ["directive", "directive", "policy", "policy"]
    assert result.notes == ("data that kernels did not find in GPU memory were fetched when they became current: 80 B",)


def test_on_demand_an_eviction_that_has_not_begun_is_given_up():
    plan = "1 evict x ssd\n1 evict y ssd\n2 prefetch y ssd"
    slow = machine(ssd=BYTE_PER_NS // 10)
    result = ON_DEMAND.run(plan, slow, on_demand=True)
    assert starts(result) == [0, 10, 810, 820], "x leaves from 10 to 410 and has to come back; y, which comes after it, never leaves"
    assert used(result) == {"gpu_to_ssd": (40, 400), "ssd_to_gpu": (40, 400)}
    assert starts(ON_DEMAND.run(plan.replace("2 pre", "1 pre") + "\n2 prefetch x ssd", slow)) == [0, 10, 1610, 1620], (
        "else y goes and comes"
    )


def test_on_demand_a_given_up_eviction_leaves_its_turn_to_the_next():
    model = Model({"x": 40, "y": 40, "z": 20}, [(10, "", "x y z"), (200, "", ""), (10, "", ""), (10, "x y z", "")])
    plan = "1 evict x host\n1 evict y host\n1 evict z host\n2 prefetch y host"
    result = model.run(plan, machine(host=60), on_demand=True, timeline=True)
    assert [(copy.link, copy.tensor, copy.start_ns) for copy in result.copies[:2]] == [("gpu_to_host", "x", 10), ("gpu_to_host", "z", 210)]


def test_tensors_that_the_plan_forgets_are_dropped_at_the_end_of_the_step():
    result = PAIR.run("3 free x 0..10", steps=3)
    assert result.notes == ("the plan leaves tensors unfreed, dropped at the end of the step: %x",)
    assert result.peak_bytes["gpu"] == 80


def test_an_empty_step_takes_no_time():
    assert Model({}, []).run(steps=5000).iteration_time_ns == 0


def test_tensors_without_bytes_need_nothing():
    assert Model({"z": 0, "w": (0,)}, [(5, "w", "z"), (5, "z", "w")]).run("1 evict z host\n1 prefetch w ssd").iteration_time_ns == 10


def test_a_timeline_is_kept_on_demand():
    plain = SWAP.run("1 evict a host\n3 prefetch a host")
    assert plain.copies == plain.memory == ()
    result = SWAP.run("1 evict a host\n3 prefetch a host", timeline=True)
    assert result.copies == (Copy("gpu_to_host", "a", 10, 70, 60, "directive"), Copy("host_to_gpu", "a", 80, 140, 60, "directive"))
    assert result.memory == (
        MemorySample(0, 60, 0, 0),
        MemorySample(10, 90, 60, 0),
        MemorySample(70, 90, 60, 0),
        MemorySample(80, 90, 60, 0),
        MemorySample(140, 90, 0, 0),
        MemorySample(150, 0, 0, 0),
    )


def test_long_chains_of_directives_do_not_exhaust_the_stack():
    model = Model({"a": 60, "b": 60}, [(10, "", "a"), (10, "", "b"), (10, "a", "")])
    chain = "\n".join(["1 evict a host", "1 alloc b", *["1 free b", "1 alloc b"] * 2000, "2 free b", "2 prefetch a host"])
    assert starts(model.run(chain)) == [0, 70, 140]


def test_every_step_has_its_time():
    result = PAIR.run("3 free x 0..10", steps=3)
    assert len(result.step_times_ns) == 3
    assert result.step_times_ns[-1] == result.iteration_time_ns
    assert PAIR.run("3 free x 0..10", steps=1).step_times_ns == result.step_times_ns[:1]
