"""Options: what is refused and how, and the command that a program carries."""

import shlex

import pytest
from builder.shapes import build, time_ns

from g10c.compiler.options import from_text, options_of
from g10c.ir.errors import UsageError
from g10c.ir.printer import print_program
from g10c.ir.program import Program
from g10c.ir.verifier import check_program
from g10c.models.transformer.builder import TransformerBuilder


def mistakes(**options: object) -> str:
    with pytest.raises(UsageError) as caught:
        TransformerBuilder(**options).load()  # type: ignore[arg-type]
    return str(caught.value)


def test_all_mistakes_at_once():
    wrong = {"kind": "encodr", "layers": 0, "heads": 7, "gpu": "a100", "dtype": "bf61", "optimizer": "adamv", "dropout": 1.0, "batch": -3}
    assert mistakes(**wrong, compute_efficiency=1.5, update="never", program="a b") == (
        "--kind: error: unknown kind 'encodr'\n"
        "  help: did you mean 'encoder' or 'decoder'?\n"
        "--dtype: error: unknown dtype 'bf61'\n"
        "  help: did you mean 'bf16'?\n"
        "--optimizer: error: unknown optimizer 'adamv'\n"
        "  help: did you mean 'adam' or 'adamw'?\n"
        "--update: error: unknown update 'never'\n"
        "  help: known values of --update: backward, end\n"
        "--gpu: error: unknown gpu 'a100'\n"
        "  help: did you mean 'a100-80gb' or 'a100-40gb'?\n"
        "--program: error: 'a b' is not a name\n"
        "  help: letters, digits and '_', and '.', '-', '/', ':' inside\n"
        "--layers: error: 0 is not between 1 and 4096\n"
        "--batch: error: -3 is not between 1 and 16777216\n"
        "--heads: error: hidden width 768 is not a multiple of 7 heads\n"
        "  help: each head has hidden / heads columns; with 7 heads, hidden could be 763 or 770\n"
        "--dropout: error: 1.0 is not a probability of at least 0 and below 1\n"
        "--compute-efficiency: error: 1.5 is not a share between 0.001 and 1"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gpu": "v100-32gb", "dtype": "bf16"}, "v100-32gb does not compute in bf16\n  help: it computes in f32, f16"),
        ({"sequence": 600}, "sequences of 600 tokens, but position embeddings for 512 only\n  help: give --positions 600"),
        ({"kind": "decoder", "head": "mlm"}, "a network of kind decoder has no head 'mlm'\n  help: did you mean 'lm'?"),
        ({"head": "classifier", "untied": True}, "--untied: error: a classifier has no output projection"),
        ({"heads": 0}, "--heads: error: 0 is not between 1"),
        ({"dropout": float("nan")}, "--dropout: error: nan is not"),
        ({"bandwidth_efficiency": 0.0}, "--bandwidth-efficiency: error: 0.0 is not a share"),
        ({"launch_latency": -1}, "--launch-latency: error: -1ns is not between 0ns and 1s"),
        ({"batch": 1 << 24, "sequence": 1 << 20, "positions": 1 << 20}, "--batch: error: the largest kernels of all layers"),
    ],
)
def test_a_mistake(options: dict[str, object], message: str):
    assert message in mistakes(**options)


def test_the_largest_step_that_is_accepted_verifies():
    huge = {"hidden": 1 << 12, "vocab": 1 << 15, "batch": 1 << 17, "sequence": 1 << 12, "positions": 1 << 12, "attention": "fused"}
    program = build(**huge, layers=1, gpu="v100-32gb", compute_efficiency=0.001, bandwidth_efficiency=0.001)
    check_program(program)
    assert 1 << 51 < max(op.time_ns for op in program.ops) < time_ns(program) < 1 << 63
    assert "operations or bytes" in mistakes(**{**huge, "batch": 1 << 20}, layers=1, heads=2)


def run(command: str) -> Program:
    """The program that a command line without an output file gives."""
    options = {option.flag: option for option in options_of(TransformerBuilder)}
    words = shlex.split(command)
    assert words[:3] == ["g10c", "import", "transformer"]
    values: dict[str, object] = {}
    rest = words[3:]
    while rest:
        option = options[rest.pop(0)]
        values[option.name] = True if option.type is bool else from_text(option.type, rest.pop(0))
    return TransformerBuilder(**values).load()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "decoder", "untied": True, "dropout": 0.0, "dtype": "f16", "update": "backward", "gpu": "h100-80gb"},
        {"head": "classifier", "attention": "fused", "optimizer": "momentum", "launch_latency": 0, "program": "mine"},
    ],
)
def test_the_command_in_a_program_builds_it_again(options: dict[str, object]):
    program = build(**options)
    assert print_program(run(str(program.attrs["command"]))) == print_program(program)


def test_every_option_says_what_it_is():
    options = options_of(TransformerBuilder)
    assert all(option.help and not option.required for option in options)
