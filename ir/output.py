"""Writing text files: whole or not at all."""

from __future__ import annotations

import os
import stat
from itertools import count
from pathlib import Path

from g10c.ir.errors import InputError


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write UTF-8 text to a file so that a reader sees the old text or all of the new, never a part.

    The text goes to a temporary file in the same folder, which then takes the name. A file that is there keeps its permissions, and
    one that a link points to stays where it is; what is no regular file (``/dev/stdout``) is written directly. Raises
    :class:`InputError` that names the path where this is impossible; nothing is left behind then.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError.at(f"{path}: the text has no UTF-8 form: character {error.start} is half of a surrogate pair") from None
    write_bytes_atomically(path, data)


def make_folder(path: str | Path) -> None:
    """Make a folder and those above it, where they are not there yet. Raises :class:`InputError` that names it."""
    try:
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = "a file of that name is there" if isinstance(error, FileExistsError) else _reason(error)
        raise InputError.at(f"{path}: this folder cannot be made: {reason}", None, "give a folder that you may write to") from None


def write_bytes_atomically(path: str | Path, data: bytes) -> None:
    """Like :func:`write_text_atomically`, for bytes."""
    try:
        _write(os.fspath(path), data)
    except (OSError, ValueError) as error:
        raise InputError.at(f"{path}: cannot be written: {_reason(error)}", None, _advice(Path(path), error)) from None


def _write(path: str, data: bytes) -> None:
    mode = _existing_mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as stream:  # a pipe has no place to rename to, and no real path
            stream.write(data)
        return
    target = os.path.realpath(path)
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is read-only", target)
    temporary, descriptor = _temporary_file(os.path.dirname(target))
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _existing_mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _temporary_file(folder: str) -> tuple[str, int]:
    """A new file with the permissions that the user's mask gives new files (``tempfile`` would give 0600)."""
    for number in count():
        name = os.path.join(folder, f".g10c-{os.getpid()}-{number}.tmp")
        try:
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
    raise AssertionError("unreachable")


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, FileNotFoundError):
        return "its folder does not exist"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)


def _advice(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"give the path of a file, such as {path / 'plan.json'}"
    if isinstance(error, FileNotFoundError):
        return f"create the folder first: mkdir -p {path.parent}"
    return "choose a path that you may write"
