"""``g10c show``: what is in a model or plan, without simulating."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from g10c.compiler.cli.common import Parser, say, table, write_output
from g10c.compiler.driver import load
from g10c.compiler.summary import Summary, summarize
from g10c.ir.plan import Plan
from g10c.ir.values import human_size, human_time


def run(argv: Sequence[str]) -> int:
    """Describe a model or plan."""
    parser = Parser("show", "What is in a model or plan: ops, tensors, live and active memory, largest tensors.")
    parser.add_argument("model", metavar="MODEL_OR_PLAN", help="an .ir file, a plan.json, or the name of a bundled model")
    parser.add_argument("--json", metavar="FILE", help="write the same as JSON ('-': to stdout)")
    arguments = parser.parse_all(argv)
    loaded = load(arguments.model)
    summary = summarize(loaded.program if isinstance(loaded, Plan) else loaded)
    if arguments.json:
        write_output(arguments.json, json.dumps(asdict(summary), indent=1) + "\n")
    if arguments.json != "-":
        say(_text(summary, loaded if isinstance(loaded, Plan) else None))
    return 0


def _text(summary: Summary, plan: Plan | None) -> str:
    lines = [f"{summary.name} ({summary.level}): {summary.kernels:,} kernels, ideal step {human_time(summary.ideal_time_ns)}"]
    if plan is not None:
        lines.append(f"plan for {plan.machine.name} by {plan.pipeline or 'no passes'}")
    lines += [
        f"live memory peak   {human_size(summary.live_peak_bytes):>12}  at kernel {summary.live_peak_kernel}",
        f"active memory peak {human_size(summary.active_peak_bytes):>12}  at kernel {summary.active_peak_kernel}",
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
