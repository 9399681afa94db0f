"""What a policy decides while the step runs."""

from __future__ import annotations

import pytest
from small_models import SmallModel as Model
from uvm.build import Recorder, machine

from g10c.backends.uvm.policy import FifoEviction
from g10c.backends.uvm.runner import simulate_uvm
from g10c.backends.uvm.timeline import Timeline


class Sparing(FifoEviction):
    """Spares, discards and fetches what it is told, by kernel."""

    def __init__(self, spare=None, drop=None, fetch=None):
        self.spare, self.drop, self.fetch = spare or {}, drop or {}, fetch or {}
        self.free = []

    def prefetch(self, kernel, memory):
        self.free.append(memory.free_bytes)
        return self.fetch.get(kernel, ())

    def spared(self, kernel):
        return frozenset(self.spare.get(kernel, ()))

    def discarded(self, kernel):
        return frozenset(self.drop.get(kernel, ()))


def moved(found):
    return {name: use.bytes for name, use in found.links.items() if use.bytes and not name.startswith("pcie")}


MODEL = Model({"a": 4, "b": 4, "w": (4,), "c": 1}, [(20, "", "a"), (20, "", "b"), (20, "", "c"), (20, "a w", "")])
A, B, W, C = range(4)


@pytest.mark.parametrize("batch", [2, 0])
def test_a_prefetch_passes_over_what_is_spared(batch):
    on = machine(gpu=9, batch=batch)
    policy = Sparing(fetch={2: (W,)})
    plain = simulate_uvm(MODEL.step, [], on, steps=1, policy=policy)
    assert policy.free == [9, 5, 1, 0]
    # w pushes out a, which k3 brings back in place of b.
    assert moved(plain) == {"ssd_to_gpu": 4, "gpu_to_host": 8, "host_to_gpu": 4}
    found = simulate_uvm(MODEL.step, [], on, steps=1, policy=Sparing(fetch={2: (W,)}, spare={2: (A,)}))
    assert moved(found) == {"ssd_to_gpu": 4, "gpu_to_host": 4}


@pytest.mark.parametrize("batch", [2, 0])
def test_a_prefetch_waits_where_everything_is_spared_and_its_kernel_does_not(batch):
    spare = dict.fromkeys(range(4), (A, B, C, W))
    seen = Recorder()
    found = simulate_uvm(MODEL.step, [], machine(gpu=9, batch=batch), steps=1, policy=Sparing(fetch={2: (W,)}, spare=spare), observer=seen)
    arrivals = [start for link, start, _, _ in seen.copies if link == "ssd_to_gpu"]
    assert min(arrivals) >= found.kernels[3].start_ns - 2  # a page may have been on its way
    assert found.links["ssd_to_gpu"].bytes == 4


@pytest.mark.parametrize("batch", [2, 0])
def test_dead_tensors_are_dropped_not_moved(batch):
    found = simulate_uvm(MODEL.step, [], machine(gpu=9, batch=batch), steps=1, policy=Sparing(fetch={2: (W,)}, drop={2: (A,)}))
    assert moved(found) == {"ssd_to_gpu": 4, "gpu_to_host": 4}
    assert found.allocated_bytes == 13  # a once more


def test_arrivals_of_two_tensors_at_once_are_told_apart():
    model = Model(
        {"v": (40,), "x": 40, "y": 40, "z": 60}, [(200, "", "x"), (200, "", "y"), (200, "v x", ""), (200, "", "z"), (9, "x y", "")]
    )
    plan = model.moves("1 evict x host")
    on = machine(gpu=140, batch=4)
    # v and x come in together; z, brought in ahead at k2, may push out only what is not spared.
    policy = Sparing(fetch={2: (3,)}, spare={2: (0, 2)})
    found = simulate_uvm(model.step, plan, on, steps=1, policy=policy)
    assert moved(found)["gpu_to_host"] >= 40
    assert found.peak_bytes["gpu"] == 140


def test_a_program_names_its_policy(monkeypatch):
    """The simulator finds the policy through the registry, with its options, and reports mistakes in its name."""
    from dataclasses import dataclass

    from g10c.backends.simulator import Simulator
    from g10c.backends.uvm.policy import FifoEviction
    from g10c.compiler import registry as registries
    from g10c.ir.errors import InputError
    from g10c.ir.parser import parse_program

    begun = []

    @dataclass(frozen=True)
    class Recorded(FifoEviction):
        degree: int = 8

        def begin(self, step, machine):
            begun.append(self.degree)

    policies = registries.Registry("policy")
    policies.add("recorded", Recorded, "test")
    monkeypatch.setattr(registries, "registry", {"g10c.policies": policies}.__getitem__)
    text = 'g10c.ir 1\nprogram p {{policy = "{0}"}}\n\ntensor %x : u8[4]  activation\n\n%x = load()  {{time = 1us}}\n'
    Simulator().run(parse_program(text.format("recorded{degree=3}")), machine(), {})
    assert begun == [3]
    with pytest.raises(InputError, match="unknown policy 'recoded'"):
        Simulator().run(parse_program(text.format("recoded")), machine(), {})
    with pytest.raises(InputError, match="policy 'recorded' has no option 'degre'"):
        Simulator().run(parse_program(text.format("recorded{degre=3}")), machine(), {})
    with pytest.raises(InputError, match="names 2 policies"):
        Simulator().run(parse_program(text.format("recorded,recorded")), machine(), {})


def test_what_waits_without_moving_is_queued_but_no_copy():
    spare = dict.fromkeys(range(4), (A, B, C, W))
    kept = Timeline()
    on = machine(gpu=9, batch=2)
    result = simulate_uvm(MODEL.step, [], on, steps=1, policy=Sparing(fetch={2: (W,)}, spare=spare), observer=kept)
    result = kept.added_to(result)
    waited = result.kernels[2]
    assert not any(copy.start_ns < waited.end_ns - 2 and waited.start_ns + 2 < copy.end_ns for copy in result.copies)
    assert any(start <= waited.start_ns + 2 and waited.end_ns <= end for start, end in result.queued)
