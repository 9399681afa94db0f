"""Running passes: levels, verification, observers, reproducers, analyses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from compiler_programs import chain

from g10c.compiler.analyses import LIFETIMES, STEP
from g10c.compiler.analysis import Analysis, AnalysisCache
from g10c.compiler.observers import PrintAfter, Recorder, Reproducer
from g10c.compiler.pass_base import UNPLANNED, Pass, PassContext, option
from g10c.compiler.pass_manager import PassError, run_passes
from g10c.compiler.rewriting.rewriter import Rewriter
from g10c.ir.errors import InfeasibleError, InputError
from g10c.ir.machine import Machine
from g10c.ir.parser import parse_program
from g10c.ir.printer import print_program
from g10c.ir.program import Level, Op, Program, directive


@dataclass(frozen=True)
class Evict(Pass):
    """Evicts the first activation at the end."""

    name = "evict-one"
    gives = Level.PLANNED
    preserves = frozenset({STEP})
    times: int = option(1, "how often")

    def run(self, program: Program, context: PassContext) -> Program:
        context.analysis(STEP, program)
        context.analysis(LIFETIMES, program)
        context.count("evictions", self.times)
        context.note("one note")
        return program.with_ops([*program.ops, directive("evict", "x1", "host")])


@dataclass(frozen=True)
class Shard(Pass):
    """Takes programs without directives only."""

    name = "shard"
    takes = UNPLANNED

    def run(self, program: Program, context: PassContext) -> Program:
        return program


@dataclass(frozen=True)
class Broken(Pass):
    """Reads a tensor that is not declared."""

    name = "broken"

    def run(self, program: Program, context: PassContext) -> Program:
        return program.with_ops([*program.ops, Op("relu.forward", ("ghost",), ("x1",))])


@dataclass(frozen=True)
class Crash(Pass):
    """Raises."""

    name = "crash"

    def run(self, program: Program, context: PassContext) -> Program:
        raise KeyError("oops")


@dataclass(frozen=True)
class Returns(Pass):
    """Forgets to return."""

    name = "forgets"

    def run(self, program: Program, context: PassContext) -> Program:
        return None  # type: ignore[return-value] # what is tested


@dataclass(frozen=True)
class DoesNotFit(Pass):
    """Says that it cannot."""

    name = "too-big"

    def run(self, program: Program, context: PassContext) -> Program:
        raise InfeasibleError.at("does not fit")


@pytest.fixture
def context() -> PassContext:
    return PassContext(Machine("m"))


def test_passes_run_in_order_and_are_recorded(context):
    recorder, printed = Recorder(), []
    program = chain()
    after = run_passes(program, [Shard(), Evict(times=2)], context, [recorder, PrintAfter({"evict-one"}, printed.append)])
    assert after.level is Level.PLANNED
    assert program.level is Level.TRACED
    assert [record.spec for record in recorder.records] == ["shard", "evict-one{times=2}"]
    assert recorder.records[1].statistics == {"evictions": 2}
    assert context.notes == ["one note"]
    assert len(printed) == 1
    assert "evict(%x1)" in printed[0]
    assert "evict-one{times=2}" in recorder.timing_table()
    assert "evictions" in recorder.statistics_table()


def test_the_wrong_order_is_refused_with_the_right_one(context):
    with pytest.raises(InputError) as caught:
        run_passes(chain(), [Evict(), Shard()], context)
    text = caught.value.render()
    assert "pass 'shard' cannot run on a planned program: it has evict(%x1)" in text
    assert "put it first: --pass 'shard,evict-one'" in text


def test_a_pass_that_breaks_the_program_is_named_with_the_rule(context):
    with pytest.raises(PassError) as caught:
        run_passes(chain(), [Broken()], context)
    assert "pass 'broken' broke the program: " in caught.value.render()
    assert "ghost" in caught.value.render()


@pytest.mark.parametrize(("item", "message"), [(Crash(), "pass 'crash' failed: KeyError: 'oops'"), (Returns(), "returned NoneType")])
def test_a_crash_is_a_message(item, message, context):
    with pytest.raises(PassError) as caught:
        run_passes(chain(), [item], context)
    assert message in caught.value.render()


def test_a_failing_pass_leaves_a_reproducer(tmp_path, context):
    observer = Reproducer(str(tmp_path / "failure.ir"), context.machine)
    program = chain()
    with pytest.raises(PassError):
        run_passes(program, [Shard(), Crash(), Evict()], context, [observer])
    text = (tmp_path / "failure.ir").read_text()
    assert observer.command in text
    assert "--pass crash,evict-one" in text
    assert print_program(parse_program(text)) == print_program(program)
    assert (tmp_path / "failure.ir.toml").exists()


def test_what_does_not_fit_is_not_a_failure_of_the_pass(tmp_path, context):
    observer = Reproducer(str(tmp_path / "failure.ir"), context.machine)
    with pytest.raises(InfeasibleError):
        run_passes(chain(), [DoesNotFit()], context, [observer])
    assert observer.command is None


def test_analyses_are_computed_once_and_dropped_unless_preserved(context):
    program = chain()
    context.analysis(STEP, program)
    after = run_passes(program, [Evict()], context)
    assert context.analyses.computed == {"step": 1, "lifetimes": 1}
    context.analysis(STEP, after)
    assert context.analyses.computed["step"] == 1
    context.analysis(LIFETIMES, after)
    assert context.analyses.computed == {"step": 1, "lifetimes": 2}


def test_analyses_go_with_their_program():
    import gc

    cache, values = AnalysisCache(), []
    fact = Analysis("fact", lambda program, cache: values.append(program.name) or len(values))
    program = chain()
    assert (cache.get(fact, program), cache.get(fact, program)) == (1, 1)
    del program
    gc.collect()
    assert len(cache._results) == 0


def test_rewriter_edits_in_place_order():
    program = chain()
    first, second, third = program.ops
    rewriter = Rewriter(program)
    assert rewriter.finish() is program
    rewriter.insert_before(second, Op("zero", (), ("x2",)))
    rewriter.insert_before(second, Op("load", (), ("x2",)))
    rewriter.insert_after(second, directive("free", "x1"))
    rewriter.replace(third, replace(third, name="gelu.forward"))
    rewriter.erase(first)
    rewriter.append(directive("free", "x3"))
    after = rewriter.finish()
    assert [op.name for op in after.ops] == ["zero", "load", "relu.forward", "free", "gelu.forward", "free"]
    assert [op.name for op in program.ops] == ["relu.forward"] * 3


def test_rewriter_refuses_foreign_and_repeated_edits():
    program, other = chain(), chain()
    rewriter = Rewriter(program)
    with pytest.raises(ValueError, match="not an op of program"):
        rewriter.insert_before(other.ops[0], directive("free", "x1"))
    rewriter.erase(program.ops[0])
    with pytest.raises(ValueError, match="already replaced or erased"):
        rewriter.erase(program.ops[0])


def test_rewriter_tensors_and_fresh_names():
    program = chain()
    rewriter = Rewriter(program)
    assert rewriter.fresh_name("y") == "y"
    assert rewriter.fresh_name("x1") == "x1.2"
    rewriter.set_tensor(replace(program.tensors["x1"], name="x1.2"))
    assert rewriter.fresh_name("x1") == "x1.3"
    rewriter.erase_tensor("x3")
    assert list(rewriter.finish().tensors) == ["x0", "x1", "x2", "x1.2"]
