"""The settings of the paper's figures, as its artifact runs them (``artifact_run.sh``, ``genconfigs.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
"""A case as a file of cases has it."""

NETWORKS = {"BERT_Base": 256, "VIT": 1280, "Inceptionv3": 1536, "ResNet152": 1280, "SENet154": 1024}
"""In the order of the figures, with the batch size of figures 11 to 14, 18 and 19."""
MOTIVATION = {"BERT_Base": 128, "VIT": 512, "ResNet152": 512, "Inceptionv3": 512}
"""Networks of figures 2 to 4, 20 and 21."""
BATCHES = {
    "BERT_Base": (128, 256, 512, 768, 1024),
    "VIT": (256, 512, 768, 1024, 1280),
    "Inceptionv3": (512, 768, 1024, 1280, 1536, 1792),
    "ResNet152": (256, 512, 768, 1024, 1280),
    "SENet154": (256, 512, 768, 1024),
}
HOST_BATCHES = {
    "BERT_Base": (256, 384, 512, 640),
    "VIT": (768, 1024, 1280, 1536),
    "Inceptionv3": (512, 1024, 1280, 1536),
    "ResNet152": (768, 1024, 1280, 1536),
    "SENet154": (256, 512, 768, 1024),
}
HOSTS = (0, 16, 32, 64, 128, 256)
MORE_HOSTS = {"ResNet152": (192,), "SENet154": (96,)}
COMBINED = {"VIT": 1024, "Inceptionv3": 1280}
"""Networks of figure 17."""
SSDS = (6.4, 12.8, 19.2, 25.6, 32.0)
FAST_PCIE = 32.0
VARIATIONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
SEEDS = {"BERT_Base": 15, "ResNet152": 10, "SENet154": 25}
"""Of the factors on kernel times; the others keep the generator's own."""

ALL = ("base-uvm", "flashneuron", "deepum", "g10-gds", "g10-host", "g10", "ideal")
FIVE = ("base-uvm", "flashneuron", "deepum", "g10", "ideal")
FOUR = FIVE[:-1]

LINES = {
    ("g10-gds", "BERT_Base", 256): 1.060606,
    ("g10-gds", "VIT", 1280): 1.060606,
    ("g10-gds", "Inceptionv3", 1536): 1.060606,
    ("g10-gds", "ResNet152", 1280): 1.060606,
    ("g10-gds", "SENet154", 1024): 1.060606,
    ("g10-host", "BERT_Base", 256): 1.060606,
    ("g10-host", "VIT", 1280): 1.269366,
    ("g10-host", "Inceptionv3", 1536): 1.060606,
    ("g10-host", "ResNet152", 1280): 1.060606,
    ("g10-host", "SENet154", 1024): 1.060606,
    ("g10", "BERT_Base", 512): 1.394,
    ("flashneuron", "VIT", 1024): 0.993,
}
"""Factors on the planner's memory line that the artifact has for single cases (``ast.cc``, ``analysis.cc``)."""


def paper_rows(figure: int) -> list[Row]:
    """The cases of a figure; empty for a figure that is made of another's."""
    return [{"figure": str(figure), **row} for row in _SETTINGS.get(figure, lambda: iter(()))()]


def _row(model: str, batch: int, policy: str, **changes: float) -> Row:
    # Figure 18 loosens one more line, and does not loosen that of BERT_Base.
    line = LINES.get((policy, model, batch), 1.0) if "ssd_gbps" not in changes else 1.0
    if (model, policy, changes.get("ssd_gbps")) == ("VIT", "g10", 6.4):
        line = 1.1
    return {"model": model, "batch": batch, "policy": policy, "memory_line_factor": line, **changes}


def _motivation() -> Iterator[Row]:
    yield from (_row(model, batch, "ideal") for model, batch in MOTIVATION.items())


def _overall() -> Iterator[Row]:
    yield from (_row(model, batch, policy) for model, batch in NETWORKS.items() for policy in ALL)


def _batch_sizes() -> Iterator[Row]:
    yield from (_row(model, batch, policy) for model, batches in BATCHES.items() for batch in batches for policy in FIVE)


def _host_memory() -> Iterator[Row]:
    for model, batches in HOST_BATCHES.items():
        hosts = sorted({*HOSTS, *MORE_HOSTS.get(model, ())})
        yield from (_row(model, batch, "g10", host_gb=host) for batch in batches for host in hosts)


def _host_memory_of_policies() -> Iterator[Row]:
    policies = ("flashneuron", "deepum", "g10")
    yield from (_row(model, batch, policy, host_gb=host) for model, batch in COMBINED.items() for policy in policies for host in HOSTS)


def _ssd_bandwidth() -> Iterator[Row]:
    batches = {**NETWORKS, "BERT_Base": 512}
    for model, batch in batches.items():
        yield from (_row(model, batch, policy, ssd_gbps=ssd, pcie_gbps=FAST_PCIE) for policy in FIVE for ssd in SSDS)


_SETTINGS = {
    2: _motivation,
    11: _overall,
    15: _batch_sizes,
    16: _host_memory,
    17: _host_memory_of_policies,
    18: _ssd_bandwidth,
}
