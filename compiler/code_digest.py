"""What this installation of g10c is, as a word: results that were kept are those of the same code."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PARTS = ("ir", "compiler", "passes", "backends", "models")
SUFFIXES = frozenset({".py", ".toml", ".lark", ".rules"})


@cache
def code_digest() -> str:
    """A digest of all modules and data of g10c: the same code has the same, wherever it is installed."""
    digest = hashlib.sha256()
    for part in PARTS:
        spec = find_spec(f"g10c.{part}")
        for folder in spec.submodule_search_locations or () if spec else ():
            for path in sorted(Path(folder).rglob("*")):
                if path.suffix in SUFFIXES:
                    digest.update(f"{part}/{path.relative_to(folder).as_posix()}\0".encode())
                    digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
