"""``g10c reproduce``: run published results again and compare."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from g10c.compiler.cli.common import Parser, check_writable, end_progress, progress, say, write_output
from g10c.compiler.registry import registry
from g10c.ir.errors import UsageError

if TYPE_CHECKING:
    from g10c.compiler.protocols import Reproduction

USAGE = (
    "usage: g10c reproduce {systems} --data DIR --cases FILE [--json FILE] [--output DIR] [--jobs N]\n"
    "       g10c reproduce {systems} --data DIR --figures NUMBERS --output DIR [--cases FILE] [--jobs N]"
)


def run(argv: Sequence[str]) -> int:
    """Run the cases of a published system, or make its figures; status 1 when not one of the cases could run."""
    systems = registry("g10c.reproductions")
    if not argv or argv[0] in ("-h", "--help"):
        say(USAGE.format(systems="|".join(systems)))
        return 0 if argv else 2
    system = cast("type[Reproduction]", systems.find(argv[0]))()
    arguments = _parse(argv)
    if arguments.figures is not None:
        return _figures(system, arguments)
    kept = f"{arguments.output}/cases" if arguments.output else None
    check_writable([arguments.json], [arguments.cases])
    report = system.run(arguments.data, arguments.cases, arguments.jobs, progress, kept)
    end_progress()
    if arguments.json:
        write_output(arguments.json, system.render(report, "json"))
    if arguments.json != "-":
        say(system.render(report, "table"))
    return 1 if report["cases"] and all("refused" in case for case in report["cases"]) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("reproduce", f"Run published results of {argv[0]} again, or make its figures from them.")
    parser.prog = f"g10c reproduce {argv[0]}"
    parser.add_argument("--data", metavar="DIR", required=True, help="a checkout of the original system, or the flat layout of its data")
    parser.add_argument("--cases", metavar="FILE", help="JSON list of cases, in the form of the published ones")
    parser.add_argument("--json", metavar="FILE", help="write cases and summary as JSON ('-': to stdout)")
    parser.add_argument("--figures", metavar="NUMBERS", help="figures to make instead, such as 2-4,11-21: CSV, plots and a summary")
    parser.add_argument("--output", metavar="DIR", help="folder for figures and for finished cases, which are not run again")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="cases run at once (default: 1)")
    arguments = parser.parse_all(argv[1:])
    if arguments.jobs < 1:
        raise UsageError.at(f"--jobs {arguments.jobs}: expected at least 1", None, "give the number of processes")
    if arguments.figures is None and arguments.cases is None:
        raise UsageError.at("the following arguments are required: --cases, or --figures and --output", None, parser.format_usage().strip())
    if arguments.figures is not None and arguments.output is None:
        raise UsageError.at("--figures takes --output too", None, "give the folder that the figures go to: --output figures")
    if arguments.figures is not None and arguments.json is not None:
        raise UsageError.at("--json means nothing with --figures", None, "the data of figures are CSV files; leave --json out")
    return arguments


def _figures(system: Reproduction, arguments: argparse.Namespace) -> int:
    lines = system.figures(arguments.data, arguments.cases, arguments.figures, arguments.output, arguments.jobs, progress)
    end_progress()
    say("\n".join(lines))
    return 0
