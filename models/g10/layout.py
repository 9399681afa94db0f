"""Where networks, kernel times and published results lie: a checkout of the artifact, or a flat layout of its data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from g10c.ir.errors import InputError

if TYPE_CHECKING:
    from g10c.ir.program import Program

TABLES = ("", "PF", "InputPF", "Workspace")
"""What the names of a batch size's tables end with; the first has to be there."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Folders below the data folder, and the file of published results where there is one."""

    nets: Path
    times: Path
    published: Path | None = None

    @classmethod
    def find(cls, folder: str) -> Layout:
        """Recognise a checkout or the flat layout. Raises :class:`InputError` when it is neither."""
        root = Path(folder)
        published = root / "published.json"
        for nets, times in (("nets", "times"), ("frontend/Nets", "results")):
            if (root / nets).is_dir() and (root / times).is_dir():
                return cls(root / nets, root / times, published if published.is_file() else None)
        hint = "expected a checkout of the artifact (frontend/Nets, results) or nets/ and times/ below it"
        raise InputError.at(f"{folder}: no data of G10 here", None, hint)

    def tables(self, model: str, batch: int) -> list[Path | None]:
        """The tables of a batch size in the order of :data:`TABLES`, ``None`` where there is none. Raises :class:`InputError`."""
        folder = self.times / model
        paths = [folder / f"cudnn{batch}{suffix}.txt" for suffix in TABLES]
        if not paths[0].is_file():
            known = sorted(int(path.stem[5:]) for path in folder.glob("cudnn*.txt") if path.stem[5:].isdigit())
            hint = f"profiled batch sizes: {', '.join(map(str, known))}" if known else f"there are no times in {folder}"
            raise InputError.at(f"{model} has no kernel times for batch {batch}", None, hint)
        return [path if path.is_file() else None for path in paths]


@lru_cache(maxsize=2)
def import_case(layout: Layout, model: str, batch: int) -> Program:
    """The program of a network and batch size, with its kernel times."""
    from g10c.models.g10.importer import G10Importer

    times, all_fault, output_fault, workspace = layout.tables(model, batch)
    net = layout.nets / f"{model}.txt"
    return G10Importer(net, batch, times, all_fault, output_fault, workspace).load()


@lru_cache(maxsize=64)
def data_digest(layout: Layout, model: str, batch: int) -> str:
    """A digest of the files that :func:`import_case` reads; that of none where they cannot be read."""
    digest = hashlib.sha256()
    try:
        paths = [layout.nets / f"{model}.txt", layout.nets / "nets.json", *layout.tables(model, batch)]
    except InputError:
        return "none"
    for path in paths:
        digest.update(path.read_bytes() if path is not None and path.is_file() else b"-")
        digest.update(b"\0")
    return digest.hexdigest()
