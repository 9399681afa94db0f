"""Text of a printed module to a tree of modules; the grammar is in ``module.lark``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

ArgumentValue: TypeAlias = "bool | int | float | str | tuple[ArgumentValue, ...] | None"
"""A value that a constructor was given; words and texts are both ``str``."""

Node: TypeAlias = Any
"""A tree or a token of lark, whose children are of either kind."""

MAX_DEPTH = 64
MAX_REPEATS = 10_000
MAX_DIGITS = 18
WORDS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_REPEATED = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\Z")
_LOOKS_PRINTED = re.compile(r"\s*(\([\w.\-]+\):\s*)?[^\W\d][\w.]*\(")


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that a constructor was given, with its place, and that of its keyword."""

    value: ArgumentValue
    span: Span
    key: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A module: its class, the place of the class's name, arguments, and children by name in the order printed."""

    kind: str
    span: Span
    positional: tuple[Argument, ...] = ()
    keywords: Mapping[str, Argument] = field(default_factory=dict)
    children: Mapping[str, Module] = field(default_factory=dict)


def is_printed_module(text: str) -> bool:
    """Whether a text begins as a printed module does: ``Name(``."""
    return _LOOKS_PRINTED.match(text) is not None


def parse_module(source: Source) -> Module:
    """The tree of a printed module. Raises :class:`~g10c.ir.errors.InputError` at the first place that does not fit the grammar."""
    from lark.exceptions import UnexpectedInput

    try:
        tree = _grammar().parse(source.text)
    except UnexpectedInput as error:
        raise InputError(_explain(source, error)) from None
    reader = _Reader(source)
    module = reader.module(tree.children[0], 1)
    if reader.diagnostics:
        raise InputError(reader.diagnostics)
    return module


@cache
def _grammar() -> Lark:
    """Built on first use: importing lark and building take about 50 ms."""
    from lark import Lark

    text = Path(__file__).with_name("module.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


class _Reader:
    """Makes modules of lark's tree, and notes what the grammar cannot say."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    def module(self, tree: Node, depth: int) -> Module:
        name, arguments, children = tree.children
        span = self._span(name)
        if depth > MAX_DEPTH:
            raise InputError.at(f"modules are nested more than {MAX_DEPTH} deep", span)
        positional: list[Argument] = []
        keywords: dict[str, Argument] = {}
        for item in arguments.children if arguments else ():
            self._argument(item, positional, keywords)
        found: dict[str, Module] = {}
        for child in children.children:
            self._child(child, depth, found)
        return Module(str(name), span, tuple(positional), keywords, found)

    def _argument(self, item: Node, positional: list[Argument], keywords: dict[str, Argument]) -> None:
        if item is None:
            return  # a comma at the end, or none
        if not _is_token(item) and item.data == "named":
            key, value = item.children
            if str(key) in keywords:
                self.diagnostics.append(Diagnostic(f"{key} is given twice", self._span(key)))
            keywords[str(key)] = Argument(_value(value), self._span(value), self._span(key))
        else:
            positional.append(Argument(_value(item), self._span(item)))

    def _child(self, tree: Node, depth: int, found: dict[str, Module]) -> None:
        header, repeat, body = tree.children
        span = self._span(header)
        name = str(header).rstrip(": \t")[1:-1].strip()
        module = self.module(body, depth + 1)
        for key in self._names(name, str(repeat).split()[0] if repeat else "", span):
            if key in found:
                self.diagnostics.append(Diagnostic(f"({key}) is there twice", span, f"the first is in line {found[key].span.line}"))
            found[key] = module

    def _names(self, name: str, count: str, span: Span) -> Iterator[str]:
        """The names of a child: several for ``(0-2): 3 x``."""
        match = _REPEATED.match(name)
        if not match and not count:
            yield name
            return
        first, last = (int(match[1]), int(match[2])) if match else (0, -1)
        if not match or not count or len(count) > MAX_DIGITS or last - first + 1 != int(count):
            hint = "expected as in '(0-2): 3 x Block(...)'"
            self.diagnostics.append(Diagnostic(f"({name}) names {max(0, last - first + 1)} children, not {count or 1}", span, hint))
        elif last - first >= MAX_REPEATS:
            self.diagnostics.append(Diagnostic(f"more than {MAX_REPEATS} equal children", span))
        else:
            yield from map(str, range(first, last + 1))

    def _span(self, node: Node) -> Span:
        place = node if _is_token(node) else node.meta
        return Span(self.source, place.start_pos or 0, place.end_pos or 0)


def _is_token(node: Node) -> bool:
    return isinstance(node, str)


def _value(node: Node) -> ArgumentValue:
    if not _is_token(node):
        return tuple([_value(item) for item in node.children if item is not None])
    text = str(node)
    match node.type:
        case "INTEGER" if len(text) <= MAX_DIGITS:
            return int(text)
        case "NUMBER":
            return float(text)
        case "STRING":
            return text[1:-1]
    return WORDS.get(text, text)


_DESCRIPTIONS = {
    "CHILD": "a child such as '(conv1): Conv2d(...)'",
    "CLASS": "the class of a module, such as Conv2d",
    "COLON": "':' and the class of a module",
    "EQUAL": "'='",
    "INTEGER": "a value",
    "LPAR": "'(' and the arguments",
    "COMMA": "','",
    "RPAR": "')'",
    "RSQB": "']'",
    "$END": "the end of the file",
}
"""What is expected, by terminal, in the order in which they are named."""

_NAMED = re.compile(r"\n[ \t]*\([\w.\-]+\)[ \t]*\Z")
_FOUND = re.compile(r"[\w.]+|\S")


def _is_complete(text: str) -> bool:
    from lark.exceptions import UnexpectedInput

    try:
        _grammar().parse(text)
    except UnexpectedInput:
        return False
    return True


def _explain(source: Source, error: UnexpectedInput) -> Diagnostic:
    terminals = set(getattr(error, "expected", None) or ()) | set(getattr(error, "allowed", None) or ())
    token = getattr(error, "token", None)
    at_end = token is not None and token.type == "$END"
    position = len(source.text.rstrip()) if at_end or error.pos_in_stream is None else error.pos_in_stream
    if _is_complete(source.text[:position]):
        terminals = {"$END"}  # behind the last ")" the parser would also take what may follow another one
    elif _NAMED.search(source.text, 0, position):
        terminals = {"COLON"}  # the name of a child, which the parser takes for a value in parentheses
    terminals -= {"LPAR"} if "INTEGER" in terminals else {"RSQB"} if "RPAR" in terminals else set()
    named = [text for terminal, text in _DESCRIPTIONS.items() if terminal in terminals]
    expected = f"expected {' or '.join(named)}" if named else "expected a printed module"
    match = None if at_end else _FOUND.match(source.text, position)
    if match is None:
        last = Span(source, max(0, len(source.text.rstrip()) - 1), max(1, len(source.text.rstrip())))
        return Diagnostic(f"{expected}, found the end of the file", last, "is the file truncated?")
    place = Span(source, match.start(), match.end())
    return Diagnostic(f"{expected}, found {match[0]!r}", place, "a module is written as print() shows it")
