"""``g10c check``: verify .ir, plan, machine and rules files, reporting the mistakes of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from g10c.compiler.cli.common import Parser, say
from g10c.ir.errors import Diagnostic, G10cError, InputError

KINDS = {".ir": "model", ".json": "plan", ".toml": "machine", ".rules": "rules"}


def run(argv: Sequence[str]) -> int:
    """Check every file; print one line for each that is right."""
    parser = Parser("check", "Verify .ir, plan, machine and rules files.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--load", metavar="FILE.py", action="append", default=[], help="a Python file with functions that rules call")
    arguments = parser.parse_all(argv)
    wrong: list[Diagnostic] = []
    for name in arguments.files:
        try:
            say(f"{name}: {_check(Path(name), arguments.load)}")
        except G10cError as error:
            wrong += error.diagnostics
    if wrong:
        raise InputError(wrong)
    return 0


def _check(path: Path, load: Sequence[str]) -> str:
    kind = KINDS.get(path.suffix)
    if kind == "rules":
        from g10c.compiler.rules.functions import find_rule_functions
        from g10c.compiler.rules.reader import load_rules

        number = len(load_rules(path, find_rule_functions(load)))
        return f"{number} rule{'s' if number != 1 else ''}"
    if kind == "machine":
        from g10c.ir.machine_file import load_machine

        return f"machine {load_machine(path).name}"
    if kind == "plan":
        from g10c.ir.plan import load_plan

        plan = load_plan(path)
        return f"plan of {plan.program.name} for {plan.machine.name}: {len(plan.program.ops):,} ops"
    if kind == "model":
        from g10c.ir.parser import load_program
        from g10c.ir.verifier import check_program

        program = load_program(path)
        check_program(program)
        return f"{program.level} program {program.name}: {len(program.ops):,} ops, {len(program.tensors):,} tensors"
    known = ", ".join(f"{suffix} ({what})" for suffix, what in KINDS.items())
    raise InputError.at(f"{path}: not a kind of file that can be checked", None, f"the name ends in one of {known}")
