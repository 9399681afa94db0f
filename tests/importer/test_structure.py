"""The lowering of the published networks, kernel by kernel and tensor by tensor, against the artifact's own."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from g10c.compiler.step_of import step_of
from g10c.compiler.vitality import inactive_periods, liveness
from g10c.ir.parser import parse_program
from g10c.ir.printer import print_program
from g10c.ir.program import Level, Op, Program, Role
from g10c.ir.source import Span
from g10c.ir.verifier import verify
from g10c.models.g10.artifact_names import artifact_name
from g10c.models.g10.importer import G10Importer

CASES = ("BERT_Base-256", "BERT_Base-512", "BERT_Base-1024", "VIT-1024", "VIT-1280", "Inceptionv3-1536", "ResNet152-1280", "SENet154-1024")
PAGE = 4096
Import = Callable[[str], Program]


@pytest.fixture(scope="module")
def imported(g10_data: Path) -> Import:
    """Programs by case, imported once."""

    @cache
    def load(case: str) -> Program:
        model, batch = case.rsplit("-", 1)
        times = g10_data / "times" / model
        tables = [times / f"cudnn{batch}{kind}.txt" for kind in ("", "PF", "InputPF", "Workspace")]
        return G10Importer(g10_data / "nets" / f"{model}.txt", int(batch), *tables).load()

    return load


def rows(data: Path, case: str, table: str) -> list[dict[str, str]]:
    with (data / "structure" / case / f"{table}.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def cycles(time_ns: int) -> int:
    """Cycles at 1.2 GHz by truncation, in the floating-point steps of the artifact: it loses one where the product is a whole number."""
    return int(time_ns / 1e6 * 1.2e9 / 1000)


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


@pytest.mark.parametrize("case", CASES)
def test_kernels(case: str, imported: Import, g10_data: Path):
    program = imported(case)
    step = step_of(program)
    ours = [
        (artifact_name(op), cycles(kernel.time_ns), sorted(kernel.reads), sorted(kernel.writes))
        for op, kernel in zip(program.ops, step.kernels, strict=True)
    ]
    expected = [
        (row["name"], int(row["cycles_at_1.2GHz"]), numbers(row["reads"]), numbers(row["writes"]))
        for row in rows(g10_data, case, "kernels")
    ]
    assert ours == expected
    assert program.level is Level.TRACED


@pytest.mark.parametrize("case", CASES)
def test_tensors(case: str, imported: Import, g10_data: Path):
    program = imported(case)
    lifetimes = liveness(step_of(program))
    expected = rows(g10_data, case, "tensors")
    ours = [(number, -(-tensor.size_bytes // PAGE) * PAGE, tensor.persistent) for number, tensor in enumerate(program.tensors.values())]
    assert ours == [(int(row["tensor"]), int(row["bytes_page_aligned"]), row["global"] == "1") for row in expected]
    for number, row in enumerate(expected):
        if row["global"] == "0":
            assert lifetimes.birth[number] == int(row["birth"])
            assert (-1 if lifetimes.never_read[number] else lifetimes.death[number]) == int(row["death"])


@pytest.mark.parametrize("case", CASES)
def test_inactive_periods(case: str, imported: Import, g10_data: Path):
    step = step_of(imported(case))
    ours = [(period.tensor, period.start, period.end) for period in inactive_periods(step, liveness(step))]
    expected = [
        (int(row["tensor"]), int(row["first_idle_kernel"]), int(row["next_use_kernel"])) for row in rows(g10_data, case, "inactive_periods")
    ]
    assert sorted(ours) == sorted(expected)


def kernels_of(program: Program, layer: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(op.name, op.reads, op.writes) for op in program.ops if op.attrs["layer"] == layer]


def test_operands_are_in_the_order_in_which_the_artifact_enters_them(imported: Import):
    bert = imported("BERT_Base-256")
    assert kernels_of(bert, "GatherV2 215") == [
        ("gather.forward", ("w2", "x211"), ("x215",)),
        ("gather.backward", ("dx215", "x211"), ("dw2",)),
        ("apply_grad", ("dw2", "w2"), ("w2",)),
    ]
    assert kernels_of(bert, "Dot 284") == [
        ("linear.forward", ("w55", "x280"), ("x284",)),
        ("linear.backward_weight", ("dx284", "x280"), ("dw55",)),
        ("linear.backward_input", ("w55", "dx284"), ("dx280",)),
        ("apply_grad", ("dw55", "w55"), ("w55",)),
    ]
    assert kernels_of(bert, "Divide 259")[1:] == [
        ("divide.backward_a", ("w162", "dx259"), ("dx256",)),
        ("divide.backward_b", ("w162", "x259", "dx259"), ("dw162",)),
        ("apply_grad", ("w162", "dw162"), ("w162",)),
    ]
    assert kernels_of(bert, "SoftmaxBasic 1414")[1:] == [("softmax.backward", ("x271", "dx1414"), ("dx271",))]


def test_gradients_of_several_uses_are_summed_into_the_first(imported: Import):
    bert = imported("BERT_Base-256")
    assert kernels_of(bert, "BatchMatMul 256") == [
        ("matmul.forward", ("x245",), ("x256",)),
        ("matmul.backward_a", ("dx256", "x245"), ("dx245",)),
        ("matmul.backward_b", ("dx256", "x245"), ("dx245.2",)),
    ]
    assert kernels_of(bert, "Add 245")[1:3] == [
        ("accumulate", ("dx245", "dx245.2", "dx245.3"), ("dx245",)),
        ("add.backward", ("dx245",), ("dx243", "dw6")),
    ]


def test_times_are_exact(imported: Import, g10_data: Path):
    first = imported("BERT_Base-256").ops[0]
    assert {attr: int(value) for attr, value in first.attrs.items() if isinstance(value, int)} == {
        "time": 197_632,
        "all_fault_time": 73_269_249,
        "output_fault_time": 15_180_800,
    }


def test_roles_phases_and_workspaces(imported: Import):
    vit = imported("VIT-1280")
    tensors = vit.tensors
    assert vit.name == "vit_1280"
    assert (vit.attrs["batch"], vit.attrs["weights_below"]) == (1280, 184)
    assert (tensors["x184"].role, tensors["x184"].shape) == (Role.INPUT, (1280, 3, 224, 224))
    assert (tensors["w2"].role, tensors["w2"].shape) == (Role.WEIGHT, (384, 3, 32, 32))
    assert (tensors["dw2"].role, tensors["dw2"].shape) == (Role.GRADIENT, (384, 3, 32, 32))
    assert tensors["x185"].role is Role.ACTIVATION
    assert (tensors["ws0"].role, tensors["ws0"].dtype) == (Role.WORKSPACE, "u8")
    assert vit.ops[0].writes == ("x185", "ws0")
    phases = list(dict.fromkeys(str(op.attrs["phase"]) for op in vit.ops))
    assert phases == ["forward", "loss", "backward", "update"]


def test_everything_cites_its_line(imported: Import):
    bert = imported("BERT_Base-256")
    places: list[tuple[Op, str]] = [(op, str(op.attrs["layer"]).split()[0]) for op in bert.ops]
    for op, kind in places:
        assert isinstance(op.location, Span)
        assert op.location.text == kind
    for tensor in bert.tensors.values():
        assert isinstance(tensor.location, Span)
        if tensor.role in (Role.WEIGHT, Role.INPUT, Role.ACTIVATION):
            assert tensor.location.text == tensor.name[1:]
    assert [bert.tensors[name].location.line for name in ("x215", "w2", "x211")] == [1, 4, 5]  # type: ignore[union-attr]


@pytest.mark.parametrize("case", ["BERT_Base-256", "VIT-1280"])
def test_programs_are_legal_and_round_trip(case: str, imported: Import):
    program = imported(case)
    assert verify(program, Level.TRACED) == []
    text = print_program(program)
    assert print_program(parse_program(text)) == text


@pytest.mark.parametrize("case", ["BERT_Base-256", "VIT-1024"])
def test_the_border_follows_from_the_operators_too(case: str, imported: Import, g10_data: Path, tmp_path: Path):
    model, batch = case.rsplit("-", 1)
    net = tmp_path / f"{model}.txt"
    net.write_text((g10_data / "nets" / f"{model}.txt").read_text())
    program = G10Importer(net, int(batch), g10_data / "times" / model / f"cudnn{batch}.txt").load()
    assert program.attrs["weights_below"] == imported(case).attrs["weights_below"]


def test_nerf_lowers_with_its_border(g10_data: Path, tmp_path: Path):
    table = tmp_path / "times.txt"
    kernels = 13 + 1 + 6 + 3 * 7 - 1
    table.write_text("".join(f"{number:04} 0.5 ms\n" for number in range(kernels)))
    program = G10Importer(g10_data / "nets" / "NeRF.txt", 4, table).load()
    assert program.attrs["weights_below"] == 7
    assert [tensor.name for tensor in program.tensors.values() if tensor.persistent] == ["w2", "w3", "w0", "w4", "w1", "w6", "w5"]
    assert program.tensors["x7"].shape == (4, 19200, 108, 64)
    assert [op.name for op in program.ops[-2:]] == ["linear.backward_weight", "apply_grad"]
