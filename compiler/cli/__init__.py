"""The command line: a client of the Python API. Each command is a module, imported when it is typed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "compile": "run passes over a model and write a plan",
    "sim": "simulate a plan or a model and print its timing",
    "show": "what is in a model or plan, without simulating",
    "diff": "compare two plans, or two results",
    "check": "verify .ir, plan, machine and rules files",
    "import": "make a model from a trace or a builder",
    "export": "write a plan in the form of another tool",
    "reproduce": "run published results again, or make their figures",
    "passes": "list passes, or the options of one",
    "machines": "list machines, or the values of one",
    "models": "list bundled models, or what one is",
    "rules": "list bundled rules files, or print one",
    "new-pass": "write a package with a pass, to start from",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status (0 done, 1 wrong input, 2 wrong arguments, 3 does not fit)."""
    from g10c.compiler.cli.errors import report_errors

    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    return report_errors(lambda: _dispatch(arguments), debug)


def _dispatch(arguments: list[str]) -> int:
    from importlib import import_module

    from g10c.ir.errors import UsageError, near_hint

    command = arguments[0] if arguments else ""
    _require_folder()
    if command in ("", "-h", "--help", "help"):
        print(_help())  # noqa: T201 - the command line prints
        return 0 if command else 2
    if command in ("-V", "--version"):
        from g10c.compiler.driver import version

        print(f"g10c {version()}")  # noqa: T201 - the command line prints
        return 0
    if command not in COMMANDS:
        raise UsageError.at(f"unknown command {command!r}", None, near_hint(command, COMMANDS, "commands"))
    module = import_module(f"g10c.compiler.cli.{command.replace('-', '_')}_command")
    status: int = module.run(arguments[1:])
    return status


def _require_folder() -> None:
    """Relative paths mean nothing in a folder that has been removed."""
    import os

    from g10c.ir.errors import InputError

    try:
        os.getcwd()
    except FileNotFoundError:
        raise InputError.at("the current folder no longer exists", None, "change to a folder that does") from None


def _help() -> str:
    rows = [f"  {name:<10} {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "g10c plans and predicts deep-learning training before it runs.",
            "",
            "usage: g10c COMMAND ... ('g10c COMMAND --help' shows the arguments)",
            "",
            *rows,
            "",
            "  g10c compile bert-base --pass vitality,migrate --emit plan.json",
            "  g10c sim plan.json",
            "",
            "exit status: 0 done; 1 the input is wrong; 2 the arguments are wrong; 3 it does not fit or cannot be solved",
        ]
    )
