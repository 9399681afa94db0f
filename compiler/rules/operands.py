"""Names of ops and the numbers of their operands and results, against the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from g10c.compiler.rules.tree import Atom, OpLine, PatternLine
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.ops import BY_NAME, declaration, known_names
from g10c.ir.source import Span

if TYPE_CHECKING:
    from g10c.compiler.rules.expressions import Expressions

Limits = tuple[int, int | None]


def unknown_op(atom: Atom, where: str) -> Diagnostic:
    """The mistake of a name that no op has; ``where`` is match, rewrite or glob."""
    name = atom.text
    if where == "glob":
        return Diagnostic(
            f"no op fits {name!r}", atom.span, "names are such as linear.forward; * stands for any characters, as in *.forward"
        )
    base, dot, _ = name.partition(".")
    decl = BY_NAME.get(base)
    if decl is not None:
        variants = [f"{base}.{variant}" for variant in decl.variants]
        none = f"{base} has no variants" if dot else ""
        more = f"; {base}.* matches them all" if where == "match" and variants else ""
        hint = (
            (near_hint(name, variants, f"variants of {base}") or f"variants of {base}: {', '.join(variants)}") + more if variants else none
        )
    else:
        hint = near_hint(name, known_names(), "ops") or 'a kernel without a declaration is kernel(...) {kernel = "its name"}'
    return Diagnostic(f"unknown op {name!r}", atom.span, hint)


def check_counts(
    expressions: Expressions, names: Iterable[str], operands: Sequence[Atom], results: Sequence[Atom], line: PatternLine | OpLine
) -> None:
    """Tell of a line that has more or fewer operands or results than any op of these names, as far as lists let it be seen."""
    mistakes: list[Diagnostic] = []
    for name in sorted(names):
        found = list(_count_mistakes(name, operands, results, line))
        if not found:
            return
        mistakes = mistakes or found
    expressions.diagnostics += mistakes


def _count_mistakes(name: str, operands: Sequence[Atom], results: Sequence[Atom], line: PatternLine | OpLine) -> Iterable[Diagnostic]:
    decl = declaration(name)
    if decl is None:
        return
    for atoms, limits, what in ((operands, decl.reads, "operand"), (results, decl.writes, "result")):
        fixed, lists = sum(not atom.many for atom in atoms), any(atom.many for atom in atoms)
        least, most = limits
        if (fixed < least and not lists) or (most is not None and fixed > most):
            found = f"{fixed} or more" if lists else str(fixed)
            yield Diagnostic(f"{name} has {_wanted(limits, what)}, found {found}", _place(atoms, line), f"{name}: {decl.doc}")


def _wanted(limits: Limits, what: str) -> str:
    least, most = limits
    if most is None:
        return f"at least {least} {what}{'s' if least != 1 else ''}"
    if least == most:
        return f"{least or 'no'} {what}{'s' if least != 1 else ''}"
    return f"{least} to {most} {what}s"


def _place(atoms: Sequence[Atom], line: PatternLine | OpLine) -> Span:
    if atoms:
        return Span(line.span.source, atoms[0].span.start, atoms[-1].span.end)
    return line.names[0].span if isinstance(line, PatternLine) else line.maker.span
