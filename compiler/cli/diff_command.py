"""``g10c diff``: compare two plans or models, or two results."""

from __future__ import annotations

import json
from collections.abc import Sequence

from g10c.compiler.cli.common import Parser, say, table
from g10c.compiler.diff import Row, diff_plans, diff_programs, diff_results
from g10c.compiler.driver import find_model, load
from g10c.ir.errors import InputError
from g10c.ir.plan import Plan

SHOWN = 40


def run(argv: Sequence[str]) -> int:
    """Print the rows in which two files differ."""
    parser = Parser("diff", "Compare two plans or models, or two results of 'g10c sim --json'.")
    parser.add_argument("left", metavar="A")
    parser.add_argument("right", metavar="B")
    parser.add_argument("--all", action="store_true", help=f"print every row, not the first {SHOWN}")
    arguments = parser.parse_all(argv)
    rows = _rows(arguments.left, arguments.right)
    if not rows:
        say("no differences")
        return 0
    shown = rows if arguments.all else rows[:SHOWN]
    say(table([("", arguments.left, arguments.right), *shown]))
    if len(shown) < len(rows):
        say(f"and {len(rows) - len(shown):,} more; --all prints them")
    return 0


def _rows(left: str, right: str) -> list[Row]:
    results = [_result(left), _result(right)]
    if all(results):
        return diff_results(results[0] or {}, results[1] or {})
    programs = [load(name) for name, result in zip((left, right), results, strict=True) if result is None]
    if len(programs) == 1:
        raise InputError.at(f"{left} and {right}: one is a result and the other is not", None, "compare two plans, or two results")
    a, b = programs
    if isinstance(a, Plan) and isinstance(b, Plan):
        return diff_plans(a, b)
    return diff_programs(a.program if isinstance(a, Plan) else a, b.program if isinstance(b, Plan) else b)


def _result(name: str) -> dict[str, object] | None:
    """The JSON of a result, or ``None`` when the file is something else."""
    path = find_model(name)
    if path.suffix == ".ir" or not path.is_file():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "iteration_time_ns" in value else None
