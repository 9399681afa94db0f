"""The bundled rules on random programs: what is observable stays, or changes as they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewriting.oracle import Interpreter
from rewriting.programs import random_programs
from rule_library.training_programs import training_programs

from g10c.compiler.rewriting.engine import Rewritten, apply_rules
from g10c.compiler.rewriting.log import RewriteLog
from g10c.compiler.rewriting.rule import RuleSet
from g10c.compiler.rules.reader import load_rules
from g10c.ir.parser import parse_program
from g10c.ir.printer import print_program
from g10c.ir.program import Program
from g10c.ir.verifier import verify
from g10c.passes.rule_library import BUNDLED

CHANGING = {"half-activations": ["half-activations"], "freeze": ["freeze"], "gradient-buckets": ["reduce-gradient"]}
"""The rules that change values, by file; the others do not."""


def rules(name: str, set_: Iterable[str] = ()) -> RuleSet:
    return load_rules(BUNDLED[name], {}, set_)


def every_program(check: Callable[[Program], None]) -> None:
    """Run a check on many random programs."""

    @settings(max_examples=400, deadline=None, database=None)
    @given(st.one_of(training_programs(), training_programs(), random_programs()))
    def run(step: Program) -> None:
        assert verify(step) == []
        check(step)

    run()


def rewritten(step: Program, rules: RuleSet, log: RewriteLog | None = None) -> Rewritten:
    """What rules make of a program: legal, and the same when it is printed and read."""
    done = apply_rules(step, rules, log=log)
    assert verify(done.program) == []
    text = print_program(done.program)
    assert print_program(parse_program(text)) == text
    return done


def test_what_changes_values_says_so():
    for name in BUNDLED:
        assert [rule.name for rule in rules(name) if rule.changes_values] == CHANGING.get(name, [])


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("dead-tensors", []),
        ("elementwise-fusion", []),
        ("in-place", ["least=0B"]),
        ("recompute", ["least=0B"]),
    ],
)
def test_values_stay(name, setting):
    found = rules(name, setting)
    fired = Counter[str]()

    def check(step: Program) -> None:
        log, interpreter = RewriteLog(), Interpreter()
        done = rewritten(step, found, log)
        interpreter.learn(log.firings)
        assert interpreter.results(done.program) == interpreter.results(step)
        fired.update(done.firings)

    every_program(check)
    assert all(fired[rule.name] >= 10 for rule in found), fired


def test_several_files_together_leave_values_as_they_are():
    names = ["dead-tensors", "recompute", "in-place"]
    everything = sum((rules(name, ["least=0B"] if name != "dead-tensors" else []) for name in names[1:]), rules(names[0]))

    def check(step: Program) -> None:
        interpreter = Interpreter()
        assert interpreter.results(rewritten(step, everything).program) == interpreter.results(step)

    every_program(check)


def test_half_activations_change_the_type_of_activations_and_nothing_else():
    found = rules("half-activations", ["least=0B"])
    fired = Counter[str]()

    def check(step: Program) -> None:
        done = rewritten(step, found)
        assert [(op.name, op.reads, op.writes, op.attrs) for op in done.program.ops] == [
            (op.name, op.reads, op.writes, op.attrs) for op in step.ops
        ]
        first = {op.writes[0] for op in step.ops if op.writes} | {
            name for op in step.ops if op.name == "split.forward" for name in op.writes
        }
        for name, tensor in step.tensors.items():
            after = done.program.tensors.get(name, tensor)
            halved = tensor.role == "activation" and tensor.dtype == "f32" and name in first
            assert (after.dtype, after.shape, after.role) == ("f16" if halved else tensor.dtype, tensor.shape, tensor.role)
        fired.update(done.firings)

    every_program(check)
    assert fired["half-activations"] >= 10


def test_freeze_leaves_out_updates_of_the_layer_and_no_others():
    found = rules("freeze")
    fired = Counter[str]()

    def check(step: Program) -> None:
        done = rewritten(step, found)
        gone = [op for op in step.ops if op not in done.program.ops]
        assert all(op.name.endswith("apply_grad") and op.attrs["layer"] == "embed" for op in gone)
        assert len(gone) == sum(done.firings.values())
        assert len(done.program.ops) == len(step.ops) - len(gone)
        fired.update(done.firings)

    every_program(check)
    assert fired["freeze"] >= 10


def reduced(step: Program) -> list[tuple[str, bool]]:
    """The gradients that updates read, in order, and whether a sum over ranks made what they read."""
    made: dict[str, str] = {}
    found = []
    for op in step.ops:
        if op.name.endswith("apply_grad"):
            found += [(name, made[name] == "all_reduce") for name in op.reads if step.tensors[name].role == "gradient" and name in made]
        made |= dict.fromkeys(op.writes, op.name)
    return found


def test_every_gradient_is_reduced_once_before_an_update_reads_it():
    found = rules("gradient-buckets", ["bucket=128B"])
    fired = Counter[str]()

    def check(step: Program) -> None:
        done = rewritten(step, found)
        assert all(ready for _, ready in reduced(done.program))
        assert [name for name, _ in reduced(done.program)] == [name for name, _ in reduced(step)]
        interpreter = Interpreter(one_rank=True)
        assert interpreter.results(done.program) == interpreter.results(step)
        fired.update(done.firings)

    every_program(check)
    assert all(fired[rule.name] >= 10 for rule in found), fired


def test_buckets_hold_the_sums_that_were_there():
    everything = rules("gradient-buckets", ["bucket=128B"])
    insert, join = RuleSet(everything.rules[:1]), RuleSet(everything.rules[1:])
    joined = Counter[str]()

    def check(step: Program) -> None:
        apart = rewritten(step, insert).program
        together = rewritten(apart, join)
        interpreter = Interpreter()
        assert interpreter.results(together.program) == interpreter.results(apart)
        for op in together.program.ops:
            if op.name == "all_reduce" and len(op.reads) > 1:
                assert sum(step.tensors[name].size_bytes for name in op.reads) <= 128
        joined.update(together.firings)

    every_program(check)
    assert joined["join-reductions"] >= 10
