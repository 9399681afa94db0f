"""The pass `rewrite`: rules files by path and name, settings, limits, and inactive periods."""

from __future__ import annotations

from pathlib import Path

import pytest

from g10c.compiler import compile as compile_program
from g10c.compiler.driver import CompileOptions, pass_registry
from g10c.compiler.pipeline import build_passes, parse_pipeline, pipeline_text
from g10c.compiler.registry import library
from g10c.ir.errors import InputError
from g10c.ir.parser import parse_program
from g10c.passes.rewrite import RewritePass, find_rules
from g10c.passes.rule_library import BUNDLED

STEP = parse_program(
    """g10c.ir 1
program step {batch = 4}
tensor %x : f32[4, 1048576]  input
tensor %w : f32[1048576]  weight
tensor %h : f32[4, 1048576]  activation
tensor %g : f32[1048576]  gradient
tensor %s : f32[1048576]  gradient
%h = scale.forward(%x, %w)  {time = 100us, phase = forward}
%g = scale.backward(%h, %w)  {time = 100us, phase = backward}
%s = scale.forward(%g)  {time = 10us, phase = update}
%w = apply_grad(%w, %s)  {time = 20us, phase = update}
"""
)

FUSE = """
let least = 1MiB
rule fuse
  match   %s = scale.forward(%g)
          %w = apply_grad(%w, %s)
  where   bytes(%s) > least
  rewrite %w = scaled_apply_grad(%w, %g)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fuse.rules").write_text(FUSE)
    return tmp_path


def names(plan) -> list[str]:
    return [op.name for op in plan.program.kernels]


FUSED = ["scale.forward", "scale.backward", "scaled_apply_grad"]
WHOLE = ["scale.forward", "scale.backward", "scale.forward", "apply_grad"]


def test_rules_are_applied_and_counted(folder):
    plan = compile_program(STEP, "rewrite{rules=fuse.rules}")
    assert names(plan) == FUSED
    assert plan.statistics["firings of fuse"] == 1
    assert plan.pipeline == "rewrite{rules=fuse.rules}"


def test_constants_are_set(folder):
    assert names(compile_program(STEP, 'rewrite{rules=fuse.rules,set="least=8MiB"}')) == WHOLE
    assert names(compile_program(STEP, 'rewrite{rules=fuse.rules,set=["least=1KiB"]}')) == FUSED


def test_the_pipeline_reads_back(folder):
    text = 'rewrite{rules=fuse.rules,set=["least=8MiB"],limit=3}'
    passes = build_passes(parse_pipeline(text), pass_registry())
    assert pipeline_text(passes) == text
    assert passes == [RewritePass("fuse.rules", ("least=8MiB",), 3)]


def test_bundled_rules_are_found_by_name(folder):
    assert compile_program(STEP, "rewrite{rules=in-place}").statistics["firings of in-place"] == 1
    assert find_rules("in-place") == BUNDLED["in-place"]
    assert set(BUNDLED) <= set(library("g10c.rules"))


def test_every_bundled_file_is_right():
    assert BUNDLED
    for name, path in BUNDLED.items():
        assert len(RewritePass(name).rule_set({})) > 0
        assert path.read_text(encoding="utf-8").startswith("# "), f"{path}: its first line says what it does"


def test_unknown_names(folder):
    with pytest.raises(InputError, match="no bundled rules of that name\n  help: did you mean 'in-place'"):
        compile_program(STEP, "rewrite{rules=in-plac}")
    with pytest.raises(InputError, match="nothing: no such file, and no bundled rules of that name"):
        compile_program(STEP, "rewrite{rules=nothing}")
    with pytest.raises(InputError, match=r"no such file\n  help: did you mean 'fuse\.rules'"):
        compile_program(STEP, "rewrite{rules=fus.rules}")


@pytest.mark.parametrize(
    ("options", "message"), [('rules=""', "rules: expected a file"), ("rules=x,limit=-1", "limit: expected 0 or more, found -1")]
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        compile_program(STEP, f"rewrite{{{options}}}")


def test_mistakes_are_told_before_any_pass_runs(folder):
    (folder / "passes.py").write_text(
        "from dataclasses import dataclass\nfrom g10c.compiler import Pass\n\n\n@dataclass(frozen=True)\nclass Mark(Pass):\n"
        '    name = "mark"\n\n    def run(self, program, context):\n        open("ran", "w").close()\n        return program\n'
    )
    (folder / "wrong.rules").write_text("rule r\nmatch %y = reluu.forward(%x)\nrewrite nothing\n")
    with pytest.raises(InputError, match=r"unknown op 'reluu\.forward'"):
        compile_program(STEP, "mark,rewrite{rules=wrong.rules}", options=CompileOptions(load=["passes.py"]))
    assert not (folder / "ran").exists()


def test_functions_of_loaded_files(folder):
    (folder / "small.py").write_text(
        "from g10c.compiler import rule_function\n\n\n@rule_function\ndef small(x):\n    return x.size_bytes < 1000\n"
    )
    (folder / "fuse.rules").write_text(FUSE.replace("bytes(%s) > least", "not small(%s)"))
    assert names(compile_program(STEP, "rewrite{rules=fuse.rules}", options=CompileOptions(load=["small.py"]))) == FUSED
    with pytest.raises(InputError, match="there is no function 'small'"):
        compile_program(STEP, "rewrite{rules=fuse.rules}")


def test_the_limit(folder):
    (folder / "endless.rules").write_text("rule endless\nmatch @a: %g = scale.backward(%h, %w)\nrewrite @a: %g = @a(%h, %w) {flops = 1}\n")
    with pytest.raises(InputError, match=r"fired 5 times without an end: endless .* fired 6 times"):
        compile_program(STEP, "rewrite{rules=endless.rules,limit=5}")


def _inactive(plan) -> int:
    return sum("inactive" in tensor.attrs for tensor in plan.program.tensors.values())


def test_inactive_periods_go_with_the_numbers_of_kernels(folder):
    planned = compile_program(STEP, "vitality")
    assert _inactive(planned)
    assert _inactive(compile_program(planned, "rewrite{rules=fuse.rules}")) == 0
    assert _inactive(compile_program(planned, 'rewrite{rules=fuse.rules,set="least=1GiB"}')) == _inactive(planned)


def test_inactive_periods_stay_where_only_directives_or_attributes_change(folder):
    (folder / "directives.rules").write_text(
        "rule no-free\nmatch free(%x)\nrewrite nothing\nrule mark\nmatch @a: %y = scale.backward(_...)\nwhere not has(@a, my.seen)\n"
        "rewrite keep @a {my.seen = true}\n"
    )
    planned = compile_program(STEP, "vitality")
    done = compile_program(planned, "rewrite{rules=directives.rules}")
    assert not any(op.name == "free" for op in done.program.ops)
    assert any("my.seen" in op.attrs for op in done.program.ops)
    assert _inactive(done) == _inactive(planned)


def test_planning_after_rewriting(folder):
    plan = compile_program(STEP, "vitality,rewrite{rules=fuse.rules},vitality")
    assert names(plan) == FUSED
    assert [op.name for op in plan.program.ops if op.name == "alloc"] == ["alloc"] * 3
