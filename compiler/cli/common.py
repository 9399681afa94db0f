"""Arguments and files that several commands share."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from g10c.ir.errors import UsageError, near_hint


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are g10c's."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"g10c {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter if command == "import" else argparse.HelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        raise UsageError.at(message, None, self.format_usage().strip())

    def parse_all(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse; words that are not arguments are refused with near names."""
        found, extra = self.parse_known_args(list(argv))
        if extra:
            flags = [flag for action in self._actions for flag in action.option_strings]
            unknown = next((word for word in extra if word.startswith("-")), None)
            if unknown is not None:
                raise UsageError.at(f"unknown option {unknown.split('=')[0]!r}", None, near_hint(unknown.split("=")[0], flags, "options"))
            raise UsageError.at(f"unexpected argument {extra[0]!r}", None, self.format_usage().strip())
        return found


def add_machine_arguments(parser: argparse.ArgumentParser, default: str) -> None:
    """``--machine`` and ``--set``."""
    parser.add_argument("--machine", metavar="M", help=f"name of a bundled machine, or a TOML file (default: {default})")
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change one value of the machine: host.memory=32GiB",
    )


def write_output(path: str, text: str) -> None:
    """Write to a file atomically, or to stdout when the path is ``-``."""
    if path == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # data, whatever the terminal's language
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    from g10c.ir.output import write_text_atomically

    write_text_atomically(path, text)


def check_writable(paths: Sequence[str | None], inputs: Sequence[str] = ()) -> None:
    """Refuse output paths that cannot be written, or that two outputs or an input share, before long work begins."""
    from g10c.ir.errors import InputError

    given = [path for path in paths if path is not None]
    for number, path in enumerate(given):
        if any(_same_file(path, other) for other in given[:number]) and not path.startswith("/dev/"):
            what = "stdout" if path == "-" else path
            raise UsageError.at(f"{what} is given for two outputs", None, "give each a file of its own; only one can go to stdout")
        if os.path.exists(path) and any(os.path.exists(name) and os.path.samefile(path, name) for name in inputs):
            raise UsageError.at(f"{path} is the input, and would be overwritten", None, "give another path for the output")
        if path == "-":
            continue
        if not path:
            raise UsageError.at("the path of an output is empty", None, "give a path, or '-' for stdout")
        folder = Path(path).parent
        if not os.path.isdir(folder):
            raise InputError.at(
                f"{path}: cannot be written: there is no folder {str(folder)!r}", None, "create the folder, or give another path"
            )
        if os.path.isdir(path):
            raise InputError.at(f"{path}: cannot be written: it is a folder", None, "give the path of a file")


def _same_file(path: str, other: str) -> bool:
    """Whether two paths lead to one file, which need not exist."""
    return path == other or (path != "-" and other != "-" and os.path.realpath(path) == os.path.realpath(other))


def say(text: str) -> None:
    """Print for the user."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def progress(text: str) -> None:
    """A line about long work on stderr, only at a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def end_progress() -> None:
    """Clear the line about long work."""
    progress("")


def table(rows: Sequence[Sequence[str]], right: Callable[[int], bool] = lambda column: False) -> str:
    """Rows in aligned columns; ``right`` says which columns are aligned to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) if right(n) else cell.ljust(width) for n, (cell, width) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
