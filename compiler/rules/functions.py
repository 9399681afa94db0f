"""Functions that users add to rules: Python functions under :func:`rule_function`, from a file or an installed package.

::

    from g10c.compiler import rule_function

    @rule_function
    def small(x):
        return x.size_bytes < 1000

A tensor is given as a :class:`~g10c.compiler.rewriting.rule.Captured`, several as a list of them, an op as an
:class:`~g10c.ir.program.Op`, anything else as the plain value. What it returns is true or false, a number, a ``Time``, a ``Size`` or text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from g10c.compiler.registry import Registry, load_python_file, registry
from g10c.ir.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

MARK = "__g10c_rule_function__"
GROUP = "g10c.rule_functions"
HOW = "write a Python function under @rule_function of g10c.compiler, and give its file with --load"


def rule_function(function: F) -> F:
    """Make a function one that rules can call by its name. Raises ``TypeError`` for what has no name to call it by."""
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise TypeError("rule_function stands above a function with a name: @rule_function, then def small(x): ...")
    setattr(function, MARK, True)
    return function


def rule_functions_of(module: ModuleType) -> list[Callable[..., Any]]:
    """The functions of a module that rules can call, in order."""
    found = [value for value in vars(module).values() if callable(value) and getattr(value, MARK, False) is True]
    return list(dict.fromkeys(found))


def find_rule_functions(files: Iterable[str | Path] = ()) -> dict[str, Callable[..., Any]]:
    """The functions of the installed packages and of the Python files given, by name.

    Raises :class:`InputError` where two owners define one name, and where a name is that of a built-in function.
    """
    from g10c.compiler.rules.builtins import table

    found: Registry[Any] = Registry("rule function")
    for name, builtin in table().items():
        found.add(name, builtin, "g10c itself")
    installed = registry(GROUP)
    for name in installed:
        found.add(name, _checked(name, installed.find(name), installed.owner(name)), installed.owner(name))
    for file in dict.fromkeys(str(file) for file in files):
        for function in rule_functions_of(load_python_file(file)):
            found.add(function.__name__, function, f"file {file}")
    return {name: cast("Callable[..., Any]", found.find(name)) for name in found if name not in table()}


def _checked(name: str, value: object, owner: str) -> object:
    """Refuse what a package gives for a function when it is none."""
    if not callable(value) or not name.isidentifier():
        raise InputError.at(f"rule function {name!r} of {owner} is {value!r}", None, "its entry point names a Python function")
    return value
