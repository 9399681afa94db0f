"""Arguments of layers: what their parameters take, and how mistakes in them are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from g10c.ir.errors import Diagnostic, near_hint
from g10c.models.modules.tree import Argument, ArgumentValue, Module

Arguments: TypeAlias = Mapping[str, Any]
"""Arguments by name; of each the value that the parameter's reader made of it."""

LARGEST = 1 << 31


class _ValueError(ValueError):
    """A value that a parameter does not take; the text says what was expected."""


def count(value: ArgumentValue) -> int:
    """A whole number of at least 1."""
    return _whole(value, 1)


def dimension(value: ArgumentValue) -> int:
    """The number of a dimension, below 0 from the last on."""
    return _whole(value, -8)


def flag(value: ArgumentValue) -> bool:
    """True or False."""
    if isinstance(value, bool):
        return value
    raise _ValueError("True or False")


def number(value: ArgumentValue) -> float | None:
    """A number, or None."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise _ValueError("a number")


def text(value: ArgumentValue) -> str:
    """A word."""
    if isinstance(value, str):
        return value
    raise _ValueError("a word")


def sizes(value: ArgumentValue) -> tuple[int, int]:
    """One number of at least 1 for both dimensions, or two."""
    return _pair(value, 1)


def amounts(value: ArgumentValue) -> tuple[int, int]:
    """One number of at least 0 for both dimensions, or two."""
    return _pair(value, 0)


def padding(value: ArgumentValue) -> tuple[int, int] | str:
    """As :func:`amounts`, or one of the words ``same`` and ``valid``."""
    if value in ("same", "valid"):
        return str(value)
    return _pair(value, 0)


def target_sizes(value: ArgumentValue) -> tuple[int | None, int | None]:
    """As :func:`sizes`, with ``None`` for a dimension that keeps its size."""
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2:
        raise _ValueError("a number or two")
    first, second = [None if item is None else _whole(item, 1) for item in pair]
    return first, second


def _pair(value: ArgumentValue, least: int) -> tuple[int, int]:
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2:
        raise _ValueError("a number or two")
    first, second = [_whole(item, least) for item in pair]
    return first, second


def _whole(value: ArgumentValue, least: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value < LARGEST:
        return value
    raise _ValueError(f"a whole number from {least} to {LARGEST - 1}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a constructor; without a default it has to be given."""

    read: Callable[[ArgumentValue], Any]
    default: Any = ...


def read_arguments(module: Module, parameters: Mapping[str, Parameter], diagnostics: list[Diagnostic]) -> Arguments:
    """The arguments of a layer by name, defaults included; every mistake is added to ``diagnostics``."""
    given: dict[str, Argument] = dict(zip(parameters, module.positional, strict=False))
    if len(module.positional) > len(parameters):
        message = f"{module.kind} takes {len(parameters)} arguments at most"
        diagnostics.append(Diagnostic(message, module.positional[len(parameters)].span))
    for name, argument in module.keywords.items():
        if name not in parameters:
            hint = near_hint(name, parameters, "arguments")
            diagnostics.append(Diagnostic(f"{module.kind} has no argument {name!r}", argument.key, hint))
        elif name in given:
            diagnostics.append(Diagnostic(f"{name} of {module.kind} is given twice", argument.span))
        else:
            given[name] = argument
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in given:
            try:
                found[name] = parameter.read(given[name].value)
            except _ValueError as error:
                diagnostics.append(Diagnostic(f"{name} of {module.kind}: expected {error}", given[name].span))
        elif parameter.default is ...:
            diagnostics.append(Diagnostic(f"{module.kind} needs {name}", module.span))
        else:
            found[name] = parameter.default
    return found
