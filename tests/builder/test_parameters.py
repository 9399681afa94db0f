"""Numbers of parameters: the published ones, and the formula for any size."""

import pytest
from builder.shapes import build, parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from g10c.ir.program import Role
from g10c.models.transformer.builder import TransformerBuilder


@pytest.mark.parametrize(
    ("options", "published"),
    [
        ({"kind": "encoder"}, 110_106_428),  # BERT-Base uncased for pretraining
        ({"kind": "encoder", "head": "mlm"}, 109_514_298),  # ... for masked words
        ({"kind": "encoder", "head": "classifier"}, 109_483_778),  # ... for two classes
        ({"kind": "encoder", "layers": 24, "hidden": 1024, "heads": 16}, 336_226_108),  # BERT-Large uncased for pretraining
        ({"kind": "decoder"}, 124_439_808),  # GPT-2 small
        ({"kind": "decoder", "layers": 24, "hidden": 1024, "heads": 16}, 354_823_168),  # GPT-2 medium
        ({"kind": "decoder", "layers": 36, "hidden": 1280, "heads": 20}, 774_030_080),  # GPT-2 large
        ({"kind": "decoder", "layers": 48, "hidden": 1600, "heads": 25}, 1_557_611_200),  # GPT-2 XL
    ],
)
def test_published_models(options: dict[str, object], published: int):
    assert parameters(TransformerBuilder(batch=1, **options).load()) == published  # type: ignore[arg-type]


def test_bert_without_its_pretraining_heads():
    program = TransformerBuilder(batch=1).load()
    assert parameters(program) - parameters(program, "mlm.") - parameters(program, "nsp.") == 109_482_240


def formula(kind: str, layers: int, hidden: int, ffn: int, vocab: int, positions: int, untied: bool) -> int:
    block = 4 * (hidden * hidden + hidden) + (hidden * ffn + ffn) + (ffn * hidden + hidden) + 2 * 2 * hidden
    count = vocab * hidden + positions * hidden + layers * block + (vocab * hidden if untied else 0) + 2 * hidden
    if kind == "decoder":
        return count
    pooler, mlm, nsp = hidden * hidden + hidden, hidden * hidden + hidden + 2 * hidden + vocab, 2 * hidden + 2
    return count + 2 * hidden + pooler + mlm + nsp


@given(
    kind=st.sampled_from(["encoder", "decoder"]),
    layers=st.integers(1, 4),
    heads=st.integers(1, 4),
    width=st.integers(1, 8),
    ffn=st.integers(1, 40),
    vocab=st.integers(1, 100),
    positions=st.integers(8, 32),
    untied=st.booleans(),
    attention=st.sampled_from(["fused", "unfused"]),
)
@settings(max_examples=40, deadline=None)
def test_any_size(kind: str, layers: int, heads: int, width: int, ffn: int, vocab: int, positions: int, untied: bool, attention: str):
    hidden = heads * width
    options = {"kind": kind, "layers": layers, "hidden": hidden, "ffn": ffn, "vocab": vocab, "positions": positions, "untied": untied}
    program = build(**options, heads=heads, attention=attention)
    assert parameters(program) == formula(kind, layers, hidden, ffn, vocab, positions, untied)


def test_bytes_per_parameter_in_mixed_precision_with_adam():
    program = build(dtype="bf16")
    persistent = sum(t.size_bytes for t in program.tensors.values() if t.persistent)
    gradients = sum(program.tensors[op.reads[1]].size_bytes for op in program.ops if op.name == "apply_grad")
    assert (persistent + gradients) == 16 * parameters(program)


@pytest.mark.parametrize(("optimizer", "states"), [("sgd", 0), ("momentum", 1), ("adam", 2), ("adamw", 2)])
def test_optimizer_state(optimizer: str, states: int):
    program = build(optimizer=optimizer)
    state = [t for t in program.tensors.values() if t.role is Role.OPTIMIZER]
    assert sum(t.size_bytes for t in state) == 4 * states * parameters(program)
    assert all(t.dtype == "f32" for t in state)
