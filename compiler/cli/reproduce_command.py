"""``g10c reproduce``: run published results again and compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from g10c.compiler.cli.common import Parser, check_writable, end_progress, progress, say, write_output
from g10c.compiler.registry import registry
from g10c.ir.errors import UsageError

if TYPE_CHECKING:
    from g10c.compiler.protocols import Reproduction


def run(argv: Sequence[str]) -> int:
    """Run the cases of a published system; status 1 when not one of them could run."""
    systems = registry("g10c.reproductions")
    if not argv or argv[0] in ("-h", "--help"):
        say(f"usage: g10c reproduce {'|'.join(systems)} --data DIR --cases FILE [--json FILE] [--jobs N]")
        return 0 if argv else 2
    system = cast("type[Reproduction]", systems.find(argv[0]))()
    parser = Parser("reproduce", f"Run published results of {argv[0]} again.")
    parser.prog = f"g10c reproduce {argv[0]}"
    parser.add_argument("--data", metavar="DIR", required=True, help="a checkout of the original system, or the flat layout of its data")
    parser.add_argument("--cases", metavar="FILE", required=True, help="JSON list of cases, in the form of the published ones")
    parser.add_argument("--json", metavar="FILE", help="write cases and summary as JSON ('-': to stdout)")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="cases run at once (default: 1)")
    arguments = parser.parse_all(argv[1:])
    if arguments.jobs < 1:
        raise UsageError.at(f"--jobs {arguments.jobs}: expected at least 1", None, "give the number of processes")
    check_writable([arguments.json], [arguments.cases])
    report = system.run(arguments.data, arguments.cases, arguments.jobs, progress)
    end_progress()
    if arguments.json:
        write_output(arguments.json, system.render(report, "json"))
    if arguments.json != "-":
        say(system.render(report, "table"))
    return 1 if report["cases"] and all("refused" in case for case in report["cases"]) else 0
