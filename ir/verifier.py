"""Legality of programs: one table of rules, each with the levels it holds at.

:data:`RULES` is data; :func:`verify` applies what fits a program's level. Each mistake ends with the name of its rule.
"""

from __future__ import annotations

from collections.abc import Collection

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.flow_rules import FLOW_RULES
from g10c.ir.form_rules import FORM_RULES
from g10c.ir.program import Level, Op, Program
from g10c.ir.rule import Rule, Subject, apply_rules

RULES: tuple[Rule, ...] = FORM_RULES + FLOW_RULES
"""Every rule, those on form first."""


def verify(program: Program, level: Level | None = None) -> list[Diagnostic]:
    """The mistakes of a program in the order of its text; empty when it is legal.

    ``level`` is that of the program itself unless given: a program with directives is no legal *traced* one. Rules on the
    flow of data are applied to programs of the right form only.
    """
    subject = Subject(program, program.level if level is None else level)
    return apply_rules(FORM_RULES, subject) or apply_rules(FLOW_RULES, subject)


def verify_form(program: Program, excused: Collection[str] = (), partial: Collection[Op] = ()) -> list[Diagnostic]:
    """The mistakes by the rules on form alone; ``excused`` tensors count as declared, ``partial`` ops miss nothing."""
    return apply_rules(FORM_RULES, Subject(program, program.level, excused, partial))


def check_program(program: Program, level: Level | None = None) -> None:
    """Raises :class:`~g10c.ir.errors.InputError` with every mistake that :func:`verify` finds."""
    mistakes = verify(program, level)
    if mistakes:
        raise InputError(mistakes)
