"""From exceptions to messages and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from g10c.ir.errors import G10cError

INTERNAL_STATUS = 70


def report_errors(command: Callable[[], int], debug: bool = False) -> int:
    """Run a command; print what went wrong on stderr and return the exit status."""
    try:
        status = command()
        sys.stdout.flush()
    except G10cError as error:
        if debug:
            raise
        _say("\n".join([error.render(), *getattr(error, "__notes__", ())]))
        return error.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
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


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
