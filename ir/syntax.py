"""Statements of a text, by ``grammar.lark``, and the messages where a line does not fit it.

A text without mistakes is parsed in one go. Otherwise each line is parsed alone, so that one mistake hides no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from g10c.ir.errors import Diagnostic
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput

Tokens: TypeAlias = "Sequence[Token | None]"
"""Tokens of a statement; ``None`` stands for an optional one that is not there."""


def start_of(token: Token | None) -> int:
    """Position of a token's first character."""
    return (token.start_pos or 0) if token is not None else 0


def end_of(token: Token | None) -> int:
    """Position behind a token's last character."""
    return (token.end_pos or 0) if token is not None else 0


class Statement(NamedTuple):
    """A statement's kind (``format``, ``program``, ``tensor``, ``op``, or ``broken`` for a line that is none), its tokens as the
    grammar lists them, and the position in the source that the tokens' own positions count from.
    """

    kind: str
    tokens: Tokens
    base: int


@cache
def grammar() -> Lark:
    """The parser of ``grammar.lark``, built on first use: importing lark and building take about 50 ms."""
    from lark import Lark, Transformer

    def callback(kind: str) -> staticmethod[[Tokens], tuple[str, Tokens]]:
        return staticmethod(lambda tokens: (kind, tokens))

    kinds = ("format", "program", "tensor", "op")
    statements = type("Statements", (Transformer,), {"file": staticmethod(list), **{kind: callback(kind) for kind in kinds}})
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, start=["file", "statement"], parser="lalr", lexer="contextual", transformer=statements())


def _parse(text: str, start: str) -> Any:
    """What the inline transformer makes of a text (pairs of kind and tokens), where lark declares a tree."""
    return grammar().parse(text, start=start)


def statements(source: Source, diagnostics: list[Diagnostic]) -> Iterable[Statement]:
    """The statements in order; lines that are none are added to ``diagnostics``."""
    from lark.exceptions import UnexpectedInput

    try:
        found = _parse(source.text, "file")
    except UnexpectedInput:
        return _by_line(source, diagnostics)
    return (Statement(kind, tokens, 0) for kind, tokens in found)


def _by_line(source: Source, diagnostics: list[Diagnostic]) -> Iterator[Statement]:
    from lark.exceptions import UnexpectedInput

    base = 0
    for line in source.text.split("\n"):
        if line.strip(" \t") and not line.lstrip(" \t").startswith("#"):
            try:
                kind, tokens = _parse(line, "statement")
            except UnexpectedInput as error:
                diagnostics.append(_explain(source, line, base, error))
                kind, tokens = "broken", ()
            yield Statement(kind, tokens, base)
        base += len(line) + 1


_DESCRIPTIONS = {
    "RESULTS": "a statement: tensor %name : ..., or %result = op(%operand) {attributes}",
    "VERSION": "the version of the format, 1",
    "NAME": "the program's name: letters, digits and _, with . - / : inside",
    "REFERENCE": "a tensor's name, such as %h0",
    "COLON": "':' with a blank before it, then the type",
    "TYPE": "a type, such as f32[2, 3] or f32[] for a scalar",
    "ROLE": "the tensor's role, such as activation",
    "OP": "an op, such as linear.forward",
    "OPERANDS": "operands in parentheses, such as (%a, %b)",
    "ATTRIBUTES": "attributes in braces, such as {phase = forward}",
}
"""What is expected, by terminal; where several are, the first one here that fits is named, and attributes may follow it."""

_RESULTS = re.compile(r"%[\w.\-/:]*(?:[ \t]*,[ \t]*%[\w.\-/:]*)*[ \t]*")
_FOUND = re.compile(r"[\w.%/-]+|\S")
_BRACKETS = {"{": ("ATTRIBUTES", "}"), "(": ("OPERANDS", ")"), "[": ("TYPE", "]")}


def _explain(source: Source, line: str, base: int, error: UnexpectedInput) -> Diagnostic:
    """The mistake of a line that does not fit the grammar."""
    position = error.pos_in_stream
    if position is None or position >= len(line) or _at_end(error):
        position = len(line.rstrip())
    expected = _expected(error)
    results = _RESULTS.match(line, position)
    if results and "RESULTS" in _terminals(error):
        position, expected = results.end(), "'=' and an op"
    match = _FOUND.match(line, position)
    if not match:
        return Diagnostic(f"expected {expected}, found the end of the line", Span(source, base + position, base + position + 1))
    span = Span(source, base + match.start(), base + match.end())
    terminal, closing = _BRACKETS.get(match[0], ("", ""))
    if terminal and terminal in _terminals(error):
        return _unclosed(source, line, base, match.start(), closing)
    return Diagnostic(f"expected {expected}, found {match[0]!r}", span)


def _at_end(error: UnexpectedInput) -> bool:
    token = getattr(error, "token", None)
    return token is not None and token.type == "$END"


def _terminals(error: UnexpectedInput) -> set[str]:
    return set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())


def _expected(error: UnexpectedInput) -> str:
    terminals = _terminals(error)
    named = next((text for terminal, text in _DESCRIPTIONS.items() if terminal in terminals), "the end of the line")
    return named + " or the end of the line" if terminals & {"$END", "_NEWLINE"} and named != "the end of the line" else named


_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)')


def _unclosed(source: Source, line: str, base: int, position: int, closing: str) -> Diagnostic:
    """Why what starts with a bracket at ``position`` is no block: a string without end, a character that may not be there, no end."""
    opening, at = line[position], position + 1
    while at < len(line):
        if line[at] == '"' and opening == "{":
            string = _STRING.match(line, at)
            end = string.end() if string else len(line)
            if not string or end - at < 2 or string[0][-1] != '"':
                return Diagnostic(
                    "the string is not closed", Span(source, base + at, base + len(line)), 'a string ends with " in its own line'
                )
            at = end
        elif line[at] in "{}()#" and (opening != "{" or line[at] in "{#"):
            place = Span(source, base + at, base + at + 1)
            return Diagnostic(f"{line[at]!r} stands before {opening!r} is closed", place, f"close it with {closing!r} in the same line")
        else:
            at += 1
    place = Span(source, base + position, base + position + 1)
    return Diagnostic(f"{opening!r} is not closed", place, f"close it with {closing!r} in the same line")
