"""What tests share: the checkout's root, the published data, and running the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path | None:
    """Where the published data lie: ``G10C_DATA``, or ``../shared/data`` beside the checkout."""
    folder = Path(os.environ.get("G10C_DATA") or ROOT.parent / "shared" / "data")
    return folder if (folder / "g10").is_dir() else None


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    status: int
    out: str
    err: str


def g10c(*arguments: str | Path, cwd: Path | None = None) -> Finished:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-P", "-c", "import sys; from g10c.compiler.cli import main; sys.exit(main())", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)
    return Finished(done.returncode, done.stdout, done.stderr)
