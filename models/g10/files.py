"""Reading the artifact's text files."""

from __future__ import annotations

from pathlib import Path

from g10c.ir.errors import InputError
from g10c.ir.source import Source


def read_source(path: Path, what: str) -> Source:
    """The text of a file; ``what`` says in messages what it was to be. Raises :class:`~g10c.ir.errors.InputError`."""
    try:
        return Source(str(path), path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError.at(f"{path}: cannot read the {what}: {error.strerror or error}") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise InputError.at(f"{path}: the {what} is not UTF-8 text: {error}") from None
