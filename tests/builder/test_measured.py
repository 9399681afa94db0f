"""Predicted times against measurements that others published; skipped where those are absent."""

import csv
import statistics
from pathlib import Path

import pytest
from support import data_folder

from g10c.models.transformer.builder import TransformerBuilder


@pytest.fixture(scope="module")
def measured() -> Path:
    folder = data_folder()
    if folder is None or not (folder / "measured").is_dir():
        pytest.skip("published data not found; set G10C_DATA")
    return folder / "measured"


@pytest.mark.parametrize(
    ("operator", "ours"),
    [
        ("lm_head", "lm.logits"),
        ("addmm_2", "h0.mlp.up"),
        ("addmm_3", "h0.mlp.down"),
        ("addmm_1", "h0.attn.out"),
        ("softmax", "h0.attn.prob"),
        ("transformer_h_0_attn_attn_dropout", "h0.attn.prob.drop"),
        ("add_15", "h0.mlp.sum"),
    ],
)
def test_kernels_of_gpt2_large_on_an_h100(measured: Path, operator: str, ours: str):
    """NeuSight's table, f32, batch 4: within 30%."""
    with (measured / "neusight" / "H100-gpt2_large-train-1024-4.csv").open(newline="") as file:
        expected_ms = next(float(row["fw_latency"]) for row in csv.DictReader(file) if row["Name"] == operator)
    program = TransformerBuilder(kind="decoder", layers=1, hidden=1280, heads=20, batch=4, gpu="h100-80gb").load()
    predicted_ms = next(op.time_ns for op in program.ops if op.writes[0] == ours) / 1e6
    assert predicted_ms == pytest.approx(expected_ms, rel=0.30)


def test_steps_with_large_micro_batches_on_a100s(measured: Path):
    """vTrain's table, mixed precision, data parallel: the prediction leaves out the exchange of gradients, so it is a little short."""
    errors = []
    with (measured / "vtrain" / "ground_truth_single.csv").open(newline="") as file:
        for row in list(csv.reader(file))[1:]:
            _, batch, micro, hidden, heads, layers, sequence, tensor, data, pipeline = map(int, row[:10])
            if tensor == pipeline == 1 and micro * hidden >= 16384:
                size = {"layers": layers, "hidden": hidden, "heads": heads, "sequence": sequence, "positions": sequence}
                builder = TransformerBuilder(kind="decoder", vocab=51200, batch=micro, dtype="bf16", gpu="a100-80gb", **size)
                times = {"update": 0, "others": 0}
                for op in builder.load().ops:
                    times["update" if op.name == "apply_grad" else "others"] += op.time_ns
                predicted_ms = (times["others"] * (batch // (data * micro)) + times["update"]) / 1e6
                errors.append(predicted_ms / float(row[10]) - 1)
    assert len(errors) >= 5
    assert -0.10 < statistics.median(errors) < 0
    assert max(abs(error) for error in errors) < 0.12
