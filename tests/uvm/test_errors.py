"""What is said when a step cannot run."""

from __future__ import annotations

import pytest
from uvm.build import Model, machine

from g10c.backends.uvm.errors import StuckError
from g10c.backends.uvm.runner import simulate_uvm


def message(model, on, moves=()):
    with pytest.raises(StuckError) as raised:
        simulate_uvm(model.step, model.moves(*moves), on)
    assert raised.value.exit_status == 3
    return str(raised.value)


@pytest.mark.parametrize("batch", [2, 0])
def test_a_kernel_that_does_not_fit_alone_is_found_before_anything_runs(batch):
    model = Model({"a": 6, "b": 7}, [(10, "", "a"), (10, "a", "b")])
    assert message(model, machine(gpu=12, batch=batch)) == (
        "kernel 1 (k1) does not fit in GPU memory: it needs 13 bytes at once, 12 are available; its tensors are a (6 bytes), b (7 bytes)"
    )


@pytest.mark.parametrize("batch", [2, 0])
def test_nowhere_to_evict_to_names_the_kernel_its_tensors_and_the_memories(batch):
    model = Model({"a": 6, "b": 7}, [(10, "", "a"), (10, "", "b")])
    assert message(model, machine(gpu=10, host=2, ssd=0, batch=batch)) == (
        "nothing can proceed: kernel 1 (k1) waits for b (1 bytes: 1 not allocated); "
        "GPU memory has 0 of 10 bytes free, host memory 0 of 2, and there is no SSD"
    )


def test_weights_that_fit_nowhere():
    model = Model({"w": (6,), "v": (7,)}, [(10, "w", "")])
    assert message(model, machine(gpu=10, host=0, ssd=0)) == (
        "the persistent tensors of model (13 bytes) fit nowhere: small has 10 bytes of GPU memory, 0 bytes of host memory and no SSD"
    )


def test_an_ssd_too_slow_for_batches_says_what_to_do():
    model = Model({"w": (6,)}, [(10, "w", "")])
    assert message(model, machine(ssd=100_000_000)) == (
        "nothing can proceed: kernel 0 (k0) waits for w (6 bytes: 6 on SSD); "
        "GPU memory has 10 of 10 bytes free, host memory 100 of 100, and the SSD (100000000 bytes/s) moves less than a page in one batch "
        "of 2 pages: larger batches, or uvm.batch_pages = 0, can use it"
    )
    assert simulate_uvm(model.step, [], machine(ssd=100_000_000, batch=0), steps=1).kernels[0].end_ns >= 60


@pytest.mark.parametrize("batch", [2, 0])
def test_pages_that_only_chase_each_other_are_a_livelock(batch):
    # Two pages of p wait for ever for room on the host, which w and the rest of p fill; w needs all of GPU memory.
    model = Model({"p": 4, "c": 7, "w": (9,)}, [(10, "", "p"), (10, "", "c"), (10, "w", "")])
    text = message(model, machine(gpu=9, host=11, ssd=0, batch=batch), ["1 evict p host"])
    assert text == (
        "nothing can proceed: kernel 2 (k2) waits for w (2 bytes: 2 in host memory); "
        "GPU memory has 0 of 9 bytes free and 2 waiting to leave, host memory 0 of 11, and there is no SSD"
    )
