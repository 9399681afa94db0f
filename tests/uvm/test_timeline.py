"""What the timeline keeps of a step."""

from __future__ import annotations

from small_models import SmallModel as Model
from uvm.build import machine

from g10c.backends.uvm.runner import simulate_uvm
from g10c.backends.uvm.timeline import Timeline
from g10c.ir.result import Copy, MemorySample


def test_stretches_of_one_rate_become_one_copy_and_a_new_step_starts_afresh():
    kept = Timeline()
    kept.step(0, 0)
    kept.copy("host_to_gpu", 0, 10, 100)
    kept.step(1, 1000)
    kept.copy("host_to_gpu", 1000, 1010, 100)
    kept.copy("gpu_to_host", 1000, 1010, 50)
    kept.copy("host_to_gpu", 1010, 1030, 200)
    kept.copy("host_to_gpu", 1030, 1040, 10)
    kept.copy("host_to_gpu", 1050, 1060, 10)
    assert kept.copies == [
        Copy("host_to_gpu", "pages", 0, 30, 300, "paging"),
        Copy("gpu_to_host", "pages", 0, 10, 50, "paging"),
        Copy("host_to_gpu", "pages", 30, 40, 10, "paging"),
        Copy("host_to_gpu", "pages", 50, 60, 10, "paging"),
    ]


def test_memory_is_kept_where_it_changes():
    kept = Timeline()
    kept.step(0, 5)
    for time_ns, gpu in ((5, 1), (6, 1), (7, 2)):
        kept.memory(time_ns, gpu, 0, 0)
    assert kept.samples == [MemorySample(0, 1, 0, 0), MemorySample(2, 2, 0, 0)]


def test_times_in_which_pages_wait_are_kept_as_long_stretches():
    kept = Timeline()
    kept.step(0, 5)
    for stretch in ((0, 7), (7, 8), (12, 15), (15, 20), (19, 30), (40, 50)):
        kept.queued(*stretch)
    assert kept.stretches == [(-5, 3), (7, 25), (35, 45)]


def test_copies_add_up_to_the_traffic_of_the_step():
    model = Model({"a": 6, "b": 7}, [(10, "", "a"), (10, "", "b"), (10, "a", "")])
    kept = Timeline()
    result = kept.added_to(simulate_uvm(model.step, [], machine(gpu=10), observer=kept))
    for link in ("gpu_to_host", "host_to_gpu"):
        assert sum(copy.bytes for copy in result.copies if copy.link == link) == result.links[link].bytes > 0
    assert max(sample.gpu for sample in result.memory) == result.peak_bytes["gpu"]
    assert all(0 <= copy.start_ns < copy.end_ns for copy in result.copies)
