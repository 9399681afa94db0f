"""The parts of a rules file: which line stands where. Mistakes of syntax are told line by line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from g10c.compiler.rules.lines import Line, logical_lines, without_comments
from g10c.compiler.rules.syntax import SECTION_WORDS, parse_line
from g10c.compiler.rules.tree import Action, Atom, Expression, FileText, Heading, Let, OpSet, PatternLine, ProgramLine, RuleText
from g10c.ir.errors import Diagnostic, near_names
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from g10c.compiler.rules.tree import Statement

SECTIONS = {"match": "pattern", "where": "condition", "rewrite": "action"}
"""The sections of a rule in order, and the kind of their lines."""
_FIRST_WORD = re.compile(rf"\s*({'|'.join(SECTION_WORDS)})(?![\w.\-])")
_NAMES = re.compile(r"[%$@]\w+(?:\.\w+)*")
_WORD = re.compile(r"\s*([%@$]?[\w.]+|\S)")


def read_sections(source: Source, diagnostics: list[Diagnostic]) -> FileText:
    """The parts of a file; mistakes are added to ``diagnostics``."""
    return _Reader(source, diagnostics).read()


class _Reader:
    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        self._source, self._diagnostics = source, diagnostics
        self._text = without_comments(source.text)
        self._found = FileText()
        self._rule: RuleText | None = None
        self._section = ""
        self._lost = False
        """Whether lines belong to a rule or section whose own line is wrong."""
        self._hush = False

    def read(self) -> FileText:
        """Read all lines."""
        for line in logical_lines(self._text):
            self._hush = line.doubtful and self._hush
            match = _FIRST_WORD.match(self._text, line.start, line.end)
            if match and match[1] in SECTIONS:
                self._begin_section(match[1], Span(self._source, match.start(1), match.end(1)))
                rest = line._replace(start=match.end())
                if self._text[rest.start : rest.end].strip():
                    self._line(rest)
            elif match:
                self._top_level(match[1], line)
            else:
                self._line(line)
        return self._found

    def _error(self, message: str, span: Span, hint: str = "") -> None:
        self._diagnostics.append(Diagnostic(message, span, hint))

    def _parse(self, kind: str, line: Line) -> Statement | None:
        """The statement of a line; ``None`` where it is none, which has been told."""
        if line.unclosed is not None:
            bracket = self._text[line.unclosed]
            closing = {"(": ")", "[": "]", "{": "}"}[bracket]
            self._error(f"{bracket!r} is not closed", Span(self._source, line.unclosed, line.unclosed + 1), f"close it with {closing!r}")
            self._hush = True
            return None
        found = parse_line(kind, self._source, self._text[line.start : line.end], line.start)
        if not isinstance(found, Diagnostic):
            self._hush = False
            return found
        if not self._hush:
            self._diagnostics.append(found)
        return None

    def _top_level(self, word: str, line: Line) -> None:
        found = self._parse(word, line)
        self._section, self._lost = "", found is None
        self._rule = None
        if isinstance(found, Let):
            self._found.lets.append(found)
        elif isinstance(found, OpSet):
            self._found.op_sets.append(found)
        elif isinstance(found, ProgramLine):
            self._found.programs.append(found)
        elif isinstance(found, Heading):
            self._rule = RuleText(found)
            self._found.rules.append(self._rule)
        elif word == "rule":
            self._nameless(line)
        elif word in ("let", "ops"):
            names = re.findall(r"\s*(?:let|ops)\s+(\w+)", self._text[line.start : line.end])
            self._found.excused.update(dict.fromkeys(names, Span(self._source, line.start, line.end)))

    def _nameless(self, line: Line) -> None:
        """A rule whose heading is wrong: its lines are read all the same."""
        span = Span(self._source, line.start, line.end)
        self._rule = RuleText(Heading(Atom("NAME", "", span), False, span))
        self._found.rules.append(self._rule)
        self._lost = False

    def _begin_section(self, word: str, span: Span) -> None:
        rule = self._rule
        self._section = word
        if rule is None:
            if not self._lost:
                self._error(f"{word!r} belongs to a rule, and none has begun", span, "begin one: rule NAME")
            self._lost = True
            return
        self._lost = False
        if word in rule.sections:
            hint = "each line of `where` is a condition of its own" if word == "where" else "its lines stand one below the other"
            self._error(f"the rule has a section {word!r} already, in line {rule.sections[word].line}", span, hint)
            return
        order = list(SECTIONS)
        if any(order.index(earlier) > order.index(word) for earlier in rule.sections):
            self._error(f"{word!r} stands too late", span, "the sections of a rule are match, where (if there are conditions) and rewrite")
        rule.sections[word] = span

    def _line(self, line: Line) -> None:
        rule, section = self._rule, self._section
        if rule is None or not section:
            self._stray(line)
            return
        found = self._parse(SECTIONS[section], line)
        if found is None:
            rule.broken.add(section)
            rule.excused.update(_NAMES.findall(self._text, line.start, line.end))
        elif section == "match":
            rule.match.append(cast("PatternLine", found))
        elif section == "where":
            rule.where.append(cast("Expression", found))
        else:
            rule.rewrite.append(cast("Action", found))

    def _stray(self, line: Line) -> None:
        """A line that belongs to no section."""
        if self._rule is not None:
            self._rule.excused.update(_NAMES.findall(self._text, line.start, line.end))
            self._rule.broken.update(SECTIONS)
        if self._lost or self._hush:
            return
        self._lost = True
        match = _WORD.match(self._text, line.start, line.end)
        found, start, end = (match[1], match.start(1), match.end(1)) if match else ("", line.start, line.end)
        near = near_names(found, SECTION_WORDS, 1)
        if self._rule is not None:
            expected, hint = "'match' below the rule's name", "a rule is written: match ..., where ..., rewrite ..."
        else:
            expected, hint = "a rule, let, ops or program", "a file begins with a rule: rule NAME"
        self._error(f"expected {expected}, found {found!r}", Span(self._source, start, end), f"did you mean {near[0]!r}?" if near else hint)
