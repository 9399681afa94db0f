"""Reading of text files, with one clear message for each way in which that fails."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.source import Origin

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: str | os.PathLike[str]) -> str:
    """Text of a UTF-8 file, without a byte order mark. Raises :class:`~g10c.ir.errors.InputError`."""
    where = os.fspath(path)
    try:
        content = Path(where).read_bytes()
    except FileNotFoundError:
        raise _error(where, "no such file", _near_files(Path(where))) from None
    except IsADirectoryError:
        raise _error(where, "this is a folder, not a file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _error(where, f"cannot be read: {reason}") from None
    return _decode(where, content)


def _decode(where: str, content: bytes) -> str:
    if content.startswith(_UTF16):
        raise _error(where, "the text is UTF-16", "save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(where, f"not text in UTF-8: byte {content[error.start]:#04x} in line {line}") from None
    if not text.strip():
        raise _error(where, "the file is empty")
    return text


def _near_files(path: Path) -> str:
    try:
        return near_hint(path.name, os.listdir(path.parent), "files there") if path.name else ""
    except OSError:
        return f"there is no folder {str(path.parent)!r}"


def _error(where: str, message: str, hint: str = "") -> InputError:
    return InputError(Diagnostic(message, Origin(where), hint))
