"""``g10c sim``: simulate a plan or a model and print its timing."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.compiler.cli.common import Parser, add_machine_arguments, check_writable, say, write_output
from g10c.compiler.driver import DEFAULT_MACHINE, find_backend, load, machine_for, simulate
from g10c.ir.errors import UsageError


def run(argv: Sequence[str]) -> int:
    """Simulate as the arguments say."""
    parser = Parser("sim", "Simulate one training step of a plan or a model, and print its timing.")
    parser.add_argument("model", metavar="PLAN_OR_MODEL", help="a plan.json, an .ir file, or the name of a bundled model")
    add_machine_arguments(parser, f"the plan's own, or {DEFAULT_MACHINE}")
    parser.add_argument("--load", metavar="FILE.py", action="append", default=[], help="a Python file that defines the policy of the plan")
    parser.add_argument("--ideal", action="store_true", help="unlimited GPU memory")
    parser.add_argument("--steps", type=int, metavar="N", help="steps to simulate; the last is reported (default: 2)")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON ('-': to stdout)")
    parser.add_argument("--kernels", metavar="FILE", help="write a CSV with time, stall and overlap of every kernel ('-': to stdout)")
    parser.add_argument("--chrome-trace", metavar="FILE", help="write a timeline that opens in Perfetto ('-': to stdout)")
    arguments = parser.parse_all(argv)
    if arguments.steps is not None and arguments.steps < 1:
        raise UsageError.at(f"--steps {arguments.steps}: expected at least 1", None, "two steps show the steady state")
    files = {"json": arguments.json, "kernels": arguments.kernels, "chrome-trace": arguments.chrome_trace}
    check_writable(list(files.values()), [arguments.model])
    options: dict[str, object] = {"ideal": arguments.ideal, "timeline": bool(arguments.chrome_trace or arguments.kernels)}
    if arguments.steps is not None:
        options["steps"] = arguments.steps
    if arguments.load:
        from g10c.compiler.policies import check_policy_files

        check_policy_files(arguments.load)
        options["load"] = arguments.load
    loaded = load(arguments.model)
    result = simulate(loaded, arguments.machine, arguments.settings, options)
    backend = find_backend("sim")
    for form, path in files.items():
        if path:
            write_output(path, backend.render(result, form))
    if "-" not in files.values():
        say(backend.render(result, "table", machine_for(loaded, arguments.machine, arguments.settings)))
    return 0
