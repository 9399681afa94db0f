"""Rules on the form of a program: names, types of tensors, ops and their operands. The parser applies them too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from g10c.ir.attribute_rules import ATTRIBUTE_RULES
from g10c.ir.errors import Diagnostic
from g10c.ir.names import is_name
from g10c.ir.ops import BY_NAME, OpDecl, declaration, known_names
from g10c.ir.parse_values import INTEGER_LIMIT
from g10c.ir.program import DTYPE_BYTES, Op, Role, Tensor
from g10c.ir.rule import Rule, Subject, at_operand, at_pattern, at_tensor
from g10c.ir.source import Location
from g10c.ir.values import human_size


def _names(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    hint = "names hold letters, digits and _, with . - / : inside"
    if not is_name(program.name):
        yield Diagnostic(f"a program cannot be called {program.name!r}", program.location, hint)
    for key, tensor in program.tensors.items():
        if not is_name(tensor.name):
            yield Diagnostic(f"a tensor cannot be called {tensor.name!r}", tensor.location, hint)
        if key != tensor.name:
            yield Diagnostic(f"tensor %{tensor.name} is listed as %{key}", tensor.location)


def _tensor_types(subject: Subject) -> Iterator[Diagnostic]:
    for tensor in subject.program.tensors.values():
        if tensor.dtype not in DTYPE_BYTES:
            hint = subject.near(tensor.dtype, DTYPE_BYTES, "data types")
            yield Diagnostic(f"%{tensor.name} has the unknown data type {tensor.dtype!r}", _at_type(tensor), hint)
        elif any(type(size) is not int or size < 0 for size in tensor.shape):
            yield Diagnostic(f"%{tensor.name} has a dimension that is not an integer of 0 or more: {tensor.shape}", _at_type(tensor))
        elif tensor.size_bytes >= INTEGER_LIMIT:
            yield Diagnostic(f"%{tensor.name} would have {human_size(tensor.size_bytes)}, more than 2^63 bytes", _at_type(tensor))
        if not isinstance(tensor.role, Role):
            roles = [role.value for role in Role]
            yield Diagnostic(
                f"%{tensor.name} has the unknown role {tensor.role!r}", tensor.location, subject.near(tensor.role, roles, "roles")
            )


def _at_type(tensor: Tensor) -> Location | None:
    return at_pattern(tensor.location, r":[ \t]*(\w+\[[^\]]*\])")


def _declared_ops(subject: Subject) -> Iterator[Diagnostic]:
    unknown: dict[str, list[Op]] = {}
    for op in subject.program.ops:
        if declaration(op.name) is None:
            unknown.setdefault(op.name, []).append(op)
    for name, ops in unknown.items():
        where = at_pattern(ops[0].location, rf"(?:^|=)[ \t]*({re.escape(name)})[ \t]*\(")
        yield Diagnostic(f"unknown op {name!r}{_more(len(ops))}", where, _op_hint(subject, name))


def _op_hint(subject: Subject, name: str) -> str:
    base, dot, _ = name.partition(".")
    decl = BY_NAME.get(base)
    if decl:
        near = subject.near(name, [f"{base}.{variant}" for variant in decl.variants], f"variants of {base}")
        return near or (f"{base} has no variants" if dot and not decl.variants else f"variants of {base}: {', '.join(decl.variants)}")
    return subject.near(name, known_names(), "ops") or 'a kernel without a declaration is written kernel(...) {kernel = "its name"}'


def _more(uses: int) -> str:
    return f" (and {uses - 1} more uses)" if uses > 2 else " (and another use)" if uses == 2 else ""


def _operands(subject: Subject) -> Iterator[Diagnostic]:
    for op in subject.program.ops:
        decl = declaration(op.name)
        if decl is None or op in subject.partial:
            continue
        reads, writes = len(op.reads), len(op.writes)
        if reads < decl.reads[0] or (decl.reads[1] is not None and reads > decl.reads[1]):
            yield _count_mistake(op, decl, decl.reads, reads, "operand")
        if writes < decl.writes[0] or (decl.writes[1] is not None and writes > decl.writes[1]):
            yield _count_mistake(op, decl, decl.writes, writes, "result")
        if writes > 1 and len(set(op.writes)) < writes:
            twice = next(name for name in op.writes if op.writes.count(name) > 1)
            yield Diagnostic(f"{op.name} writes %{twice} twice", at_tensor(op.location, twice))


def _count_mistake(op: Op, decl: OpDecl, limits: tuple[int, int | None], found: int, what: str) -> Diagnostic:
    least, most = limits
    if most is None:
        wanted = f"at least {least} {what}{'s' if least != 1 else ''}"
    elif least == most:
        wanted = f"{least or 'no'} {what}{'s' if least != 1 else ''}"
    else:
        wanted = f"{least} to {most} {what}s"
    pattern = r"\([^)]*\)" if what == "operand" else r"^%[^=(]*?(?=[ \t]*=)"
    return Diagnostic(f"{op.name} has {wanted}, found {found}", at_pattern(op.location, pattern), f"{op.name}: {decl.doc}")


def _declared_tensors(subject: Subject) -> Iterator[Diagnostic]:
    tensors = subject.program.tensors
    unknown: dict[str, list[Op]] = {}
    for op in subject.program.ops:
        for name in op.reads:
            if name not in tensors:
                unknown.setdefault(name, []).append(op)
        for name in op.writes:
            if name not in tensors:
                unknown.setdefault(name, []).append(op)
    for name, ops in unknown.items():
        if name not in subject.excused:
            first = ops[0]
            where = at_operand(first, name) if name in first.reads else at_tensor(first.location, name)
            hint = subject.near(name, tensors, "tensors") or f"declare it: tensor %{name} : f32[...]  activation"
            yield Diagnostic(f"tensor %{name} is not declared{_more(len(dict.fromkeys(ops)))}", where, hint)


FORM_RULES = (
    Rule("legal-name", "Programs and tensors have names that text can hold, and tensors are listed under their own.", _names),
    Rule("tensor-type", "Tensors have a known data type and role, dimensions of 0 or more, and less than 2^63 bytes.", _tensor_types),
    Rule("declared-op", "Every op is declared.", _declared_ops),
    Rule("operand-count", "Ops have as many operands and results as declared, and write no tensor twice.", _operands),
    Rule("declared-tensor", "Every tensor that an op names is declared.", _declared_tensors),
    *ATTRIBUTE_RULES,
)
"""What holds for a program at every level, op by op and tensor by tensor."""
