"""Reading text files: every way in which that fails is a message with the path and what to do."""

from __future__ import annotations

import os
from pathlib import Path

from g10c.ir.errors import InputError, near_hint


def read_text(path: str | Path, what: str) -> str:
    """The text of a UTF-8 file, without a byte order mark and with ``\\n`` at line ends.

    ``what`` names what was expected ("a machine file"). Raises :class:`InputError` when the file is missing, a folder, unreadable,
    not UTF-8 or empty.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError.at(f"{path}: no such file", None, _neighbours(Path(path))) from None
    except IsADirectoryError:
        raise InputError.at(f"{path}: this is a folder, expected {what}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError.at(f"{path}: cannot be read: {reason}", None, f"give the path of {what} that you may read") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{path}:{line}: not UTF-8 text (byte {error.start} is 0x{data[error.start]:02x}), expected {what}"
        raise InputError.at(message, None, "save the file as UTF-8") from None
    if not text.strip():
        raise InputError.at(f"{path}: the file is empty, expected {what}")
    return text.replace("\r\n", "\n")


def _neighbours(path: Path) -> str:
    """A hint with files of nearly the same name in the folder."""
    folder = path.parent
    try:
        names = os.listdir(folder)
    except OSError:
        return f"there is no folder {str(folder)!r}"
    hint = near_hint(path.name, names, "files")
    return hint if hint.startswith("did you mean") else ""
