"""Rules that come with g10c: a ``.rules`` file each, found by name.

An entry of the group ``g10c.rules`` is a library: a mapping of names to the paths of files. Another package ships rules by an entry of
its own; two libraries with the same name of a file are refused.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "rules"

BUNDLED: dict[str, Path] = {path.stem: path for path in sorted(FOLDER.glob("*.rules"))}
"""Every bundled file by its name: what the entry point of the group ``g10c.rules`` names."""
