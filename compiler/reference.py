"""Reference tables for the documentation, made from the declarations: ops, attributes, roles, data types and the verifier's rules.

A document holds a table between two marks, which ``make docs`` fills::

    <!-- generated: ops -->
    <!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from g10c.ir.attribute_rules import FORMS, PROGRAM_ATTRS, TENSOR_ATTRS
from g10c.ir.errors import InputError, near_hint
from g10c.ir.flow_rules import FLOW_RULES
from g10c.ir.form_rules import FORM_RULES
from g10c.ir.ops import DECLARATIONS, PHASES, STREAMS, TIERS, AttrDecl, OpDecl, OpKind
from g10c.ir.output import write_text_atomically
from g10c.ir.program import DTYPE_BYTES, PERSISTENT_ROLES, ROLE_DOCS
from g10c.ir.rule import ALL_LEVELS, Rule

_SECTION = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; bars inside cells are escaped."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _of_kind(kind: OpKind) -> list[OpDecl]:
    return [decl for decl in DECLARATIONS if decl.kind is kind]


def _shared(kinds: Iterable[OpKind]) -> list[AttrDecl]:
    """The attributes that every op of these kinds has, in order of declaration."""
    decls = [decl for kind in kinds for decl in _of_kind(kind)]
    return [attr for attr in decls[0].attrs if all(attr in decl.attrs for decl in decls)]


def _count(limits: tuple[int, int | None]) -> str:
    least, most = limits
    if most is None:
        return f"{least} or more" if least else "any"
    return str(most) if least == most else f"{least} to {most}"


def _kernels() -> str:
    rows = [
        (f"`{decl.name}`", _code(decl.variants) or "none", _count(decl.reads), _count(decl.writes), _doc(decl))
        for decl in _of_kind(OpKind.KERNEL)
    ]
    return markdown_table(("op", "variants", "operands", "results", "meaning"), rows)


def _others(kind: OpKind) -> str:
    shared = _shared([kind])
    rows = []
    for decl in _of_kind(kind):
        own = "; ".join(f"`{attr.name}`: {_takes(attr)}{', required' * attr.required}" for attr in decl.attrs if attr not in shared)
        rows.append((f"`{decl.name}`", _count(decl.reads), _count(decl.writes), _doc(decl), own))
    return markdown_table(("op", "operands", "results", "meaning", "own attributes"), rows)


def _doc(decl: OpDecl) -> str:
    """The meaning of an op, and whether its operands may stand in any order: of variants, those of ``forward`` may."""
    if not decl.commutative:
        return decl.doc
    return f"{decl.doc}; the operands{' of `forward`' * bool(decl.variants)} stand in any order"


def _takes(attr: AttrDecl) -> str:
    return f"one of {_code(attr.choices)}" if attr.choices else FORMS[attr.type]


def _attributes(attrs: Iterable[AttrDecl]) -> str:
    return markdown_table(("attribute", "takes", "meaning"), [(f"`{attr.name}`", _takes(attr), attr.doc) for attr in attrs])


def _shared_attributes() -> str:
    everywhere = _shared(OpKind)
    parts = ["Of all ops:", _attributes(everywhere)]
    for kind in OpKind:
        own = [attr for attr in _shared([kind]) if attr not in everywhere]
        parts += [f"Of all {kind}s:", _attributes(own)]
    return "\n\n".join(parts)


def _words() -> str:
    rows = [("phase", _code(PHASES)), ("stream", _code(STREAMS)), ("tier", _code(TIERS))]
    return markdown_table(("set", "words"), rows)


def _roles() -> str:
    rows = [(f"`{role}`", "yes" if role in PERSISTENT_ROLES else "no", doc) for role, doc in ROLE_DOCS.items()]
    return markdown_table(("role", "persistent", "meaning"), rows)


def _data_types() -> str:
    sizes: dict[int, list[str]] = {}
    for name, size in DTYPE_BYTES.items():
        sizes.setdefault(size, []).append(name)
    return markdown_table(("bytes of an element", "data types"), [(str(size), _code(names)) for size, names in sizes.items()])


def _rules(rules: Iterable[Rule]) -> str:
    rows = []
    for rule in rules:
        levels = "all" if rule.levels == ALL_LEVELS else ", ".join(str(level) for level in sorted(rule.levels))
        rows.append((f"`{rule.name}`", levels, rule.doc))
    return markdown_table(("rule", "levels", "what holds"), rows)


def _rule_functions() -> str:
    from g10c.compiler.rules.builtins import markdown_table as functions

    return functions()


SECTIONS: dict[str, Callable[[], str]] = {
    "kernels": _kernels,
    "directives": lambda: _others(OpKind.DIRECTIVE),
    "collectives": lambda: _others(OpKind.COLLECTIVE),
    "op-attributes": _shared_attributes,
    "words": _words,
    "roles": _roles,
    "data-types": _data_types,
    "program-attributes": lambda: _attributes(PROGRAM_ATTRS),
    "tensor-attributes": lambda: _attributes(TENSOR_ATTRS),
    "form-rules": lambda: _rules(FORM_RULES),
    "flow-rules": lambda: _rules(FLOW_RULES),
    "rule-functions": _rule_functions,
}
"""The generated sections by name; each returns Markdown."""


def renewed(text: str, name: str = "the document") -> str:
    """A document with its generated sections made anew. Raises :class:`InputError` for a section that there is not."""

    def fill(match: re.Match[str]) -> str:
        if match[2] not in SECTIONS:
            raise InputError.at(f"{name}: no section {match[2]!r} can be generated", None, near_hint(match[2], SECTIONS, "sections"))
        return f"{match[1]}\n{SECTIONS[match[2]]()}\n\n{match[3]}"

    return _SECTION.sub(fill, text)


def renew_documents(folder: str | Path) -> None:
    """Make the generated sections of every document of a folder anew."""
    for path in sorted(Path(folder).glob("*.md")):
        text = path.read_text(encoding="utf-8")
        after = renewed(text, str(path))
        if after != text:
            write_text_atomically(path, after)
