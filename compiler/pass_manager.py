"""Runs passes in order: checks levels, verifies between passes, tells observers, and leaves a reproducer when one fails."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from g10c.ir.errors import Diagnostic, G10cError, InputError

if TYPE_CHECKING:
    from g10c.compiler.observers import Observer
    from g10c.compiler.pass_base import Pass, PassContext
    from g10c.ir.program import Level, Program

T = TypeVar("T")


class PassError(InputError):
    """A pass raised something that is not a g10c error, or returned a program that the verifier refuses."""


def run_passes(
    program: Program, passes: Sequence[Pass], context: PassContext, observers: Iterable[Observer] = (), verify: bool = True
) -> Program:
    """The program after all passes. ``verify`` checks it after each one."""
    watching = list(observers)
    for item in passes:
        _guarded(item, partial(item.prepare, context))
    for number, item in enumerate(passes):
        rest = list(passes[number + 1 :])
        for observer in watching:
            observer.before(item, program)
        started = time.perf_counter()
        context.statistics = {}
        try:
            after = _run_one(item, program, context, passes, verify)
        except PassError as error:
            for observer in watching:
                observer.failed(item, rest, program, error)
            raise
        context.analyses.preserve(program, after, item.preserves)
        seconds = time.perf_counter() - started
        for observer in watching:
            observer.after(item, after, seconds, context.statistics)
        program = after
    return program


def _run_one(item: Pass, program: Program, context: PassContext, passes: Sequence[Pass], verify: bool) -> Program:
    if program.level not in item.takes:
        raise _wrong_level(item, program, passes)
    given = _without_findings(program, context)
    after = _guarded(item, lambda: item.run(given, context))
    if after is given:
        after = program
    problems = _problems(item, after, verify)
    if problems:
        raise PassError(problems)
    return after


def _guarded(item: Pass, action: Callable[[], T]) -> T:
    """What an action of a pass returns; where it fails, the pass is to blame."""
    try:
        return action()
    except (G10cError, KeyboardInterrupt):
        raise
    except BaseException as error:  # also what is no Exception: a pass that exits has failed
        raise PassError(_crash(item, error)) from error


FINDINGS = ("estimated_time", "bound_time")
"""Attributes of a program that were found out about it, and are not true of what a pass makes of it."""


def _without_findings(program: Program, context: PassContext) -> Program:
    """The program as a pass is given it: with what it makes anew left out."""
    if not any(name in program.attrs for name in FINDINGS):
        return program
    given = program.with_attrs(**dict.fromkeys(FINDINGS))
    context.analyses.preserve(program, given)
    return given


def _problems(item: Pass, after: Program, verify: bool) -> list[Diagnostic]:
    from g10c.ir.program import Program
    from g10c.ir.verifier import verify as verify_program

    blame = f"pass {item.name!r} broke the program: "
    if not isinstance(after, Program):
        return [Diagnostic(f"pass {item.name!r} returned {type(after).__name__}, not a program", None, "return the rewritten Program")]
    if not verify:
        return []
    try:
        return [Diagnostic(blame + found.message, found.location, found.hint) for found in verify_program(after)]
    except Exception as error:  # a program whose fields are of the wrong types breaks the verifier, and the pass is to blame
        return [Diagnostic(f"{blame}{type(error).__name__}: {error}", None, "its tensors, ops and attributes have to be of their types")]


def _crash(item: Pass, error: BaseException) -> Diagnostic:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == getattr(sys.modules.get(type(item).__module__), "__file__", None)]
    place = "".join(f" at {_short(frame.filename)}:{frame.lineno} ({frame.name})" for frame in (own or frames)[-1:])
    return Diagnostic(
        f"pass {item.name!r} failed: {type(error).__name__}: {error}{place}",
        None,
        "this is a mistake in the pass",
    )


def _short(path: str) -> str:
    """A path as a user would type it here: relative where the file lies below this folder."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _wrong_level(item: Pass, program: Program, passes: Sequence[Pass]) -> InputError:
    names = [other.name for other in passes]
    levels = " or ".join(str(level) for level in sorted(item.takes))
    hint = f"pass {item.name!r} takes a {levels} program"
    position = names.index(item.name)
    if position and program.level > max(item.takes):
        order = [item.name, *names[:position], *names[position + 1 :]]
        hint += f"; put it first: --pass '{','.join(order)}'"
    return InputError(Diagnostic(f"pass {item.name!r} cannot run on a {program.level} program{_because(program)}", None, hint))


def _because(program: Program) -> str:
    from g10c.ir.ops import OpKind
    from g10c.ir.program import Level as Levels

    kinds: dict[Level, OpKind] = {Levels.PLANNED: OpKind.DIRECTIVE, Levels.PARTITIONED: OpKind.COLLECTIVE}
    wanted = kinds.get(program.level)
    first = next((op for op in program.ops if op.kind is wanted), None)
    if first is None:
        return ""
    where = f" ({first.location})" if first.location else ""
    return f": it has {first.name}({', '.join('%' + name for name in first.reads)}){where}"
