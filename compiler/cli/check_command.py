"""``g10c check``: verify .ir, plan and machine files, reporting the mistakes of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from g10c.compiler.cli.common import Parser, say
from g10c.ir.errors import Diagnostic, G10cError, InputError

KINDS = {".ir": "model", ".json": "plan", ".toml": "machine"}


def run(argv: Sequence[str]) -> int:
    """Check every file; print one line for each that is right."""
    parser = Parser("check", "Verify .ir, plan and machine files.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    wrong: list[Diagnostic] = []
    for name in parser.parse_all(argv).files:
        try:
            say(f"{name}: {_check(Path(name))}")
        except G10cError as error:
            wrong += error.diagnostics
    if wrong:
        raise InputError(wrong)
    return 0


def _check(path: Path) -> str:
    kind = KINDS.get(path.suffix)
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
