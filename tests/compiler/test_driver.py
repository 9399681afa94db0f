"""The Python API: machines, notes, and what is kept in a plan."""

from __future__ import annotations

import dataclasses

import pytest
from compiler_programs import chain

import g10c.compiler
from g10c.compiler import compile, find_machine, load, simulate  # noqa: A004 - the API's verb
from g10c.ir.errors import G10cError, InputError
from g10c.ir.plan import Plan
from g10c.ir.program import Op
from g10c.ir.values import Time


def test_the_api_is_listed_and_documented():
    assert set(g10c.compiler.__all__) <= set(dir(g10c.compiler))
    assert all(getattr(g10c.compiler, name).__doc__ for name in g10c.compiler.__all__)
    with pytest.raises(AttributeError, match="no attribute 'compil'"):
        _ = g10c.compiler.compil


def test_settings_apply_in_order_and_may_be_one_text():
    assert find_machine("a100-40gb", "gpu.memory=3GiB").gpu.memory == 3 << 30
    assert find_machine("a100-40gb", ["gpu.memory=3GiB", "gpu.memory=2GiB"]).gpu.memory == 2 << 30


def test_a_plan_runs_on_its_own_machine_and_tells_of_another():
    plan = compile(chain(), "vitality", "a100-40gb", ["gpu.memory=8GiB"])
    assert plan.pipeline == "vitality"
    assert plan.machine.gpu.memory == 8 << 30
    assert simulate(plan).notes == ("a100-40gb changed: gpu.memory: 40GiB -> 8GiB",)
    assert simulate(plan, settings=["host.memory=1GiB"]).notes == ("the plan was made for a100-40gb; here host.memory: 128GiB -> 1GiB",)
    assert simulate(plan, "h100-80gb").machine == "h100-80gb"


def test_a_planned_program_without_a_machine_is_told_of():
    plan = compile(chain(), "vitality")
    (note,) = simulate(plan.program).notes
    assert "does not say for which machine it was planned; simulated on a100-40gb" in note
    assert simulate(chain()).notes == ()


def test_kernel_times_of_another_gpu_are_told_of():
    program = chain().with_attrs(gpu="a100-40gb")
    assert compile(program, "", "a100-40gb").notes == ()
    (note,) = compile(program, "", "h100-80gb").notes
    assert "kernel times of chain are those of a100-40gb, not of h100-80gb" in note
    assert simulate(program, "h100-80gb").notes == (note,)


def test_several_gpus_are_told_of():
    assert "8 GPUs; one is simulated" in simulate(chain(), settings=["gpu.count=8"]).notes[-1]


def test_a_plan_is_compiled_further_on_its_machine():
    first = compile(chain(), "vitality", "h100-80gb")
    second = compile(first, "migrate")
    assert (second.machine, second.pipeline) == (first.machine, "vitality,migrate")


def test_a_program_made_in_python_is_verified():
    program = chain()
    broken = program.with_ops([*program.ops, Op("relu.forward", ("ghost",), ("x1",))])
    for use in (compile, simulate):
        with pytest.raises(InputError, match="%ghost is not declared"):
            use(broken)


def test_bundled_models_load_and_show_short():
    program = load("gpt2")
    assert not isinstance(program, Plan)
    assert len(repr(program)) < 1000
    assert len(repr(compile(program))) < 2000


def test_errors_survive_pickling():
    import pickle

    with pytest.raises(G10cError) as caught:
        load("nowhere.ir")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))


def test_results_are_equal_run_after_run():
    plan = compile(chain(), "vitality,migrate")
    assert dataclasses.asdict(simulate(plan)) == dataclasses.asdict(simulate(plan))


def test_a_latency_that_the_runtime_does_not_use_is_told_of():
    assert "pcie.latency has no part in the uvm runtime" in simulate(chain(), settings="pcie.latency=1ms").notes[-1]


def test_a_bound_holds_on_its_own_machine_only():
    plan = compile(chain(), "vitality")
    bounded = dataclasses.replace(plan, program=plan.program.with_attrs(bound_time=Time(20_000)))
    assert simulate(bounded).bound_time_ns == 20_000
    assert simulate(bounded, settings="pcie.bandwidth=100GB/s").bound_time_ns is None
    impossible = dataclasses.replace(plan, program=plan.program.with_attrs(bound_time=Time(10**9)))
    assert simulate(impossible).bound_time_ns is None
    assert "is above the time of the step" in simulate(impossible).notes[-1]
