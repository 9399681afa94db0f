"""Lines of a rules file to nodes, by ``rules.lark``, and the messages where a line does not fit it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from g10c.compiler.rules.nodes import MAX_NESTING, NodeReader, TooDeepError
from g10c.ir.errors import Diagnostic, near_names
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

    from g10c.compiler.rules.tree import Statement

STARTS = ("let", "ops", "program", "rule", "pattern", "condition", "action")


@cache
def grammar() -> Lark:
    """The parser of ``rules.lark``, built on first use: importing lark and building take about 90 ms."""
    from lark import Lark

    text = Path(__file__).with_name("rules.lark").read_text(encoding="utf-8")
    return Lark(text, start=list(STARTS), parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


def parse_line(kind: str, source: Source, text: str, base: int) -> Statement | Diagnostic:
    """The statement that a text, which stands at ``base`` in the source, is; ``kind`` is one of :data:`STARTS`."""
    from lark.exceptions import UnexpectedInput

    try:
        tree = grammar().parse(text, start=kind)
    except UnexpectedInput as error:
        return _explain(kind, source, text, base, error)
    try:
        return NodeReader(source, base).statement(tree)
    except TooDeepError as error:
        return Diagnostic(
            f"an expression is nested more than {MAX_NESTING} deep", error.span, "split it into several conditions or constants"
        )


_EXPRESSION = "a value, such as bytes(%x), $t, 3us or (...)"
_DESCRIPTIONS: dict[str, str] = {
    "AND": "an operator",
    "PLUS": "an operator",
    "KEEP": "a line of the rewrite: %result = op(%operand) {attributes}, keep, new, change, use or nothing",
    "STRING": _EXPRESSION,
    "NUMBER": _EXPRESSION,
    "COLON": "':'",
    "EQUAL": "'='",
    "KEY": "an attribute, such as time = $t",
    "NAME": "the rule's name, such as fuse-scale",
    "LIKE": "'like %x', or a type such as f32[4, 8]",
    "VALUES": "'changes values'",
    "FOR": "'for'",
    "DTYPE": "dtype, shape or role",
    "LPAR": "'('",
    "LBRACE": "attributes in braces, such as {phase = forward}",
    "LSQB": "'['",
    "LABEL": "a label, such as @a",
    "OP": "an op, such as linear.forward or *.forward",
    "REFERENCE": "a tensor, such as %x",
    "WORD": "a word",
    "RPAR": "',' or ')'",
    "RBRACE": "',' or '}'",
    "RSQB": "',' or ']'",
}
"""What is expected, by terminal; where several are, the first one here that fits is named."""

_FOUND = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[%@$]?[\w.]+|==|!=|<=|>=|&&|\|\||\S')
_CLOSING = {"RPAR": ")", "RBRACE": "}", "RSQB": "]"}
ACTION_WORDS = ("keep", "new", "change", "use", "nothing")
SECTION_WORDS = ("let", "ops", "program", "rule", "match", "where", "rewrite")


def _explain(kind: str, source: Source, text: str, base: int, error: UnexpectedInput) -> Diagnostic:
    """The mistake of a line that does not fit the grammar."""
    position = error.pos_in_stream
    terminals = _terminals(kind, text, position, error)
    token = getattr(error, "token", None)
    if position is None or position >= len(text) or (token is not None and token.type == "$END"):
        position = len(text.rstrip())
    match = _FOUND.match(text, position)
    if not match:
        found, span = "the end of the line", Span(source, base + position, base + position + 1)
    else:
        found, span = repr(match[0]), Span(source, base + match.start(), base + match.end())
    if match and match[0].startswith('"') and (len(match[0]) == 1 or not match[0].endswith('"')):
        return Diagnostic("the string is not closed", span, 'a string ends with " in its own line')
    expected = _expected(kind, terminals)
    return Diagnostic(f"expected {expected}, found {found}", span, _hint(kind, text, position, match[0] if match else "", terminals))


def _terminals(kind: str, text: str, position: int | None, error: UnexpectedInput) -> set[str]:
    """What may stand there. Where no token begins, the parser is asked behind the text before."""
    from lark.exceptions import LarkError

    found = getattr(error, "accepts", None)
    if found is None:
        parser = grammar().parse_interactive(text[:position], start=kind)
        try:
            parser.exhaust_lexer()
            found = parser.accepts()  # type: ignore[no-untyped-call]  # lark gives it no annotations
        except LarkError:
            found = getattr(error, "allowed", ())
    return set(found or ())


def _expected(kind: str, terminals: set[str]) -> str:
    inside = [text for terminal, text in _CLOSING.items() if terminal in terminals]
    if "STRING" not in terminals and inside and "COMMA" in terminals:
        return f"',' or {inside[0]!r}"
    if "REFERENCE" in terminals and "ANY" in terminals and "OP" not in terminals and "STRING" not in terminals:
        names = ["a tensor, such as %x", *(["_"] if kind == "pattern" else []), *(["')'"] if "RPAR" in terminals else [])]
        return " or ".join(names)
    if "AND" in terminals and inside:
        return f"an operator or {inside[0]!r}"
    named = next((text for terminal, text in _DESCRIPTIONS.items() if terminal in terminals), "the end of the line")
    return named + " or the end of the line" if "$END" in terminals and named != "the end of the line" else named


_HINTS = {
    "=": "compare with ==",
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "&": "write `and`",
}
_MEANT = {
    "if": "where",
    "when": "where",
    "with": "where",
    "then": "rewrite",
    "replace": "rewrite",
    "becomes": "rewrite",
    "remove": "nothing",
}
"""Words of other languages."""


def _hint(kind: str, text: str, position: int, found: str, terminals: set[str]) -> str:
    """What to do about it, where that can be guessed."""
    first = re.match(r"\s*([A-Za-z_]+)\s", text)
    words = (*SECTION_WORDS, *ACTION_WORDS) if kind == "action" else SECTION_WORDS
    if first and kind in ("pattern", "condition", "action") and first[1] not in (*SECTION_WORDS, *ACTION_WORDS):
        near = [_MEANT[first[1]]] if first[1] in _MEANT else near_names(first[1], words, 1)
        if near:
            return f"did you mean {near[0]!r}?"
    if found == "|" and kind == "action":
        return "a rewrite names one op"
    if terminals == {"LPAR"} and re.search(r"\bin\s*\Z", text[:position]):
        return "write the values in parentheses: phase(@a) in (forward, loss)"
    if "AND" in terminals:
        if found in _HINTS:
            return _HINTS[found]
        if found in ("<", ">", "<=", ">=", "==", "!="):
            return "compare two values at a time, and join the comparisons with `and`"
    if kind in ("pattern", "action") and "REFERENCE" in terminals and re.fullmatch(r"[$@]?[^\W\d]\w*", found):
        return f"a tensor is written %{found.lstrip('$@')}"
    return ""
