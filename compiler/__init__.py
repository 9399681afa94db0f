"""How passes are written, found and run; the Python API and the command line.

::

    from g10c.compiler import load, compile, simulate

    plan = compile(load("bert-base"), "vitality,migrate", machine="a100-40gb")
    print(simulate(plan).iteration_time_ns)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from g10c.compiler.driver import CompileOptions, compile, find_machine, load, simulate  # noqa: A004 - the API's verb
    from g10c.compiler.pass_base import Pass, PassContext, option, required_option
    from g10c.compiler.rewriter import Rewriter
    from g10c.ir.program import Op, Program, Role, Tensor, directive

_HOMES = {
    "CompileOptions": "compiler.driver",
    "Op": "ir.program",
    "Pass": "compiler.pass_base",
    "PassContext": "compiler.pass_base",
    "Program": "ir.program",
    "Rewriter": "compiler.rewriter",
    "Role": "ir.program",
    "Tensor": "ir.program",
    "compile": "compiler.driver",
    "directive": "ir.program",
    "find_machine": "compiler.driver",
    "load": "compiler.driver",
    "option": "compiler.pass_base",
    "required_option": "compiler.pass_base",
    "simulate": "compiler.driver",
}

__all__ = [
    "CompileOptions",
    "Op",
    "Pass",
    "PassContext",
    "Program",
    "Rewriter",
    "Role",
    "Tensor",
    "compile",
    "directive",
    "find_machine",
    "load",
    "option",
    "required_option",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"g10c.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The API, also what has not been imported yet."""
    return sorted({*globals(), *__all__})
