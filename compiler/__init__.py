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
    from g10c.compiler.protocols import CopyPolicy, CopyRules, Policy
    from g10c.compiler.rewriting.pattern import Capture, OneOf, PatternError, op
    from g10c.compiler.rewriting.rewriter import Rewriter
    from g10c.compiler.rewriting.rule import Captured, Keep, Line, Match, Rewrite, Rule, RuleSet, make_op, rule
    from g10c.compiler.rules.functions import rule_function
    from g10c.compiler.rules.reader import load_rules
    from g10c.ir.program import Op, Program, Role, Tensor, directive

_HOMES = {
    "Capture": "compiler.rewriting.pattern",
    "Captured": "compiler.rewriting.rule",
    "CompileOptions": "compiler.driver",
    "CopyPolicy": "compiler.protocols",
    "CopyRules": "compiler.protocols",
    "Keep": "compiler.rewriting.rule",
    "Line": "compiler.rewriting.rule",
    "Match": "compiler.rewriting.rule",
    "OneOf": "compiler.rewriting.pattern",
    "Op": "ir.program",
    "Pass": "compiler.pass_base",
    "PassContext": "compiler.pass_base",
    "PatternError": "compiler.rewriting.pattern",
    "Policy": "compiler.protocols",
    "Program": "ir.program",
    "Rewrite": "compiler.rewriting.rule",
    "Rewriter": "compiler.rewriting.rewriter",
    "Role": "ir.program",
    "Rule": "compiler.rewriting.rule",
    "RuleSet": "compiler.rewriting.rule",
    "Tensor": "ir.program",
    "compile": "compiler.driver",
    "directive": "ir.program",
    "find_machine": "compiler.driver",
    "load": "compiler.driver",
    "load_rules": "compiler.rules.reader",
    "make_op": "compiler.rewriting.rule",
    "op": "compiler.rewriting.pattern",
    "option": "compiler.pass_base",
    "required_option": "compiler.pass_base",
    "rule": "compiler.rewriting.rule",
    "rule_function": "compiler.rules.functions",
    "simulate": "compiler.driver",
}

__all__ = [
    "Capture",
    "Captured",
    "CompileOptions",
    "CopyPolicy",
    "CopyRules",
    "Keep",
    "Line",
    "Match",
    "OneOf",
    "Op",
    "Pass",
    "PassContext",
    "PatternError",
    "Policy",
    "Program",
    "Rewrite",
    "Rewriter",
    "Role",
    "Rule",
    "RuleSet",
    "Tensor",
    "compile",
    "directive",
    "find_machine",
    "load",
    "load_rules",
    "make_op",
    "op",
    "option",
    "required_option",
    "rule",
    "rule_function",
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
