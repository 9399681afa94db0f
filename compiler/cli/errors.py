"""From exceptions to messages and exit statuses."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable

from g10c.ir.errors import G10cError

INTERNAL_STATUS = 70
STREAM_ERRORS = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EPIPE})
"""What writing to a full or closed stream fails with."""


def report_errors(command: Callable[[], int], debug: bool = False) -> int:
    """Run a command; print what went wrong on stderr and return the exit status."""
    _prepare_streams()
    try:
        status = command()
        sys.stdout.flush()
    except G10cError as error:
        if debug:
            raise
        _say("\n".join([error.render(), *getattr(error, "__notes__", ())]))
        return error.exit_status
    except BrokenPipeError:
        _discard_stdout()
        return 141
    except OSError as error:
        if debug:
            raise
        _discard_stdout()
        where = error.filename or ("standard output" if error.errno in STREAM_ERRORS else "a file")
        _say(f"error: {where}: {error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except MemoryError:
        _say("error: out of memory")
        return 3
    except Exception as error:
        if debug:
            raise
        _say(f"internal error: {type(error).__name__}: {error}\n  help: this is a mistake in g10c; run again with --debug for details")
        return INTERNAL_STATUS
    return status


def _prepare_streams() -> None:
    """Make both streams take any text: what they have no form for is escaped; streams that are closed swallow it."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it stays open as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Let what is still buffered go nowhere, so that the end of the process does not fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
