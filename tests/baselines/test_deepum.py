"""DeepUM's window against a plain reading of its rules, and the published times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT
from uvm.random_steps import cases, steps
from uvm.test_oracle import check
from uvm.test_parity import case, machine, published

from g10c.backends.uvm.deepum import DeepUm, dead_tensors, windows
from g10c.backends.uvm.runner import simulate_uvm
from g10c.compiler import compile, simulate  # noqa: A004 - the API's verb
from g10c.compiler.options import OptionError
from g10c.compiler.vitality import liveness
from g10c.ir.errors import InputError
from g10c.passes.deepum import DeepUmPass


@given(st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), min_size=1, max_size=9), st.integers(1, 12))
def test_windows_are_unions(needed, degree):
    count = len(needed)
    plain = [frozenset().union(*(needed[(kernel + ahead) % count] for ahead in range(degree))) for kernel in range(count)]
    assert windows(needed, degree) == plain


@given(steps(20))
def test_dead_is_what_is_not_alive(step):
    lives = liveness(step)
    for kernel, dead in enumerate(dead_tensors(step, lives)):
        alive = {
            tensor
            for tensor, storage in enumerate(step.tensors)
            if storage.persistent or lives.birth[tensor] <= kernel < lives.death[tensor]
        }
        assert dead == frozenset(range(len(step.tensors))) - alive
        assert not dead & set(step.kernels[kernel].operands)


@given(cases(st.integers(3, 8)), st.integers(1, 5))
def test_the_fast_simulation_does_as_the_plain_one(case, degree):
    check(case, 2, DeepUm(degree))


@pytest.mark.parametrize("settings", [("VIT", 1024, 32.0), ("BERT_Base", 256, 128.0)])
def test_published_times(g10_data, settings):
    row = next(r for r in published(g10_data, "deepum") if (r["model"], r["batch"], r["host_gb"]) == settings)
    step, _ = case(g10_data, f"{settings[0]}-{settings[1]}")
    found = simulate_uvm(step, [], machine(row), policy=DeepUm(8))
    assert abs(min(found.step_times_ns) / row["iteration_ns"] - 1) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Inceptionv3-1536", "ResNet152-1280", "SENet154-1024"])
def test_published_times_of_convolutional_networks(g10_data, name):
    model, batch = name.split("-")
    row = next(r for r in published(g10_data, "deepum") if (r["model"], r["batch"], r["ssd_gbps"]) == (model, int(batch), 3.2))
    step, _ = case(g10_data, name)
    found = simulate_uvm(step, [], machine(row), policy=DeepUm(8))
    assert abs(min(found.step_times_ns) / row["iteration_ns"] - 1) < 5e-3


SMALL = ["gpu.memory=60MiB", "gpu.reserved=0B"]


def test_the_pass_names_the_policy():
    plan = compile(str(ROOT / "tests/text/inputs/tiny.ir"), "deepum{degree=3}", settings=SMALL)
    assert plan.program.attrs["policy"] == "deepum{degree=3}"
    assert DeepUmPass(3).spec == "deepum{degree=3}"
    other = compile(str(ROOT / "tests/text/inputs/tiny.ir"), "", settings=SMALL)
    assert simulate(plan).faults < simulate(other).faults


@pytest.mark.parametrize("degree", [0, -1, 1 << 40])
def test_a_window_of_no_kernels_is_refused(degree):
    with pytest.raises(OptionError, match="degree: expected 1 to 1048576 kernels"):
        DeepUm(degree)
    with pytest.raises(InputError, match="degree: expected 1 to 1048576 kernels"):
        compile("bert-base", f"deepum{{degree={degree}}}")
