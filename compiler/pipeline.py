"""Pipeline text: ``vitality,migrate{solver=greedy}`` to passes, and back.

pipeline : [pass ("," pass)*]
pass     : NAME ["{" [option ("," option)*] "}"]
option   : NAME "=" value
value    : WORD | STRING | "[" [value ("," value)*] "]"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from g10c.compiler.options import OptionError, from_text, options_of
from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.source import Source, Span
from g10c.ir.values import unescape

if TYPE_CHECKING:
    from g10c.compiler.pass_base import Pass
    from g10c.compiler.registry import Registry

T = TypeVar("T")

_TOKEN = re.compile(r'\s*(?:(?P<word>[A-Za-z0-9_.+\-/:~]+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\],=]))')
_QUOTE = "write the whole pipeline in quotes: --pass 'migrate{solver=greedy,target=ssd}'"
_VALUE = 'a value of other characters than letters, digits and _.+-/:~ stands in double quotes: rules="my rules.rules"'


@dataclass(frozen=True, slots=True)
class OptionText:
    """One ``name=value`` with its places. A list's value is a list of texts."""

    name: str
    value: str | list[str]
    name_span: Span
    value_span: Span


@dataclass(frozen=True, slots=True)
class PassCall:
    """One pass of a pipeline, as written."""

    name: str
    options: tuple[OptionText, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


class _Reader:
    """Tokens of one pipeline text, with one token of look-ahead."""

    def __init__(self, text: str, name: str) -> None:
        self.source = Source(name, text)
        self.tokens = list(self._scan(text))
        self.index = 0

    def _scan(self, text: str) -> Iterable[_Token]:
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if not match:
                position += len(text[position:]) - len(text[position:].lstrip())
                raise InputError.at(f"unexpected {text[position]!r}", Span(self.source, position, position + 1), _VALUE)
            kind = str(match.lastgroup)
            yield _Token(kind, match[kind], Span(self.source, match.start(kind), match.end(kind)))
            position = match.end()
        yield _Token("end", "the end", Span(self.source, len(text), len(text)))

    def peek(self) -> _Token:
        return self.tokens[self.index]

    def take(self) -> _Token:
        token = self.tokens[self.index]
        self.index += token.kind != "end"
        return token

    def skip(self, text: str) -> bool:
        found = self.peek().kind == "mark" and self.peek().text == text
        self.index += found
        return found

    def fail(self, expected: str, hint: str = _QUOTE) -> InputError:
        token = self.peek()
        found = token.text if token.kind == "end" else repr(token.text)
        return InputError(Diagnostic(f"expected {expected}, found {found}", token.span, hint))

    def word(self, what: str) -> _Token:
        if self.peek().kind != "word":
            raise self.fail(what)
        return self.take()


def parse_pipeline(text: str, name: str = "--pass") -> list[PassCall]:
    """The passes that a pipeline text names. Raises :class:`InputError` with the place; ``name`` stands for the text there."""
    reader = _Reader(text, name)
    if reader.peek().kind == "end":
        return []
    calls = [_pass_call(reader)]
    while reader.skip(","):
        calls.append(_pass_call(reader))
    if reader.peek().kind != "end":
        raise reader.fail("',' or the end of the pipeline")
    return calls


def _pass_call(reader: _Reader) -> PassCall:
    name = reader.word("the name of a pass")
    options: list[OptionText] = []
    if reader.skip("{") and not reader.skip("}"):
        options.append(_option(reader))
        while reader.skip(","):
            options.append(_option(reader))
        if not reader.skip("}"):
            raise reader.fail("',' or '}'", _VALUE)
    return PassCall(name.text, tuple(options), name.span)


def _option(reader: _Reader) -> OptionText:
    name = reader.word("the name of an option")
    if not reader.skip("="):
        raise reader.fail(f"'=' after option {name.text!r}", "options are written name=value")
    start = reader.peek().span
    if not reader.skip("["):
        value: str | list[str] = _scalar(reader)
    else:
        value = []
        while not reader.skip("]"):
            if value and not reader.skip(","):
                raise reader.fail("',' or ']'")
            value.append(_scalar(reader))
    end = reader.tokens[reader.index - 1].span.end
    return OptionText(name.text, value, name.span, Span(reader.source, start.start, end))


def _scalar(reader: _Reader) -> str:
    token = reader.peek()
    if token.kind not in ("word", "string"):
        raise reader.fail("a value")
    reader.take()
    if token.kind == "word":
        return token.text
    try:
        return unescape(token.text[1:-1])
    except ValueError as error:
        message, _, hint = str(error).partition("\n")
        raise InputError.at(message, token.span, hint) from None


def build_passes(calls: Sequence[PassCall], registry: Registry[type[T]]) -> list[T]:
    """Passes (or whatever the registry holds) with their options set; every mistake of the text is reported, each with its place."""
    built: list[T] = []
    wrong: list[Diagnostic] = []
    for call in calls:
        try:
            built.append(_build(call, registry))
        except InputError as error:
            wrong.extend(error.diagnostics)
    if wrong:
        raise InputError(wrong)
    return built


def _build(call: PassCall, registry: Registry[type[T]]) -> T:
    kind = registry.find(call.name, call.span)
    what = registry.what
    known = {option.name: option for option in options_of(kind)}
    values: dict[str, object] = {}
    wrong = []
    for item in call.options:
        option = known.get(item.name)
        if option is None:
            hint = near_hint(item.name, known, f"options of {call.name!r}") or f"{what} {call.name!r} has no options"
            wrong.append(Diagnostic(f"{what} {call.name!r} has no option {item.name!r}", item.name_span, hint))
        elif item.name in values:
            wrong.append(Diagnostic(f"option {item.name!r} is given twice", item.name_span, "give it once"))
        else:
            try:
                values[item.name] = from_text(option.type, item.value)
            except OptionError as error:
                wrong.append(Diagnostic(f"option {item.name!r} of {what} {call.name!r}: {error}", item.value_span, error.hint))
                values[item.name] = None
    for option in known.values():
        if option.required and option.name not in values:
            hint = f"write {call.name}{{{option.name}=...}}: {option.help}"
            wrong.append(Diagnostic(f"{what} {call.name!r} needs its option {option.name!r}", call.span, hint))
    if wrong:
        raise InputError(wrong)
    try:
        return kind(**values)
    except ValueError as error:
        raise InputError.at(f"{what} {call.name!r}: {error}", call.span, getattr(error, "hint", "")) from None
    except Exception as error:
        raise InputError.at(f"{what} {call.name!r} cannot be made: {type(error).__name__}: {error}", call.span) from error


def pipeline_text(passes: Iterable[Pass]) -> str:
    """Canonical text of a pipeline; it reads back as the same passes."""
    return ",".join(item.spec for item in passes)
