"""The machines of the package."""

from __future__ import annotations

from pathlib import Path

MACHINES = {"plugin-gpu": Path(__file__).parent / "plugin-gpu.toml"}
"""Name to TOML file."""
