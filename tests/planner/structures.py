"""Steps and expectations read from the flat data directory that tests compare with."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from g10c.ir.step import Kernel, Step, StepTensor

DATA = Path(os.environ.get("G10C_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data")) / "g10"
STRUCTURES = (
    "BERT_Base-256",
    "BERT_Base-512",
    "BERT_Base-1024",
    "VIT-1024",
    "VIT-1280",
    "Inceptionv3-1536",
    "ResNet152-1280",
    "SENet154-1024",
)


@dataclass(frozen=True)
class Row:
    """One line of a plan: the kernel it is issued at, the tensor, and where the tensor goes."""

    slot: int
    tensor: int
    to: str


def rows(structure: str, table: str) -> list[dict[str, str]]:
    with (DATA / "structure" / structure / f"{table}.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def time_ns(structure: str) -> list[int]:
    model, batch = structure.rsplit("-", 1)
    with (DATA / "times" / model / f"cudnn{batch}.txt").open() as file:
        return [round(float(line.split()[1]) * 1_000_000) for line in file]


def numbers(field: str) -> tuple[int, ...]:
    return tuple(int(number) for number in field.split())


def load_step(structure: str) -> Step:
    tensors = tuple(StepTensor(f"t{row['tensor']}", int(row["bytes_page_aligned"]), row["global"] == "1") for row in rows(structure, "tensors"))
    kernels = tuple(
        Kernel(row["name"], ns, ns, ns, numbers(row["reads"]), numbers(row["writes"]))
        for row, ns in zip(rows(structure, "kernels"), time_ns(structure), strict=True)
    )
    return Step(structure, tensors, kernels)


def published_plan(structure: str) -> list[Row]:
    return [Row(int(row["issued_at_kernel"]), int(row["tensor"]), row["to"]) for row in rows(structure, "plan")]
