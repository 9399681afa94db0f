"""What is said when a step cannot run."""

from __future__ import annotations

import pytest
from small_models import SmallModel as Model
from uvm.build import machine

from g10c.backends.uvm.runner import simulate_uvm
from g10c.ir.errors import InfeasibleError


def message(model, on, moves=()):
    with pytest.raises(InfeasibleError) as raised:
        simulate_uvm(model.step, model.moves(*moves), on)
    assert raised.value.exit_status == 3
    return str(raised.value)


@pytest.mark.parametrize("batch", [2, 0])
def test_a_kernel_that_does_not_fit_alone_is_found_before_anything_runs(batch):
    model = Model({"a": 6, "b": 7}, [(10, "", "a"), (10, "a", "b")])
    assert message(model, machine(gpu=12, batch=batch)) == (
        "error: kernel 1 (k1) alone needs 13 B of GPU memory, small has 12 B\n  help: its tensors: %b 7 B, %a 6 B"
    )


@pytest.mark.parametrize("batch", [2, 0])
def test_nowhere_to_evict_to_names_the_kernel_its_tensors_and_the_memories(batch):
    model = Model({"a": 6, "b": 7}, [(10, "", "a"), (10, "", "b")])
    assert message(model, machine(gpu=10, host=2, ssd=0, batch=batch)) == (
        "error: nothing can proceed: kernel 1 (k1) waits for %b (1 B not allocated); "
        "free are 0 B of 10 B of GPU memory and 0 B of 2 B of host memory\n"
        "  help: there is no SSD: give the machine one, or more host memory: --set ssd.bandwidth=4GB/s"
    )


def test_weights_that_fit_nowhere():
    model = Model({"w": (6,), "v": (7,)}, [(10, "w", "")])
    assert message(model, machine(gpu=10, host=0, ssd=0)) == (
        "error: the persistent tensors of model (13 B) fit nowhere: small has 10 B of GPU memory, 0 B of host memory and no SSD\n"
        "  help: give the machine more host memory or an SSD: --set host.memory=64GiB"
    )


def test_an_ssd_too_slow_for_batches_says_what_to_do():
    model = Model({"w": (6,)}, [(10, "w", "")])
    assert message(model, machine(ssd=100_000_000)) == (
        "error: nothing can proceed: kernel 0 (k0) waits for %w (6 B on SSD); "
        "free are 10 B of 10 B of GPU memory and 100 B of 100 B of host memory\n"
        "  help: the SSD moves less than a page in one batch of 2 pages: --set uvm.batch_pages=0, or larger batches, can use it"
    )
    assert simulate_uvm(model.step, [], machine(ssd=100_000_000, batch=0), steps=1).kernels[0].end_ns >= 60


@pytest.mark.parametrize("batch", [2, 0])
def test_pages_that_only_chase_each_other_are_a_livelock(batch):
    # Two pages of p wait for ever for room on the host, which w and the rest of p fill; w needs all of GPU memory.
    model = Model({"p": 4, "c": 7, "w": (9,)}, [(10, "", "p"), (10, "", "c"), (10, "w", "")])
    text = message(model, machine(gpu=9, host=11, ssd=0, batch=batch), ["1 evict p host"])
    assert text == (
        "error: nothing can proceed: kernel 2 (k2) waits for %w (2 B in host memory); "
        "free are 0 B of 9 B of GPU memory and 0 B of 11 B of host memory, 2 B waits to leave\n"
        "  help: there is no SSD: give the machine one, or more host memory: --set ssd.bandwidth=4GB/s"
    )
