"""The pass around the planner: what it leaves in the program, and what it says."""

from __future__ import annotations

import pytest
from compiler_programs import chain

from g10c.compiler import compile, simulate  # noqa: A004 - the API's verb
from g10c.ir.errors import InfeasibleError, InputError
from g10c.ir.program import Level
from g10c.ir.values import Ident, Range
from g10c.passes.migrate import MigratePass
from g10c.passes.vitality import VitalityPass

SMALL = ["gpu.reserved=0B", "gpu.memory=40MiB", "ssd.bandwidth=none"]


def long_chain():
    """Eight tensors of 4 MiB in a row, of which the first is used again at the end; a step holds all but one of them idle."""
    program = chain(8, 1 << 20)
    last = program.ops[-1]
    return program.with_ops([*program.ops[:-1], type(last)("add.forward", ("x7", "x0"), ("x8",), {"time": last.attrs["time"]})])


def test_the_plan_holds_the_time_that_the_simulator_finds():
    plan = compile(long_chain(), "migrate", settings=SMALL)
    assert plan.estimate_ns == simulate(plan).iteration_time_ns
    assert compile(long_chain(), "migrate{estimate=false}", settings=SMALL).estimate_ns is None


def test_a_later_pass_makes_the_estimate_stale():
    plan = compile(long_chain(), "migrate", settings=SMALL)
    assert compile(plan, "vitality").estimate_ns is None


def test_vitality_is_run_where_it_has_not_been():
    alone, after = (compile(long_chain(), text, settings=SMALL) for text in ("migrate", "vitality,migrate"))
    assert alone.program.level is Level.PLANNED
    assert [(op.name, op.reads) for op in alone.program.ops] == [(op.name, op.reads) for op in after.program.ops]
    assert any("inactive" in tensor.attrs for tensor in alone.program.tensors.values())


def test_vitality_twice_is_vitality_once():
    once, twice = (compile(long_chain(), text).program for text in ("vitality", "vitality,vitality"))
    assert [(op.name, op.reads) for op in once.ops] == [(op.name, op.reads) for op in twice.ops]
    assert once.tensors["x0"].attrs["inactive"] == (Range(1, 7),)


def test_the_runtime_is_a_property_of_the_plan():
    plan = compile(long_chain(), "migrate{runtime=direct}", "h100-80gb")
    assert plan.program.attrs["runtime"] == Ident("direct")
    assert simulate(plan).runtime == "direct"


def test_a_plan_that_cannot_run_says_so_when_it_is_made():
    tight = ["gpu.reserved=0B", "gpu.memory=8MiB", "ssd.bandwidth=none", "host.memory=none"]
    plan = compile(long_chain(), "migrate{runtime=direct}", settings=tight)
    assert plan.estimate_ns is None
    assert any("the plan does not run on a100-40gb" in note for note in plan.notes)
    with pytest.raises(InfeasibleError):
        simulate(plan)


def test_kernels_without_times_are_planned_without_an_estimate():
    program = long_chain()
    untimed = program.with_ops(op.with_attrs(time=None) for op in program.ops)
    assert compile(untimed, "migrate", settings=SMALL).estimate_ns is None
    with pytest.raises(InputError, match="has no time"):
        simulate(untimed)


@pytest.mark.parametrize(
    ("options", "message"), [({"memory_line": 0.0}, "memory_line"), ({"delta": -1.0}, "delta"), ({"target": ()}, "target")]
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MigratePass(**options)


def test_passes_say_what_they_give():
    assert (MigratePass.gives, VitalityPass.gives) == (Level.PLANNED, Level.PLANNED)
    assert MigratePass().spec == "migrate"
    assert MigratePass(target=("ssd",), memory_line=1.394).spec == "migrate{target=[ssd],memory_line=1.394}"
