"""Classes from outside that are to be passes: what each has to have, checked before it is made or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from g10c.compiler.pass_base import Pass
from g10c.ir.errors import InputError
from g10c.ir.program import Level

if TYPE_CHECKING:
    from pathlib import Path

OPTION_HINT = "an option is a field of type int, float, bool, str, Size, Time, Path, Literal or a tuple"


def check_file_pass(kind: type[Pass], file: str | Path) -> None:
    """Refuse a class of a user's file that cannot be made or run, saying what is missing. Raises :class:`InputError`."""
    problem, hint = _problem(kind)
    if problem:
        raise InputError.at(f"{file}: pass class {kind.__name__} {problem}", None, hint)


def check_entry(name: str, value: object, owner: str) -> None:
    """Refuse what a package's entry point gives for a pass when it is none, or one of another name. Raises :class:`InputError`."""
    if not isinstance(value, type) or not issubclass(value, Pass):
        problem, hint = f"is {value!r}, not a pass class", "the entry point names a class derived from g10c.compiler.Pass"
    elif getattr(value, "name", None) is None:
        problem, hint = f"has a class {value.__name__} without a name", f'write name = "{name}" in the class'
    else:
        problem, hint = _problem(value)
        problem = problem and f"has a class {value.__name__} that {problem}"
        if not problem and value.name != name:
            problem, hint = f"has a class of another name, {value.name!r}", "the entry point and the class give one name"
    if problem:
        raise InputError.at(f"pass {name!r} of {owner} {problem}", None, hint)


def _problem(kind: type[Pass]) -> tuple[str, str]:
    """What is wrong with a class that looks like a pass, and what to do; empty when nothing is."""
    if "__dataclass_params__" not in vars(kind):
        return "is not a dataclass, so its options are not known", "write @dataclass(frozen=True) above the class"
    if getattr(kind, "__abstractmethods__", None):
        return "has no method run(self, program, context)", "it returns the rewritten program"
    if not isinstance(kind.name, str) or not kind.name:
        return f"has the name {kind.name!r}", "a name is text, as it is typed in a pipeline"
    if not isinstance(kind.takes, frozenset | set) or not all(isinstance(level, Level) for level in kind.takes):
        return f"takes {kind.takes!r}", "takes is a frozenset of g10c.ir.program.Level"
    return _option_problem(kind), OPTION_HINT


def _option_problem(kind: type[Pass]) -> str:
    from g10c.compiler.options import options_of

    try:
        for item in options_of(kind):
            item.type_text()
    except Exception as error:  # annotations are the user's, and are evaluated here
        return f"has an option that cannot be read: {type(error).__name__}: {error}"
    return ""
