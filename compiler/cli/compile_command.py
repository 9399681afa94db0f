"""``g10c compile``: run passes over a model and write a plan."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from g10c.compiler.cli.common import Parser, add_machine_arguments, check_writable, say, write_output
from g10c.compiler.cli.split_pipeline import refuse_split_pipeline
from g10c.compiler.driver import DEFAULT_MACHINE, CompileOptions, compile, pass_registry  # noqa: A004 - the API's verb
from g10c.compiler.observers import Observer, PrintAfter, Recorder
from g10c.ir.ops import DECLARATIONS, OpKind
from g10c.ir.values import human_time

if TYPE_CHECKING:
    from g10c.compiler.rewriting.log import RewriteLog
    from g10c.ir.plan import Plan


def _parser() -> Parser:
    parser = Parser("compile", "Run passes over a model and write a plan.")
    parser.add_argument("model", metavar="MODEL", help="an .ir file, a plan.json, or the name of a bundled model")
    add_machine_arguments(parser, DEFAULT_MACHINE)
    parser.add_argument(
        "--pass",
        dest="pipeline",
        metavar="PIPELINE",
        action="append",
        default=[],
        help="passes in order, quoted: 'vitality,migrate{solver=greedy}'",
    )
    parser.add_argument("--load", metavar="FILE.py", action="append", default=[], help="a Python file that defines passes or policies")
    parser.add_argument("--emit", metavar="FILE", help="write the plan as JSON ('-': to stdout)")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write the program as .ir text ('-': to stdout)")
    parser.add_argument(
        "--print-after", metavar="PASS", action="append", default=[], help="print the program after a pass ('all': after each)"
    )
    parser.add_argument("--timing", action="store_true", help="print the time of each pass")
    parser.add_argument("--statistics", action="store_true", help="print what each pass counted")
    parser.add_argument("--explain-rewrites", action="store_true", help="print each firing of a rule, and the rules that nearly fired")
    parser.add_argument("--no-verify", dest="verify", action="store_false", help="do not verify between passes")
    parser.add_argument(
        "--reproducer",
        metavar="FILE",
        default="g10c-reproducer.ir",
        help="where a failing pass leaves the program it was given (default: %(default)s)",
    )
    return parser


def run(argv: Sequence[str]) -> int:
    """Compile as the arguments say."""
    found, extra = _parser().parse_known_args(list(argv))
    pipeline = ",".join(text for text in found.pipeline if text.strip())
    if not any(word.startswith("-") for word in extra):
        refuse_split_pipeline(pipeline, extra, found.model, found.load)
    arguments = _parser().parse_all(argv)
    check_writable([arguments.emit, arguments.output], [arguments.model])
    recorder = Recorder()
    log = _rewrite_log(arguments)
    options = CompileOptions(
        load=arguments.load,
        observers=[recorder, *_print_after(arguments)],
        verify=arguments.verify,
        rewrite_log=log,
        reproducer=arguments.reproducer,
    )
    plan = compile(arguments.model, pipeline, arguments.machine, arguments.settings, options)
    _write(plan, arguments)
    if "-" not in (arguments.emit, arguments.output):
        say(_summary(plan, arguments))
    for note in plan.notes:
        sys.stderr.write(f"note: {note}\n")
    if log is not None:
        sys.stderr.write(log.text() + "\n")
    if arguments.timing:
        sys.stderr.write(recorder.timing_table() + "\n")
    if arguments.statistics:
        sys.stderr.write(recorder.statistics_table() + "\n")
    return 0


def _rewrite_log(arguments: argparse.Namespace) -> RewriteLog | None:
    if not arguments.explain_rewrites:
        return None
    from g10c.compiler.rewriting.log import RewriteLog

    return RewriteLog()


def _print_after(arguments: argparse.Namespace) -> list[Observer]:
    if not arguments.print_after:
        return []
    known = pass_registry(arguments.load)
    for name in arguments.print_after:
        if name != "all":
            known.find(name)
    return [PrintAfter(frozenset(arguments.print_after), sys.stdout.write)]


def _write(plan: Plan, arguments: argparse.Namespace) -> None:
    from g10c.ir.plan import plan_to_json
    from g10c.ir.printer import print_program

    if arguments.emit:
        write_output(arguments.emit, plan_to_json(plan))
    if arguments.output:
        write_output(arguments.output, print_program(plan.program))


def _summary(plan: Plan, arguments: argparse.Namespace) -> str:
    counts = Counter("kernels" if op.kind is OpKind.KERNEL else op.name for op in plan.program.ops)
    order = ["kernels", *(decl.name for decl in DECLARATIONS if decl.kind is not OpKind.KERNEL)]
    parts = ", ".join(f"{counts[name]:,} {name}" for name in order if counts[name])
    planned = f"; planned for {plan.machine.name}" if plan.pipeline else ""
    lines = [f"{plan.program.name}: {parts or 'no ops'}{planned}"]
    if plan.estimate_ns is not None:
        lines.append(f"estimated step time: {human_time(plan.estimate_ns)}")
    written = [path for path in (arguments.emit, arguments.output) if path]
    lines += [f"wrote {path}" for path in written] or ["nothing written: --emit plan.json or -o model.ir keeps the result"]
    return "\n".join(lines)
