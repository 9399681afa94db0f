"""Rules on attributes: which there are, and the types and words of their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache

from g10c.ir.errors import Diagnostic
from g10c.ir.names import is_word
from g10c.ir.ops import AttrDecl, declaration
from g10c.ir.parse_values import INTEGER_LIMIT, MAX_NESTING
from g10c.ir.program import Op, Program, Tensor
from g10c.ir.rule import Rule, Subject, at_key, at_value
from g10c.ir.values import Ident, Range, Size, Time, Value, format_value

RUNTIMES = ("uvm", "direct")

PROGRAM_ATTRS = (
    AttrDecl("batch", int, "samples of a step"),
    AttrDecl("source", str, "where the program came from"),
    AttrDecl("gpu", str, "GPU whose kernel times these are"),
    AttrDecl("mesh", str, 'axes of ranks, such as "dp=2,tp=4"'),
    AttrDecl("runtime", Ident, "how memory is managed while it runs", choices=RUNTIMES),
    AttrDecl("policy", str, "what decides while it runs"),
    AttrDecl("bound_time", Time, "proven lower bound of the step's time"),
    AttrDecl("estimated_time", Time, "the planner's estimate of the step's time"),
)
"""Declared attributes of programs; others are accepted as they are."""

TENSOR_ATTRS = (
    AttrDecl("inactive", tuple, "ranges of kernel numbers in which nothing uses the tensor; start above end wraps around the step"),
)
"""Declared attributes of tensors; others need a dot in their name."""

FORMS: dict[type, str] = {
    Time: "a time with a unit, such as 12.5us",
    Size: "a size with a unit, such as 64MiB",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    str: "a string in quotes",
    Ident: "a word without quotes",
    Range: "a range, such as 0B..64MiB",
    tuple: "a list in brackets",
}
"""What an attribute of a type looks like in text."""

_Owner = Program | Tensor | Op
_Table = Mapping[str, AttrDecl]
_PROGRAM_TABLE = {decl.name: decl for decl in PROGRAM_ATTRS}
_TENSOR_TABLE = {decl.name: decl for decl in TENSOR_ATTRS}


@cache
def _op_table(name: str) -> tuple[_Table, tuple[str, ...]] | None:
    """Declared attributes of an op and those it must have; ``None`` for an op that is not declared."""
    decl = declaration(name)
    if decl is None:
        return None
    return {attr.name: attr for attr in decl.attrs}, tuple(attr.name for attr in decl.attrs if attr.required)


def _owner(owner: _Owner) -> str:
    return f"tensor %{owner.name}" if isinstance(owner, Tensor) else owner.name if isinstance(owner, Op) else "the program"


def _fits(value: Value, kind: type) -> bool:
    return type(value) is kind or (kind is float and type(value) is int)


def _type_mistake(owner: _Owner, decl: AttrDecl, value: Value) -> Diagnostic | None:
    if not _fits(value, decl.type):
        found = _text(value)
        message = f"{decl.name!r} of {_owner(owner)}: expected {FORMS[decl.type]}, found {found}"
        return Diagnostic(message, at_value(owner.location, decl.name), _type_hint(decl, value))
    if decl.choices and value not in decl.choices:
        return None  # the rule on words
    if isinstance(value, int) and value < 0:
        return Diagnostic(f"{decl.name!r} of {_owner(owner)} is negative: {_text(value)}", at_value(owner.location, decl.name))
    return None


def _type_hint(decl: AttrDecl, value: Value) -> str:
    if decl.type is Time and type(value) is int:
        return f"write {value}ns, {value}us or {value}ms"
    if decl.type is Size and type(value) is int:
        return f"write {value}B"
    if decl.type is str and isinstance(value, Ident):
        return f'write {decl.name} = "{value}"'
    if decl.type is Ident and type(value) is str and is_word(value):
        return f"write {decl.name} = {value}"
    return decl.doc


def _text(value: Value) -> str:
    try:
        text = format_value(value)
    except (ValueError, TypeError, RecursionError):
        return type(value).__name__
    return text if len(text) <= 60 else text[:60] + "..."


def _attribute_types(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    for key, value in program.attrs.items():
        decl = _PROGRAM_TABLE.get(key)
        mistake = _type_mistake(program, decl, value) if decl else None
        if mistake:
            yield mistake
    for tensor in program.tensors.values():
        for key, value in tensor.attrs.items():
            decl = _TENSOR_TABLE.get(key)
            mistake = _type_mistake(tensor, decl, value) if decl else None
            if mistake:
                yield mistake
    for op in program.ops:
        table = _op_table(op.name)
        if table and op.attrs:
            declared = table[0]
            for key, value in op.attrs.items():
                decl = declared.get(key)
                if decl and (type(value) is not decl.type or (isinstance(value, int) and value < 0)):
                    mistake = _type_mistake(op, decl, value)
                    if mistake:
                        yield mistake


def _declared_attributes(subject: Subject) -> Iterator[Diagnostic]:
    for tensor in subject.program.tensors.values():
        for key in tensor.attrs:
            if key not in _TENSOR_TABLE and "." not in key:
                yield _unknown(subject, tensor, key, _TENSOR_TABLE)
    for op in subject.program.ops:
        table = _op_table(op.name)
        if table:
            declared, required = table
            for key in op.attrs:
                if key not in declared and "." not in key:
                    yield _unknown(subject, op, key, declared)
            for key in required:
                if key not in op.attrs and op not in subject.partial:
                    decl = declared[key]
                    yield Diagnostic(f"{op.name} needs the attribute {key!r}", op.location, f"{decl.doc}; {_example(decl)}")


def _example(decl: AttrDecl) -> str:
    return f"one of {', '.join(decl.choices)}" if decl.choices else FORMS[decl.type]


def _unknown(subject: Subject, owner: _Owner, key: str, declared: _Table) -> Diagnostic:
    near = subject.near(key, declared.keys(), f"attributes of {_owner(owner)}")
    own = f"an attribute of your own has a dot in its name, such as my.{key}"
    return Diagnostic(f"{_owner(owner)} has no attribute {key!r}", at_key(owner.location, key), f"{near}; {own}" if near else own)


def _words(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    for key, value in program.attrs.items():
        decl = _PROGRAM_TABLE.get(key)
        if decl and decl.choices and type(value) is Ident and value not in decl.choices:
            yield _unknown_word(subject, program, decl, value)
    for op in program.ops:
        table = _op_table(op.name)
        if table and op.attrs:
            for key, value in op.attrs.items():
                if type(value) is Ident:
                    decl = table[0].get(key)
                    if decl and decl.choices and value not in decl.choices:
                        yield _unknown_word(subject, op, decl, value)


def _unknown_word(subject: Subject, owner: _Owner, decl: AttrDecl, value: Ident) -> Diagnostic:
    message = f"{decl.name!r} of {_owner(owner)} is one of {', '.join(decl.choices)}, found {str(value)!r}"
    return Diagnostic(message, at_value(owner.location, decl.name), subject.near(value, decl.choices, f"words for {decl.name}"))


_SAFE = frozenset({bool, str})


def _writable(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    keys: dict[str, bool] = {}
    owners: tuple[_Owner, ...] = (program, *program.tensors.values(), *program.ops)
    for owner in owners:
        for key, value in owner.attrs.items():
            if key not in keys:
                keys[key] = is_word(key)
            if not keys[key]:
                yield Diagnostic(f"{key!r} of {_owner(owner)} is no name of an attribute", at_key(owner.location, key))
            kind = type(value)
            if kind in _SAFE or ((kind is Time or kind is int) and -INTEGER_LIMIT < value < INTEGER_LIMIT):  # type: ignore[operator]
                continue
            reason = _not_writable(value, 0)
            if reason:
                yield Diagnostic(f"{key!r} of {_owner(owner)} has no text: {reason}", at_value(owner.location, key))


def _not_writable(value: object, depth: int) -> str:
    """Why a value cannot be written as text and read back as the same value; empty when it can."""
    kind = type(value)
    if kind is Ident:
        return "" if is_word(str(value)) else f"{str(value)!r} is no word"
    if kind is float:
        return "" if math.isfinite(value) else "it is not finite"  # type: ignore[arg-type]
    if kind in (int, Time, Size):
        return "" if -INTEGER_LIMIT < value < INTEGER_LIMIT else "it is outside 64 bits"  # type: ignore[operator]
    if isinstance(value, Range):
        ends = {type(value.start), type(value.end)}
        return (
            _not_writable(value.start, depth) or _not_writable(value.end, depth) if ends in ({int}, {Size}) else "its ends differ in type"
        )
    if isinstance(value, tuple):
        if depth > MAX_NESTING:
            return f"lists are nested more than {MAX_NESTING} deep"
        return next(filter(None, (_not_writable(item, depth + 1) for item in value)), "")
    return "" if kind in _SAFE else f"{kind.__name__} is no type of a value"


ATTRIBUTE_RULES = (
    Rule(
        "declared-attribute",
        "Ops and tensors have the attributes declared for them, all that are required, and own ones with a dot.",
        _declared_attributes,
    ),
    Rule("attribute-type", "A declared attribute has a value of its type; numbers are not negative.", _attribute_types),
    Rule("attribute-word", "A declared attribute with a choice of words has one of them.", _words),
    Rule("writable-attribute", "Every attribute can be written as text that reads back as the same value.", _writable),
)
