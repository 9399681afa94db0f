"""``g10c rules``: what rules files there are, and the text of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from g10c.compiler.cli.common import Parser, say, table
from g10c.compiler.registry import library


def run(argv: Sequence[str]) -> int:
    """List rules files, or print one."""
    parser = Parser("rules", "List the rules files that come with packages, or print one.")
    parser.add_argument("name", metavar="NAME", nargs="?", help="a file to print; copy it to change its rules")
    arguments = parser.parse_all(argv)
    files = library("g10c.rules")
    if arguments.name:
        say(files.find(arguments.name).read_text(encoding="utf-8"))
        return 0
    rows = [(name, _summary(files.find(name))) for name in files]
    say(table(rows or [("no rules files", "")]))
    return 0


def _summary(path: Path) -> str:
    """The first line of comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
