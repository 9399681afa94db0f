"""Rules as text, for tests: what is wrong with them, and what they make of a small program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from g10c.compiler.rewriting.engine import apply_rules
from g10c.compiler.rewriting.rule import RuleSet
from g10c.compiler.rules.reader import parse_rules
from g10c.ir.errors import InputError
from g10c.ir.parser import parse_program
from g10c.ir.program import Op, Program
from g10c.ir.source import Source, Span
from g10c.ir.values import Value

Functions = Mapping[str, Callable[..., Any]]

PROGRAM = """g10c.ir 1
program p {batch = 4}
tensor %x : f32[4, 8]   input
tensor %w : f32[8]      weight
tensor %y : f32[4, 8]   activation
tensor %m : u8[4, 8]    activation
tensor %g : f16[4, 2]   gradient
%y, %m = dropout.forward(%x, %x, %w)  {time = 7us, phase = forward, layer = "h0.drop", flops = 32, OWN}
%g = gelu.forward(%y)  {phase = backward}
%g = add.forward(%g, %y)  {time = 1us}
""".replace("OWN", 'my.t = 5us, my.n = 3, my.f = 0.5, my.s = "text", my.b = true, my.z = 2KiB')


def rules(text: str, functions: Functions | None = None, settings: Iterable[str] = ()) -> RuleSet:
    return parse_rules(Source("t.rules", text), functions, settings)


def errors(text: str, functions: Functions | None = None, settings: Iterable[str] = ()) -> list[str]:
    """Each mistake as ``line:column message | hint``."""
    try:
        rules(text, functions, settings)
    except InputError as error:
        return [_shown(found.message, found.location, found.hint) for found in error.diagnostics]
    return []


def _shown(message: str, location: object, hint: str) -> str:
    where = f"{location.line}:{location.column} " if isinstance(location, Span) else ""
    return where + message + (f" | {hint}" if hint else "")


def rule(match: str = "@a: %y = relu.forward(%x)", where: str = "", rewrite: str = "keep @a {my.done = true}") -> str:
    """The text of a rule: line 1 is its name, line 2 the match."""
    return "\n".join(["rule r", f"match {match}", *([f"where {where}"] if where else []), f"rewrite {rewrite}", ""])


def applied(text: str, program: Program | None = None, functions: Functions | None = None, settings: Iterable[str] = ()) -> Program:
    """What rules make of a program, once for each match."""
    return apply_rules(program or parse_program(PROGRAM), rules(text, functions, settings)).program


OWN = "my.t = $mt, my.n = $n, my.f = $f, my.s = $s, my.b = $b, my.z = $z"
DROPOUT = f"@a: %y, %m = dropout.forward(%xs..., %w) {{time = $t, flops = $flops, {OWN}}}\n@b: %h = gelu.forward(%y)"


def value(expression: str, functions: Functions | None = None, lets: str = "") -> Value | None:
    """What an expression on the first op of the program, as an attribute, is."""
    text = f"{lets}\n" + rule(DROPOUT, rewrite=f"keep @a {{my.value = {expression}}}\nkeep @b")
    return applied(text, functions=functions).ops[0].attrs.get("my.value")


def holds(condition: str, functions: Functions | None = None, lets: str = "") -> bool:
    """Whether a condition holds of the first op of the program."""
    text = f"{lets}\n" + rule(DROPOUT, where=condition, rewrite="keep @a {my.value = true}\nkeep @b")
    return "my.value" in applied(text, functions=functions).ops[0].attrs


def shown(op: Op) -> str:
    """An op without its attributes."""
    return f"{', '.join(op.writes)} = {op.name}({', '.join(op.reads)})" if op.writes else f"{op.name}({', '.join(op.reads)})"
