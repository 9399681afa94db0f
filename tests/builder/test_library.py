"""The bundled models: their files are what their commands write, and they are what they say."""

import shlex
from pathlib import Path

import pytest
from builder.shapes import parameters
from support import ROOT, g10c

from g10c.compiler.summary import summarize
from g10c.ir.errors import InputError
from g10c.ir.parser import load_program
from g10c.models.library import BUNDLED, MODELS, find


@pytest.mark.parametrize("name", MODELS)
def test_the_command_writes_the_file(name: str, tmp_path: Path):
    *words, target = shlex.split(MODELS[name].command)
    assert (ROOT / target).samefile(MODELS[name].path)
    made = tmp_path / "made.ir"
    finished = g10c(*words[1:], made)
    assert (finished.status, finished.err) == (0, "")
    assert made.read_bytes() == MODELS[name].path.read_bytes(), f"run again: {MODELS[name].command}"


@pytest.mark.parametrize(("name", "published"), [("bert-base", 110_106_428), ("gpt2", 124_439_808)])
def test_parameters(name: str, published: int):
    assert parameters(load_program(BUNDLED[name])) == published
    assert f"{published:,}" in MODELS[name].summary


@pytest.mark.parametrize("name", MODELS)
def test_a_step_needs_a_plan_on_40_gib_and_the_file_is_small(name: str):
    peak = summarize(load_program(BUNDLED[name])).live_peak_bytes
    assert 1.3 * (40 << 30) < peak < 2 * (40 << 30)
    assert BUNDLED[name].stat().st_size < 250_000


def test_finding():
    assert find("gpt2") is MODELS["gpt2"]
    with pytest.raises(InputError, match="unknown model 'bert_base'\n  help: did you mean 'bert-base'"):
        find("bert_base")
