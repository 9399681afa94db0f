"""Operations, bytes of activations and times against closed forms."""

import pytest
from builder.shapes import build, flops, parameters, saved, time_ns

from g10c.ir.program import Program
from g10c.models.transformer.builder import TransformerBuilder
from g10c.models.transformer.roofline import GPUS, Cost, Roofline

PRODUCTS = ("linear.forward", "linear.backward_input", "linear.backward_weight", "matmul.forward", "matmul.backward_a", "matmul.backward_b")


def test_operations_of_the_matrix_products():
    """6 per weight and token, 12 L B S^2 h of attention, and the additions of biases."""
    layers, hidden, ffn, vocab, batch, sequence = 3, 24, 40, 60, 5, 8
    program = build(kind="decoder", layers=layers, hidden=hidden, ffn=ffn, vocab=vocab, batch=batch, sequence=sequence, heads=2)
    tokens = batch * sequence
    weights = layers * (4 * hidden * hidden + 2 * hidden * ffn) + vocab * hidden
    biases = layers * (3 * hidden + hidden + ffn + hidden) * tokens
    attention = 12 * layers * batch * sequence**2 * hidden
    assert flops(program, *PRODUCTS) == 6 * weights * tokens + attention + biases


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_operations_of_the_step_are_near_the_rule_of_thumb(kind: str):
    """6 N tokens and attention (Kaplan et al., 2020, section 2.1). The rest, at most 2%: elementwise kernels and the optimizer, less
    what the rule counts for tables that are only looked up and, in an encoder, for the pooler, which sees one token a sample."""
    program = TransformerBuilder(kind=kind, batch=16, sequence=512).load()
    tokens = 16 * 512
    attention = 12 * 12 * 16 * 512**2 * 768
    assert flops(program) / (6 * parameters(program) * tokens + attention) == pytest.approx(1, abs=0.02)


def test_causal_fused_attention_skips_half_of_the_products():
    options = {"attention": "fused", "batch": 3, "sequence": 8, "hidden": 16, "layers": 1}
    assert flops(build(kind="encoder", **options), "attention.forward") == 4 * 3 * 8**2 * 16
    assert flops(build(kind="decoder", **options), "attention.forward") == 2 * 3 * 8**2 * 16
    assert flops(build(kind="encoder", **options), "attention.backward") == 10 * 3 * 8**2 * 16


def layer_bytes(program: Program, layer: str) -> int:
    return sum(tensor.size_bytes for tensor in saved(program) if tensor.name.startswith(f"{layer}."))


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_activation_bytes_of_a_layer(kind: str):
    """s b h (34 + 5 a s / h) of Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, equation 1,
    which leaves out the statistics of the two layer normalisations: here two f32 numbers per token and normalisation."""
    s, b, h, a = 8, 4, 16, 2
    program = build(kind=kind, dtype="f16", layers=3, sequence=s, batch=b, hidden=h, heads=a)
    statistics = 2 * 2 * 4 * s * b
    assert layer_bytes(program, "h1") == 34 * s * b * h + 5 * a * s * s * b + statistics


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_activation_bytes_without_dropout_and_with_fused_attention(kind: str):
    s, b, h, a = 8, 4, 16, 2
    options = {"kind": kind, "dtype": "bf16", "layers": 3, "sequence": s, "batch": b, "hidden": h, "heads": a}
    statistics = 2 * 2 * 4 * s * b
    # Without dropout: no masks (1 byte), and the output of softmax is also the operand of the product.
    assert layer_bytes(build(**options, dropout=0.0), "h1") == 32 * s * b * h + 2 * a * s * s * b + statistics
    # Fused: no scores at all, but an f32 number for each of their rows.
    assert layer_bytes(build(**options, attention="fused"), "h1") == 34 * s * b * h + 4 * a * s * b + statistics


def test_roofline_by_hand():
    roofline = Roofline(GPUS["a100-40gb"], "bf16", 0.5, 0.5, 1000)
    assert roofline.time_ns(Cost(156 * 10**9, 0, matrix=True)) == 1_000_000 + 1000
    assert roofline.time_ns(Cost(156 * 10**9, 0, matrix=False)) == 16_000_000 + 1000
    assert roofline.time_ns(Cost(1, 7775 * 10**5)) == 1_000_000 + 1000
    assert roofline.time_ns(Cost(0, 0)) == 1000


def test_time_of_a_kernel_by_hand():
    """A linear layer of 4096 rows, 1024 in, 4096 out in f32 on an A100: bound by 2 x 4096 x 1024 x 4096 operations."""
    program = build(kind="decoder", batch=4, sequence=1024, positions=1024, hidden=1024, heads=8, compute_efficiency=1.0)
    op = next(op for op in program.ops if op.writes == ("h0.mlp.up",))
    operations = 2 * 4096 * 1024 * 4096 + 4096 * 4096
    assert (op.attrs["flops"], op.time_ns) == (operations, -(-operations * 10 // 195_000) + 3000)


def test_traffic_of_lookups_and_updates_by_hand():
    """An embedding moves its rows, not its table; an f32 update with Adam reads and writes three tensors and reads the gradient."""
    program = build(vocab=10**6, bandwidth_efficiency=1.0, launch_latency=0)
    times = {op.writes[0]: op.time_ns for op in program.ops if op.name in ("gather.forward", "apply_grad")}
    rows = 4 * 8
    assert times["embed.word"] == -(-(rows * 4 + 2 * rows * 16 * 4) // 1555)
    assert times["embed.word.w"] == -(-(7 * 4 * 16 * 10**6) // 1555)


def test_time_grows_with_the_work_and_falls_with_the_gpu():
    for kind in ("encoder", "decoder"):
        base = {"kind": kind, "layers": 2, "hidden": 64, "batch": 8}
        times = [time_ns(build(**{**base, **more})) for more in ({}, {"layers": 3}, {"batch": 16}, {"hidden": 128}, {"sequence": 16})]
        assert min(times[1:]) > times[0]
        gpus = ("v100-32gb", "a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb")
        by_gpu = [time_ns(TransformerBuilder(kind=kind, batch=8, layers=2, gpu=gpu).load()) for gpu in gpus]
        assert by_gpu == sorted(by_gpu, reverse=True)
        assert len(set(by_gpu)) == len(by_gpu)
        by_dtype = [time_ns(TransformerBuilder(kind=kind, batch=8, layers=2, dtype=dtype).load()) for dtype in ("f32", "tf32", "bf16")]
        assert by_dtype == sorted(by_dtype, reverse=True)


def test_tf32_changes_times_only():
    f32, tf32 = build(dtype="f32"), build(dtype="tf32")
    assert [(t.name, t.dtype, t.shape) for t in f32.tensors.values()] == [(t.name, t.dtype, t.shape) for t in tf32.tensors.values()]
    assert [(op.name, op.reads, op.writes) for op in f32.ops] == [(op.name, op.reads, op.writes) for op in tf32.ops]
