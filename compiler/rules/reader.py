"""Text to rules: the API of the language, which ``rules.lark`` and the package's docstring describe."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.rule import Rule, RuleSet
from g10c.compiler.rules.attributes import setter
from g10c.compiler.rules.conditions import compile_conditions
from g10c.compiler.rules.expressions import Expressions, Helpers
from g10c.compiler.rules.failures import guarded
from g10c.compiler.rules.flow_checks import check_rewrite
from g10c.compiler.rules.kinds import PLAIN, VALUES, Kind
from g10c.compiler.rules.op_sets import OpSets
from g10c.compiler.rules.patterns import PatternReader
from g10c.compiler.rules.rewrites import RewriteReader
from g10c.compiler.rules.scope import Scope
from g10c.compiler.rules.sections import SECTIONS, read_sections
from g10c.compiler.rules.settings import read_settings
from g10c.compiler.rules.tree import FileText, RuleText
from g10c.compiler.rules.typed import Typed, broken
from g10c.ir.attribute_rules import PROGRAM_ATTRS
from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.input_text import read_text
from g10c.ir.rule import position
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from g10c.ir.values import Value

RESERVED = ("true", "false", "none", "and", "or", "not", "in")
"""Words that cannot name a constant."""


def load_rules(path: str | Path, functions: Helpers | None = None, settings: Iterable[str] = ()) -> RuleSet:
    """The rules of a ``.rules`` file; see :func:`parse_rules`. Raises :class:`InputError` also where it cannot be read."""
    return parse_rules(Source(str(path), read_text(path, "a rules file (.rules)")), functions, settings)


def parse_rules(source: Source, functions: Helpers | None = None, settings: Iterable[str] = ()) -> RuleSet:
    """The rules of a text.

    ``functions`` are the functions of users that rules may call, by name; ``settings`` are texts ``name=value`` that change constants of
    the file. Raises :class:`InputError` with every mistake of the text and the settings.
    """
    diagnostics: list[Diagnostic] = []
    text = read_sections(source, diagnostics)
    rules = _FileReader(text, functions or {}, diagnostics).rules(settings)
    if not text.rules and not diagnostics:
        diagnostics.append(Diagnostic(f"{source.name}: there is no rule in it", None, "a rule begins with: rule NAME"))
    if diagnostics:
        raise InputError(sorted(diagnostics, key=position))
    return RuleSet(rules)


class _FileReader:
    def __init__(self, text: FileText, functions: Helpers, diagnostics: list[Diagnostic]) -> None:
        self._text, self._functions, self._diagnostics = text, functions, diagnostics
        self._lets: dict[str, Typed] = {}
        self._op_sets = OpSets((), (), diagnostics)
        self._program: dict[str, Value] = {}

    def _tell(self, message: str, span: Span, hint: str) -> None:
        self._diagnostics.append(Diagnostic(message, span, hint))

    def rules(self, settings: Iterable[str]) -> tuple[Rule, ...]:
        """All rules; those with mistakes are left out."""
        self._read_lets(settings)
        self._op_sets = OpSets(self._text.op_sets, self._text.excused, self._diagnostics)
        self._read_program()
        self._check_names()
        found = [self._rule(text) for text in self._text.rules]
        return tuple(rule for rule in found if rule is not None)

    def _constants(self) -> Expressions:
        return Expressions(Scope(constant=True), self._lets, {}, self._diagnostics)

    def _read_lets(self, settings: Iterable[str]) -> None:
        given = read_settings(settings, [line.name.text for line in self._text.lets], self._text.excused.keys(), self._diagnostics)
        self._lets = {name: broken(span) for name, span in self._text.excused.items()}
        lines: dict[str, int] = {}
        for line in self._text.lets:
            name = line.name.text
            if name in RESERVED:
                self._tell(f"a constant cannot be called {name}", line.name.span, "it is a word of the language")
            if name in lines:
                self._tell(f"the constant {name!r} is defined twice; the first is in line {lines[name]}", line.name.span, "rename one")
                continue
            lines[name] = line.span.line
            value, changed = self._constants().value(line.value, VALUES, "a value"), given.get(name)
            if changed is not None and Kind.BROKEN not in (changed.kind, value.kind) and changed.kind is not value.kind:
                self._tell(f"{name} is {value.kind}, and is set to {changed.kind}", changed.span, f"the file has {line.value.span.text}")
                changed = None
            self._lets[name] = changed if changed is not None else value

    def _read_program(self) -> None:
        declared = {decl.name: decl for decl in PROGRAM_ATTRS}
        expressions = self._constants()
        for line in self._text.programs[1:]:
            first = self._text.programs[0].span.line
            self._tell(f"`program` stands once; the first is in line {first}", line.span, "put the attributes together")
        for attribute in (attribute for line in self._text.programs for attribute in line.attributes):
            key, typed = attribute.key.text, expressions.value(attribute.value, PLAIN, "a value")
            if key in self._program:
                self._tell(f"attribute {key!r} is given twice", attribute.key.span, "give it once")
            if typed.kind is Kind.BROKEN:
                continue
            before = len(self._diagnostics)
            set_ = setter(expressions, typed, declared.get(key), f"{key!r} of the program")
            value = set_(None) if len(self._diagnostics) == before else None
            if value is not None:
                self._program[key] = value

    def _check_names(self) -> None:
        first: dict[str, RuleText] = {}
        for rule in self._text.rules:
            name = rule.heading.name
            if name.text and first.setdefault(name.text, rule) is not rule:
                line = first[name.text].heading.span.line
                self._tell(f"there are two rules {name.text!r}; the first is in line {line}", name.span, "give it another name")

    def _rule(self, text: RuleText) -> Rule | None:
        before, name = len(self._diagnostics), text.heading.name
        scope = Scope(excused=text.excused)
        expressions = Expressions(scope, self._lets, self._functions, self._diagnostics)
        self._check_sections(text)
        pattern = PatternReader(expressions, self._op_sets).read(text.match)
        conditions = tuple(compile_conditions(text, expressions))
        built = RewriteReader(expressions, text, self._program, self._op_sets).read()
        if not text.broken and len(self._diagnostics) == before:
            self._diagnostics += check_rewrite(text, scope)
        if text.broken or pattern is None or len(self._diagnostics) > before:
            return None
        return Rule(name.text, pattern, guarded(name.text, built), name.span, conditions, text.heading.changes_values)

    def _check_sections(self, text: RuleText) -> None:
        name = text.heading.name
        lines = {"match": text.match, "where": text.where, "rewrite": text.rewrite}
        hints = {
            "match": "write the ops to look for: match %y = relu.forward(%x)",
            "where": "write a condition in each line, or leave `where` out",
            "rewrite": "write what the match becomes, or `nothing` to take it out",
        }
        for section in SECTIONS:
            if section in text.broken or lines[section]:
                continue
            if section in text.sections:
                self._tell(f"the section {section!r} is empty", text.sections[section], hints[section])
            elif section != "where" and name.text:
                self._tell(f"rule {name.text!r} has no section {section!r}", name.span, hints[section])
