"""``g10c export``: a plan in the form of another tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from g10c.compiler.cli.common import Parser, add_machine_arguments, check_writable, say, write_output
from g10c.compiler.driver import DEFAULT_MACHINE, load, machine_for
from g10c.compiler.registry import registry
from g10c.ir.plan import Plan

if TYPE_CHECKING:
    from g10c.compiler.protocols import Exporter


def run(argv: Sequence[str]) -> int:
    """Write a plan as another tool reads it."""
    formats = registry("g10c.exporters")
    parser = Parser("export", "Write a plan in the form of another tool.")
    parser.add_argument("plan", metavar="PLAN", help="a plan.json, or an .ir file with directives")
    parser.add_argument("--format", metavar="NAME", required=True, help=f"the form: {', '.join(formats)}")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="where to write ('-', the default: to stdout)")
    add_machine_arguments(parser, f"the plan's own, or {DEFAULT_MACHINE}")
    arguments = parser.parse_all(argv)
    check_writable([arguments.output], [arguments.plan])
    exporter = cast("type[Exporter]", formats.find(arguments.format))()
    loaded = load(arguments.plan)
    program = loaded.program if isinstance(loaded, Plan) else loaded
    text = exporter.export(program, machine_for(loaded, arguments.machine, arguments.settings))
    write_output(arguments.output, text)
    if arguments.output != "-":
        say(f"wrote {arguments.output}")
    return 0
