"""A folder of data as the artifact has them, of one small network, and cases for all figures of it."""

from __future__ import annotations

import json
from pathlib import Path

from g10c.models.g10.importer import G10Importer

NET = """Sequential(
  (0): Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (1): ReLU(inplace=True)
  (2): Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (3): ReLU(inplace=True)
  (4): Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (5): ReLU(inplace=True)
  (6): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (7): Flatten(start_dim=1, end_dim=-1)
  (8): Linear(in_features=50176, out_features=10, bias=True)
)
"""
MIB = 1 / 1024
"""In the unit of memory sizes of cases."""
POLICIES = ("base-uvm", "flashneuron", "deepum", "g10-gds", "g10-host", "g10", "ideal")


def make_data(folder: Path) -> Path:
    """Write the network and its tables for batch sizes 4 and 8: every kernel takes 0.1 ms and a bit."""
    times = folder / "times" / "Tiny"
    times.mkdir(parents=True)
    (folder / "nets").mkdir()
    net = folder / "nets" / "Tiny.txt"
    net.write_text(NET, encoding="utf-8")
    for batch in (4, 8):
        kernels = len(G10Importer(net, batch).load().kernels)
        rows = [f"{number:04} {0.1 * batch / 4 + 0.01 * number:.3f} ms\n" for number in range(kernels)]
        (times / f"cudnn{batch}.txt").write_text("".join(rows), encoding="utf-8")
    return folder


def row(figure: int, policy: str, batch: int = 4, **settings: float) -> dict:
    """A case on a GPU that is too small for the batch of 8."""
    return {"figure": str(figure), "model": "Tiny", "batch": batch, "policy": policy, "gpu_gb": 24 * MIB, "host_gb": 64 * MIB, **settings}


def make_cases(path: Path) -> Path:
    """Write cases of every figure, with made-up published values for some."""
    rows = [row(2, "ideal", batch) for batch in (4, 8)]
    rows += [{**row(11, policy, 8), "iteration_ns": 10_000_000 if policy == "g10" else None} for policy in POLICIES]
    rows += [row(15, policy, batch) for policy in ("base-uvm", "g10", "ideal") for batch in (4, 8)]
    rows += [row(16, "g10", 8, host_gb=host * MIB) for host in (0, 32)]
    rows += [row(17, policy, 8, host_gb=host * MIB) for policy in ("deepum", "flashneuron", "g10") for host in (0, 32)]
    rows += [row(18, policy, 8, ssd_gbps=ssd, pcie_gbps=32.0) for policy in ("base-uvm", "g10", "ideal") for ssd in (6.4, 32.0)]
    value = {
        "iteration_time": rows,
        "traffic": [{"model": "Tiny", "batch": 8, "policy": "g10", "what": "ssd_to_gpu_pages", "pages_4kib": 100}],
        "breakdown": [
            {"model": "Tiny", "batch": 8, "policy": "g10", "part": part, "ns": ns}
            for part, ns in (("compute", 6_000_000), ("overlap", 3_000_000), ("stall", 1_000_000))
        ],
        "variation": [{"model": "Tiny", "batch": 8, "ideal_over_g10_at_0_5_10_15_20_25_percent": [0.9, 0.89, 0.88, 0.87, 0.86, 0.85]}],
    }
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
