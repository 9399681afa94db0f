"""The bundled rules on bundled models and a real trace: how often they fire, and what that brings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from support import ROOT

from g10c.compiler import compile as compile_program
from g10c.compiler import load, simulate
from g10c.compiler.summary import summarize
from g10c.ir.program import Program
from g10c.ir.values import human_size, human_time
from g10c.models.g10.importer import G10Importer
from g10c.passes.rule_library import BUNDLED

FIRINGS: dict[tuple[str, str], dict[str, int]] = {
    ("elementwise-fusion", "bert-base"): {"fuse-elementwise": 26},
    ("elementwise-fusion", "gpt2"): {"fuse-elementwise": 26},
    ("elementwise-fusion", "trace"): {"fuse-elementwise": 100},
    ("in-place", "bert-base"): {"in-place": 129},
    ("in-place", "gpt2"): {"in-place": 88},
    ("in-place", "trace"): {"in-place": 148},
    ("recompute", "bert-base"): {"recompute": 59, "share-copy": 22},
    ("recompute", "gpt2"): {"recompute": 37},
    ("recompute", "trace"): {"recompute": 87, "share-copy": 25},
    ("half-activations", "bert-base"): {"half-activations": 217},
    ("half-activations", "gpt2"): {},  # its activations are bf16
    ("half-activations", "trace"): {"half-activations": 372},
    ("freeze, dead-tensors", "bert-base"): {"freeze": 5, "dead-op": 12},
    ("freeze, dead-tensors", "gpt2"): {"freeze": 2, "dead-op": 7},
    ("gradient-buckets", "bert-base"): {"reduce-gradient": 206, "join-reductions": 190},
    ("gradient-buckets", "gpt2"): {"reduce-gradient": 148, "join-reductions": 139},
    ("gradient-buckets", "trace"): {"reduce-gradient": 191},  # each update follows its gradient: nothing waits to be joined
}
SHOWN = [
    (rules, model) for model in ("bert-base", "gpt2") for rules in ("none", *dict.fromkeys(rules for rules, of in FIRINGS if of == model))
]
"""The rows of the table in ``docs/rules.md``; programs of several ranks and what nothing fired on are not in it."""
SHOWN = [row for row in SHOWN if row[0] != "gradient-buckets" and FIRINGS.get(row, True)]


def pipeline(rules: str) -> str:
    return ",".join(f"rewrite{{rules={name}}}" for name in rules.split(", ")) if rules != "none" else ""


@pytest.fixture(scope="module")
def model(request) -> Callable[[str], Program]:
    """Programs by name; ``trace`` is BERT_Base with a batch of 256, as the G10 artifact profiled it."""

    @cache
    def find(name: str) -> Program:
        if name != "trace":
            return load(name)
        data: Path = request.getfixturevalue("g10_data")
        return G10Importer(data / "nets" / "BERT_Base.txt", 256, data / "times" / "BERT_Base" / "cudnn256.txt").load()

    return find


def test_every_rule_fires_on_a_model():
    from g10c.compiler.rules.reader import load_rules

    fire = {(part, rule) for (files, _), found in FIRINGS.items() for rule in found for part in files.split(", ")}
    assert {(name, rule.name) for name, path in BUNDLED.items() for rule in load_rules(path)} <= fire


@pytest.mark.parametrize(("rules", "name"), FIRINGS, ids=lambda value: value)
def test_firings(rules: str, name: str, model):
    plan = compile_program(model(name), pipeline(rules))
    prefix = "firings of "
    found = {key.removeprefix(prefix): number for key, number in plan.statistics.items() if key.startswith(prefix)}
    assert found == FIRINGS[rules, name]


@pytest.mark.parametrize(("rules", "name"), SHOWN, ids=lambda value: value)
def test_the_table_of_effects(rules: str, name: str, model, request):
    program = compile_program(model(name), pipeline(rules)).program
    summary = summarize(program)
    planned = simulate(compile_program(program, "vitality,migrate")).iteration_time_ns
    paging = simulate(program).iteration_time_ns
    times = [human_time(value) for value in (summary.ideal_time_ns, planned, paging)]
    row = f"| {rules} | {name} | {summary.kernels} | {human_size(summary.live_peak_bytes)} | {' | '.join(times)} |"
    path = ROOT / "docs" / "rules.md"
    document = path.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        path.write_text(re.sub(rf"^\| {re.escape(rules)} \| {re.escape(name)} \|.*$", row, document, flags=re.MULTILINE), encoding="utf-8")
        return
    assert row in document.splitlines(), f"what {rules} does to {name} has changed: pytest --update-golden {Path(__file__).name}"


@pytest.mark.parametrize("name", ["bert-base", "gpt2"])
def test_a_reduction_is_complete_before_the_update_that_reads_it(name: str, model):
    program = compile_program(model(name), "rewrite{rules=gradient-buckets}").program
    assert program.attrs["mesh"] == "dp=8"
    made: dict[str, str] = {}
    gradients = []
    for op in program.ops:
        if op.name == "apply_grad":
            gradients += [made[tensor] for tensor in op.reads if not program.tensors[tensor].persistent]
        made |= dict.fromkeys(op.writes, op.name)
    assert set(gradients) == {"all_reduce"}
    buckets = [op for op in program.ops if op.name == "all_reduce"]
    assert sorted(tensor for op in buckets for tensor in op.reads) == sorted({tensor for op in buckets for tensor in op.writes})
    sizes = [sum(program.tensors[tensor].size_bytes for tensor in op.reads) for op in buckets]
    assert all(size <= 25 << 20 for op, size in zip(buckets, sizes, strict=True) if len(op.reads) > 1)
    first = next(number for number, op in enumerate(program.ops) if op.name == "all_reduce")
    assert any(op.attrs.get("phase") == "backward" for op in program.ops[first:])  # not all at the end


def test_a_copy_takes_the_place_of_each_activation_that_is_kept_no_longer(model):
    before = model("gpt2")
    after = compile_program(before, "rewrite{rules=recompute}").program
    copies = [op for op in after.ops if "recompute.copy" in op.attrs]
    assert {op.name for op in copies} == {"gelu.forward", "layer_norm.forward"}
    assert not any(op.name == "dropout.forward" and op.attrs["phase"] == "backward" for op in after.ops)
    assert len(after.kernels) - len(before.kernels) == len(copies)
    assert summarize(after).live_peak_bytes < 0.8 * summarize(before).live_peak_bytes


def test_frozen_layers_have_no_updates(model):
    after = compile_program(model("bert-base"), 'rewrite{rules=freeze,set="layer=h0"}').program
    assert not any(op.name == "apply_grad" and op.attrs["layer"] == "h0" for op in after.ops)
    assert any(op.name == "apply_grad" and op.attrs["layer"] == "h1" for op in after.ops)
