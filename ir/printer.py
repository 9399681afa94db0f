"""Programs as text: the canonical layout, which parses back to the same program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from g10c.ir.errors import InternalError
from g10c.ir.program import Op, Program, Tensor
from g10c.ir.values import Value, format_value

VERSION = "1"
"""Version of the text that is written and read."""


def print_program(program: Program) -> str:
    """Canonical text of a program: header, tensors, ops in order; attributes in their own order.

    Every statement is one line; two spaces stand before a tensor's role and before an
    op's attributes. ``parse_program`` reads it back with equal values of equal types. A program that the verifier accepts
    can always be printed; a value without a text (an infinite number) raises :class:`~g10c.ir.errors.InternalError`.
    """
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"g10c.ir {VERSION}"
    yield f"program {program.name}{_attributes(program.attrs, ' ')}"
    if program.tensors:
        yield ""
        yield from map(print_tensor, program.tensors.values())
    if program.ops:
        yield ""
        yield from map(print_op, program.ops)


def print_tensor(tensor: Tensor) -> str:
    """A declaration as its line, without a line end."""
    shape = ", ".join(map(str, tensor.shape))
    return f"tensor %{tensor.name} : {tensor.dtype}[{shape}]  {tensor.role}{_attributes(tensor.attrs, '  ')}"


def print_op(op: Op) -> str:
    """An op as its line, without a line end."""
    results = ", ".join([f"%{name}" for name in op.writes]) + " = " if op.writes else ""
    operands = ", ".join([f"%{name}" for name in op.reads])
    return f"{results}{op.name}({operands}){_attributes(op.attrs, '  ')}"


def _attributes(attrs: Mapping[str, Value], blanks: str) -> str:
    if not attrs:
        return ""
    try:
        body = ", ".join([f"{key} = {format_value(value)}" for key, value in attrs.items()])
    except ValueError as error:
        raise InternalError.at(f"attributes {dict(attrs)!r} have no text: {error}") from None
    return f"{blanks}{{{body}}}"
