"""``g10c passes``: what passes there are, and the options of one."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.compiler.cli.common import Parser, say, table
from g10c.compiler.driver import pass_registry
from g10c.compiler.options import options_of, to_text
from g10c.compiler.pass_base import Pass, summary_of
from g10c.ir.program import Level


def run(argv: Sequence[str]) -> int:
    """List passes, or describe one."""
    parser = Parser("passes", "List passes, or the options of one.")
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--load", metavar="FILE.py", action="append", default=[], help="a Python file that defines passes")
    arguments = parser.parse_all(argv)
    passes = pass_registry(arguments.load)
    if arguments.name:
        say(_describe(passes.find(arguments.name), passes.owner(arguments.name)))
    else:
        say(table([(name, summary_of(passes.find(name))) for name in passes] or [("no passes", "")]))
    return 0


def _describe(kind: type[Pass], owner: str) -> str:
    lines = [f"{kind.name}  ({owner})", "", *(("  " + line.strip()).rstrip() for line in (kind.__doc__ or "").strip().splitlines()), ""]
    takes = "any" if kind.takes == frozenset(Level) else " or ".join(str(level) for level in sorted(kind.takes))
    lines.append(f"takes a program at level: {takes}; gives: {kind.gives if kind.gives is not None else 'the same level'}")
    options = options_of(kind)
    if options:
        rows = [(item.name, item.type_text(), "required" if item.required else to_text(item.default), item.help) for item in options]
        lines += ["", table([("option", "takes", "default", "meaning"), *rows])]
    return "\n".join(lines)
