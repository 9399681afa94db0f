"""``g10c compile``: run passes over a model and write a plan."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from g10c.compiler.cli.common import Parser, add_machine_arguments, check_writable, say, write_output
from g10c.compiler.driver import DEFAULT_MACHINE, CompileOptions, compile, pass_registry  # noqa: A004 - the API's verb
from g10c.compiler.observers import Observer, PrintAfter, Recorder
from g10c.ir.errors import InputError, UsageError
from g10c.ir.values import human_time

if TYPE_CHECKING:
    from g10c.ir.plan import Plan


def _parser() -> Parser:
    parser = Parser("compile", "Run passes over a model and write a plan.")
    parser.add_argument("model", metavar="MODEL", help="an .ir file, a plan.json, or the name of a bundled model")
    add_machine_arguments(parser, DEFAULT_MACHINE)
    parser.add_argument(
        "--pass", dest="pipeline", metavar="PIPELINE", default="", help="passes in order, quoted: 'vitality,migrate{solver=greedy}'"
    )
    parser.add_argument("--load", metavar="FILE.py", action="append", default=[], help="a Python file that defines passes")
    parser.add_argument("--emit", metavar="FILE", help="write the plan as JSON ('-': to stdout)")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write the program as .ir text ('-': to stdout)")
    parser.add_argument(
        "--print-after", metavar="PASS", action="append", default=[], help="print the program after a pass ('all': after each)"
    )
    parser.add_argument("--timing", action="store_true", help="print the time of each pass")
    parser.add_argument("--statistics", action="store_true", help="print what each pass counted")
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
    _refuse_split_pipeline(found, extra)
    arguments = _parser().parse_all(argv)
    check_writable([arguments.emit, arguments.output])
    recorder = Recorder()
    options = CompileOptions(
        load=arguments.load,
        observers=[recorder, *_print_after(arguments)],
        verify=arguments.verify,
        reproducer=arguments.reproducer,
    )
    plan = compile(arguments.model, arguments.pipeline, arguments.machine, arguments.settings, options)
    _write(plan, arguments)
    if "-" not in (arguments.emit, arguments.output):
        say(_summary(plan, arguments))
    for note in options.notes:
        sys.stderr.write(f"note: {note}\n")
    if arguments.timing:
        sys.stderr.write(recorder.timing_table() + "\n")
    if arguments.statistics:
        sys.stderr.write(recorder.statistics_table() + "\n")
    return 0


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
    counts: dict[str, int] = {}
    for op in plan.program.ops:
        name = op.name if op.kind != "kernel" else "kernel"
        counts[name] = counts.get(name, 0) + 1
    parts = ", ".join(f"{number:,} {name}" + ("s" if name == "kernel" and number != 1 else "") for name, number in counts.items())
    lines = [
        f"{plan.program.name}: {parts or 'no ops'}; planned for {plan.machine.name}" if plan.pipeline else f"{plan.program.name}: {parts}"
    ]
    if plan.estimate_ns is not None:
        lines.append(f"estimated step time: {human_time(plan.estimate_ns)}")
    lines += [f"wrote {path}" for path in (arguments.emit, arguments.output) if path]
    return "\n".join(lines)


def _refuse_split_pipeline(arguments: argparse.Namespace, extra: Sequence[str]) -> None:
    """Recognise the words into which a shell splits an unquoted pipeline, and say to quote it.

    A shell expands ``migrate{a=1,b=2}`` to ``migratea=1 migrateb=2``, and ``a, b`` to two words.
    """
    words = [word for word in extra if not word.startswith("-")]
    text = arguments.pipeline
    try:
        names = sorted(pass_registry(), key=len, reverse=True)
    except InputError:
        names = []
    head = re.compile("|".join(re.escape(name) for name in names) or r"\Z.")
    glued = re.compile(rf"(?:.*,)?(?:{head.pattern})[a-z_]+=")
    if words and (glued.match(text) or any(glued.match(word) or head.match(word.strip(",")) or word.endswith(",") for word in words)):
        whole = _rejoin(names, [text, *words])
        raise InputError.at(
            f"--pass: the shell split the pipeline text into {len(words) + 1} words: {' '.join([text, *words])}",
            None,
            f"quote it: --pass '{whole}'",
        )
    if words:
        raise UsageError.at(f"unexpected argument {words[0]!r}", None, "one MODEL at a time; see 'g10c compile --help'")
    if glued.match(text) and "{" not in text:
        raise InputError.at(
            f"--pass: {text!r} looks like pipeline text whose braces the shell took away",
            None,
            f"quote it: --pass '{_rejoin(names, [text])}'",
        )


def _rejoin(names: Sequence[str], words: Sequence[str]) -> str:
    """The pipeline text that a shell most likely split: braces around options that follow a pass's name."""
    options: dict[str, list[str]] = {}
    for word in ",".join(word.strip(",") for word in words if word).split(","):
        name = next((name for name in names if word.startswith(name)), word)
        rest = word[len(name) :].strip("{}")
        options.setdefault(name, []).extend([rest] if rest else [])
    return ",".join(name + ("{" + ",".join(values) + "}" if values else "") for name, values in options.items())
