"""Steps and expectations from the published structures, and a machine to plan for."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from g10c.compiler.vitality import Period
from g10c.ir.machine import Gpu, Host, Link, Machine, Uvm
from g10c.ir.step import Kernel, Move, Step, StepTensor

TRANSFORMERS = ("BERT_Base-256", "BERT_Base-512", "BERT_Base-1024", "VIT-1024", "VIT-1280")
CONVOLUTIONAL = ("Inceptionv3-1536", "ResNet152-1280", "SENet154-1024")
GIB = 1 << 30


@dataclass(frozen=True)
class Row:
    """One line of a plan: the kernel at which it is issued, the tensor, and where the tensor goes."""

    slot: int
    tensor: int
    to: str


def rows(data: Path, structure: str, table: str) -> list[dict[str, str]]:
    with (data / "structure" / structure / f"{table}.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def numbers(field: str) -> tuple[int, ...]:
    return tuple(int(number) for number in field.split())


def kernel_times_ns(data: Path, structure: str) -> list[int]:
    model, batch = structure.rsplit("-", 1)
    with (data / "times" / model / f"cudnn{batch}.txt").open() as file:
        return [round(float(line.split()[1]) * 1_000_000) for line in file]


def load_step(data: Path, structure: str) -> Step:
    tensors = (
        StepTensor(f"t{row['tensor']}", int(row["bytes_page_aligned"]), row["global"] == "1") for row in rows(data, structure, "tensors")
    )
    kernels = (
        Kernel(row["name"], ns, ns, ns, numbers(row["reads"]), numbers(row["writes"]))
        for row, ns in zip(rows(data, structure, "kernels"), kernel_times_ns(data, structure), strict=True)
    )
    return Step(structure, tuple(tensors), tuple(kernels))


def artifact_plan(data: Path, structure: str) -> list[Row]:
    return [Row(int(row["issued_at_kernel"]), int(row["tensor"]), row["to"]) for row in rows(data, structure, "plan")]


def as_row(move: Move) -> Row:
    to = {"alloc": "gpu", "prefetch": "gpu", "free": "not_present", "evict": "cpu" if move.tier == "host" else "ssd"}
    return Row(move.slot, move.tensor, to[move.kind])


def paper_machine(host_gib: float = 128, ssd_gbps: float = 3.2, pcie_gbps: float = 15.754) -> Machine:
    """The machine of the paper: a 40 GiB GPU (artifact, ``example.config``)."""
    return Machine(
        name="paper",
        gpu=Gpu(memory=40 * GIB, malloc_time_per_byte=8.14e-4),
        host=Host(int(host_gib * GIB)),
        pcie=Link(round(pcie_gbps * 1e9)),
        ssd=Link(round(ssd_gbps * 1e9), latency_ns=20_000),
        uvm=Uvm(fault_latency_ns=45_000),
    )


def published_line(data: Path, structure: str) -> float:
    """The factor on the memory line that the artifact uses for this case (figures 11 and 15)."""
    model, batch = structure.rsplit("-", 1)
    published = json.loads((data / "published.json").read_text())["iteration_time"]
    factors = {
        float(row["memory_line_factor"])
        for row in published
        if row["figure"] in {"11", "15"} and (row["model"], row["batch"], row["policy"]) == (model, int(batch), "g10")
    }
    (factor,) = factors
    return factor


def without_names(moves: Iterable[Row], step: Step, periods: list[Period]) -> Counter[tuple[int, str, int, int, int]]:
    """Count evictions or prefetches by kernel, destination, bytes and period: tensors of equal size and period stand for each other."""
    counted: Counter[tuple[int, str, int, int, int]] = Counter()
    for row in moves:
        (period,) = (p for p in periods if p.tensor == row.tensor and during(p, row.slot))
        counted[row.slot, row.to, step.tensors[row.tensor].size_bytes, period.start, period.end] += 1
    return counted


def during(period: Period, slot: int) -> bool:
    return slot >= period.start or slot < period.end if period.wraps else period.start <= slot < period.end
