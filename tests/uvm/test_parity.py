"""Published results of the G10 artifact. They are the shorter of two steps (``gatherKernelInfo.py``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from planner.structures import CONVOLUTIONAL, TRANSFORMERS, rows

from g10c.backends.uvm.runner import simulate_uvm
from g10c.compiler.step_of import step_of
from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.result import SimResult
from g10c.ir.step import Kernel, Move, Step, StepTensor
from g10c.models.g10.importer import G10Importer

KINDS = {"gpu": ("prefetch", None), "cpu": ("evict", "host"), "ssd": ("evict", "ssd"), "not_present": ("free", None)}
TOLERANCE = 2e-4
"""Relative: the artifact truncates its PCIe period to cycles (5.4e-5), and kernel times."""


def published(data: Path, policy: str) -> Iterator[dict]:
    for row in json.loads((data / "published.json").read_text())["iteration_time"]:
        if row["policy"] == policy and not row["fails"]:
            yield row


def machine(row: dict) -> Machine:
    return Machine(
        "paper",
        gpu=Gpu(memory=int(row["gpu_gb"] * 2**30), malloc_time_per_byte=8.14e-4),
        host=Host(int(row["host_gb"] * 2**30)),
        pcie=Link(round(row["pcie_gbps"] * 1e9)),
        ssd=Link(round(row["ssd_gbps"] * 1e9), latency_ns=20_000),
        uvm=Uvm(fault_model="artifact", batch_pages=50),
    )


def times(data: Path, model: str, batch: str, table: str) -> list[int]:
    lines = (data / "times" / model / f"cudnn{batch}{table}.txt").read_text().splitlines()
    return [round(float(line.split()[1]) * 1_000_000) for line in lines if line.strip()]


def case(data: Path, name: str) -> tuple[Step, list[Move]]:
    """The step and the artifact's own plan."""
    model, batch = name.rsplit("-", 1)
    tensors = tuple(StepTensor(r["tensor"], int(r["bytes_page_aligned"]), r["global"] == "1") for r in rows(data, name, "tensors"))
    tables = zip(*(times(data, model, batch, table) for table in ("", "PF", "InputPF")), strict=True)
    kernels = tuple(
        Kernel(r["name"], *ns, tuple(map(int, r["reads"].split())), tuple(map(int, r["writes"].split())))
        for r, ns in zip(rows(data, name, "kernels"), tables, strict=True)
    )
    plan = [(int(r["issued_at_kernel"]), int(r["tensor"]), *KINDS[r["to"]]) for r in rows(data, name, "plan")]
    moves = [Move(slot, kind, tensor, tier, 0, tensors[tensor].size_bytes) for slot, tensor, kind, tier in plan]
    return Step(name, tensors, kernels), moves


def imported(data: Path, model: str, batch: int) -> Step:
    tables = data / "times" / model
    return step_of(
        G10Importer(
            net=data / "nets" / f"{model}.txt",
            batch=batch,
            kernel_times=tables / f"cudnn{batch}.txt",
            all_fault_times=tables / f"cudnn{batch}PF.txt",
            output_fault_times=tables / f"cudnn{batch}InputPF.txt",
            workspace=tables / f"cudnn{batch}Workspace.txt",
        ).load()
    )


def error(found: SimResult, row: dict) -> float:
    return min(found.step_times_ns) / row["iteration_ns"] - 1


@pytest.mark.parametrize("name", TRANSFORMERS + CONVOLUTIONAL)
def test_the_artifacts_own_plans_take_the_published_time(g10_data, name):
    model, batch = name.rsplit("-", 1)
    (row,) = {r["iteration_ns"]: r for r in published(g10_data, "g10") if is_case(r, model, int(batch))}.values()
    step, moves = case(g10_data, name)
    found = simulate_uvm(step, moves, machine(row))
    assert abs(found.iteration_time_ns / row["iteration_ns"] - 1) < TOLERANCE
    assert found.peak_bytes["gpu"] <= 40 << 30


def is_case(row: dict, model: str, batch: int) -> bool:
    return (
        (row["model"], row["batch"]) == (model, batch) and row["host_gb"] == 128 and row["ssd_gbps"] == 3.2 and row["pcie_gbps"] == 15.754
    )


@pytest.mark.parametrize(("model", "batch"), [("BERT_Base", 256), ("VIT", 1024), ("BERT_Base", 1024)])
def test_demand_paging_takes_the_published_time(g10_data, model, batch):
    row = next(r for r in published(g10_data, "base-uvm") if is_case(r, model, batch))
    assert abs(error(simulate_uvm(imported(g10_data, model, batch), [], machine(row)), row)) < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize("model", ["BERT_Base", "VIT"])
def test_demand_paging_takes_all_published_times(g10_data, model):
    """Within what the order of kernels of three and more operands, which depends on addresses in the artifact, accounts for."""
    errors = {}
    for row in published(g10_data, "base-uvm"):
        if row["model"] == model:
            found = simulate_uvm(imported(g10_data, model, row["batch"]), [], machine(row))
            errors[row["batch"], row["ssd_gbps"]] = error(found, row)
    assert len(errors) >= 10
    assert max(map(abs, errors.values())) < 1e-2
    assert sorted(map(abs, errors.values()))[len(errors) // 2] < TOLERANCE


@pytest.mark.parametrize("name", ["BERT_Base-256", "VIT-1280"])
def test_a_fluid_is_no_slower_than_batches_and_hardly_faster(g10_data, name):
    model, batch = name.rsplit("-", 1)
    row = next(r for r in published(g10_data, "g10") if is_case(r, model, int(batch)))
    step, moves = case(g10_data, name)
    on = machine(row)
    batches = simulate_uvm(step, moves, on).iteration_time_ns
    fluid = simulate_uvm(step, moves, Machine(on.name, on.gpu, on.host, on.pcie, on.ssd, Uvm(fault_model="artifact"))).iteration_time_ns
    assert 0.99 * batches <= fluid <= 1.001 * batches
