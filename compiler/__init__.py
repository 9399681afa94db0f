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

_HOMES = {
    "CompileOptions": "driver",
    "Pass": "pass_base",
    "PassContext": "pass_base",
    "Rewriter": "rewriter",
    "compile": "driver",
    "find_machine": "driver",
    "load": "driver",
    "option": "pass_base",
    "required_option": "pass_base",
    "simulate": "driver",
}

__all__ = [
    "CompileOptions",
    "Pass",
    "PassContext",
    "Rewriter",
    "compile",
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

    return getattr(import_module(f"g10c.compiler.{_HOMES[name]}"), name)
