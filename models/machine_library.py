"""Machines that come with g10c: a TOML file each, found by name.

An entry of the group ``g10c.machines`` is a library: a mapping of machine names to the paths of their files. Another package ships
machines by an entry of its own; two libraries with the same name of a machine are refused.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "machines"

BUNDLED: dict[str, Path] = {name: FOLDER / f"{name}.toml" for name in ("g10-paper", "a100-40gb", "a100-80gb", "h100-80gb", "triosim-h100")}
"""Every bundled machine: name to TOML file. The name is also the one inside the file."""
