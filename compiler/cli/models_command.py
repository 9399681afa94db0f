"""``g10c models``: what bundled models there are, and what one is."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.compiler.cli.common import Parser, say, table
from g10c.compiler.driver import load
from g10c.compiler.registry import library
from g10c.compiler.summary import summarize
from g10c.ir.plan import Plan
from g10c.ir.values import human_size, human_time


def run(argv: Sequence[str]) -> int:
    """List bundled models, or show one."""
    parser = Parser("models", "List bundled models, or show what one is.")
    parser.add_argument("name", metavar="NAME", nargs="?")
    arguments = parser.parse_all(argv)
    if arguments.name:
        from g10c.compiler.cli.show_command import run as show

        library("g10c.models").find(arguments.name)
        return show([arguments.name])
    rows = [("model", "batch", "kernels", "ideal step", "live peak", "source")]
    for name in library("g10c.models"):
        loaded = load(name)
        program = loaded.program if isinstance(loaded, Plan) else loaded
        found = summarize(program)
        batch, source = str(program.attrs.get("batch", "")), str(program.attrs.get("source", ""))
        rows.append((name, batch, f"{found.kernels:,}", human_time(found.ideal_time_ns), human_size(found.live_peak_bytes), source))
    say(table(rows))
    return 0
