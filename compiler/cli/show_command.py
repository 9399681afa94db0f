"""``g10c show``: what is in a model or plan, without simulating."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from g10c.compiler.cli.common import Parser, check_writable, say, table, write_output
from g10c.compiler.driver import load
from g10c.compiler.memory_use import PARTS, memory_use
from g10c.compiler.summary import Summary, summarize
from g10c.ir.plan import Plan
from g10c.ir.values import human_size, human_time

if TYPE_CHECKING:
    from g10c.ir.program import Program


def run(argv: Sequence[str]) -> int:
    """Describe a model or plan."""
    parser = Parser("show", "What is in a model or plan: ops, tensors, live and active memory, largest tensors.")
    parser.add_argument("model", metavar="MODEL_OR_PLAN", help="an .ir file, a plan.json, or the name of a bundled model")
    parser.add_argument("--json", metavar="FILE", help="write the same as JSON ('-': to stdout)")
    parser.add_argument("--memory", metavar="FILE", help="write a CSV with the live and active memory of every kernel ('-': to stdout)")
    arguments = parser.parse_all(argv)
    check_writable([arguments.json, arguments.memory], [arguments.model])
    loaded = load(arguments.model)
    program = loaded.program if isinstance(loaded, Plan) else loaded
    summary = summarize(program)
    if arguments.json:
        write_output(arguments.json, json.dumps(asdict(summary), indent=1) + "\n")
    if arguments.memory:
        write_output(arguments.memory, _memory_csv(program))
    if "-" not in (arguments.json, arguments.memory):
        say(_text(summary, loaded if isinstance(loaded, Plan) else None))
    return 0


def _peak(size: int, kernel: int, parts: dict[str, int]) -> str:
    found = ", ".join(f"{name} {human_size(part)}" for name, part in parts.items() if part)
    return f"{human_size(size):>12}  at kernel {kernel}{': ' + found if found else ''}"


def _memory_csv(program: Program) -> str:
    """Live and active bytes by kernel."""
    use = memory_use(program)
    header = ["kernel", "name", *(f"{what}_{part}_bytes" for what in ("live", "active") for part in PARTS)]
    lines = [",".join(header)]
    for number, (op, live, active) in enumerate(zip(program.kernels, use.live, use.active, strict=True)):
        sizes = (getattr(size, part) for size in (live, active) for part in PARTS)
        lines.append(",".join([str(number), op.name, *map(str, sizes)]))
    return "\n".join(lines) + "\n"


def _text(summary: Summary, plan: Plan | None) -> str:
    lines = [f"{summary.name} ({summary.level}): {summary.kernels:,} kernels, ideal step {human_time(summary.ideal_time_ns)}"]
    if plan is not None:
        lines.append(f"plan for {plan.machine.name} by {plan.pipeline or 'no passes'}")
    lines += [
        f"live memory peak   {_peak(summary.live_peak_bytes, summary.live_peak_kernel, summary.live_peak_parts)}",
        f"active memory peak {_peak(summary.active_peak_bytes, summary.active_peak_kernel, summary.active_peak_parts)}",
    ]
    if plan is not None:
        lines.append(f"GPU memory         {human_size(plan.machine.gpu.usable):>12}")
    roles = [("tensors", "number", "bytes")]
    roles += [(role, f"{number:,}", human_size(size)) for role, (number, size) in summary.tensors_by_role.items()]
    ops = [("ops", "number")] + [(name, f"{number:,}") for name, number in summary.ops_by_name.items()]
    largest = [("largest tensors", "role", "bytes")] + [("%" + name, role, human_size(size)) for name, role, size in summary.largest]
    blocks = [table(roles, lambda column: column > 0), table(ops, lambda column: column > 0), table(largest, lambda column: column > 1)]
    if summary.directives:
        moved = [("directives", "bytes")] + [(name, human_size(size)) for name, size in summary.directives.items()]
        blocks.insert(0, table(moved, lambda column: column > 0))
    return "\n\n".join(["\n".join(lines), *blocks])
