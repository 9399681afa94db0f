"""Machines that come with g10c: a TOML file each, found by name.

The entry-point group ``g10c.machines`` has one entry a machine, whose name is the machine's and whose value is the path of its
file. Another package ships machines in the same way: a module with a ``pathlib.Path`` a machine, and an entry for each.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "machines"

G10_PAPER = FOLDER / "g10-paper.toml"
A100_40GB = FOLDER / "a100-40gb.toml"
A100_80GB = FOLDER / "a100-80gb.toml"
H100_80GB = FOLDER / "h100-80gb.toml"
TRIOSIM_H100 = FOLDER / "triosim-h100.toml"

BUNDLED: dict[str, Path] = {path.stem: path for path in (G10_PAPER, A100_40GB, A100_80GB, H100_80GB, TRIOSIM_H100)}
"""Every bundled machine: name to TOML file."""
