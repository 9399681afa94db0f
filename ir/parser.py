"""Text to programs. The grammar is in ``grammar.lark``; what its coarse tokens hold is taken apart by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.input_text import read_text
from g10c.ir.names import NAME_PATTERN
from g10c.ir.parse_parts import PartReader
from g10c.ir.parse_values import parse_attributes
from g10c.ir.printer import VERSION
from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.rule import position
from g10c.ir.source import Source, Span
from g10c.ir.syntax import Tokens, end_of, start_of, statements
from g10c.ir.verifier import verify_form

if TYPE_CHECKING:
    from lark import Token

    from g10c.ir.values import Value


def load_program(path: str | Path) -> Program:
    """The program of an ``.ir`` file. Raises :class:`~g10c.ir.errors.InputError` with every mistake of the file."""
    return parse_program(read_text(path, "a program (.ir)"), str(path))


def parse_program(text: str, name: str = "<string>") -> Program:
    """The program of a text; ``name`` stands for the text in messages.

    Checks syntax and the rules on form (ops, operands, attributes, names); those on the flow of data are left to
    :func:`g10c.ir.verifier.check_program`. Raises :class:`~g10c.ir.errors.InputError` with every mistake of the text.
    """
    source = Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    _check_format(source)
    reader = _Reader(source)
    for kind, tokens, base in statements(source, reader.diagnostics):
        reader.handlers[kind](tokens, base)
    return reader.finish()


_FORMAT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:g10c\.ir\b[ \t]*([^\s#]*))?")


def _check_format(source: Source) -> None:
    """Refuse at once what is no text of this version: every other message would mislead."""
    text = source.text
    nul = text.find("\0")
    if nul >= 0:
        raise InputError.at("this is not text: it holds a NUL byte", Span(source, nul, nul + 1))
    if not text.strip():
        raise InputError.at(f"{source.name}: the text is empty", None, f"its first line is `g10c.ir {VERSION}`")
    match = _FORMAT.match(text)
    if match is None or match[1] == VERSION:
        return
    if match[1] is None:
        start = match.end()
        hint = (
            "this looks like JSON; a plan is read as a plan" if text.startswith(("{", "["), start) else f"write `g10c.ir {VERSION}` there"
        )
        raise InputError.at(f"expected `g10c.ir {VERSION}` as the first line", Span(source, start, start + 1), hint)
    found = f"version {match[1]!r}" if match[1] else "no version"
    place = Span(source, match.end() - len(match[1]), match.end())
    raise InputError.at(f"this g10c reads version {VERSION} of the text, found {found}", place)


_DECLARES = re.compile(rf"[ \t]*(?:program\b|tensor[ \t]*%({NAME_PATTERN}))")


class _Reader:
    """The parts of a program as they are read, and the mistakes so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.handlers = {"format": self._format, "program": self._program, "tensor": self._tensor, "op": self._op, "broken": self._broken}
        self._parts = PartReader(source, self.diagnostics)
        self._format_start = -1
        self._header: tuple[str, dict[str, Value], Span] | None = None
        self._header_broken = False
        self._tensors: dict[str, Tensor] = {}
        self._ops: list[Op] = []
        self._excused: set[str] = set()
        self._partial: set[Op] = set()

    def _error(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(message, span, hint))

    def _span(self, first: Token | None, last: Token | None, base: int) -> Span:
        return Span(self.source, base + start_of(first), base + end_of(last))

    def _attributes(self, block: Token | None, base: int) -> dict[str, Value]:
        return parse_attributes(self.source, base + start_of(block), base + end_of(block), self.diagnostics) if block else {}

    def _broken(self, _: Tokens, base: int) -> None:
        """A line that is no statement: what it may have declared is not missed later."""
        match = _DECLARES.match(self.source.text, base)
        if match and match[1]:
            self._excused.add(match[1])
        elif match:
            self._header_broken = True

    def _format(self, tokens: Tokens, base: int) -> None:
        span = self._span(tokens[0], tokens[1], base)
        if self._format_start >= 0:
            self._error("the format stands once, in the first line", span)
        else:
            self._format_start = span.start

    def _program(self, tokens: Tokens, base: int) -> None:
        keyword, name, block = tokens
        attrs, span = self._attributes(block, base), self._span(keyword, block or name, base)
        if self._header is not None:
            self._error(f"a file holds one program; the first is in line {self._header[2].line}", span)
            return
        if self._tensors or self._ops:
            self._error("the program's line stands before its tensors and ops", span)
        self._header = str(name), attrs, span

    def _tensor(self, tokens: Tokens, base: int) -> None:
        keyword, reference, kind, role, block = tokens
        attrs, span = self._attributes(block, base), self._span(keyword, block or role, base)
        name = str(reference)[1:]
        if name in self._tensors:
            first = self._tensors[name].location
            where = f"; the first is in line {first.line}" if isinstance(first, Span) else ""
            self._error(f"tensor %{name} is declared twice{where}", self._span(reference, reference, base))
            return
        shaped = self._parts.type(str(kind), base + start_of(kind))
        known = self._role(role, base)
        if shaped is None or known is None:
            self._excused.add(name)
            return
        self._tensors[name] = Tensor(name, shaped[0], shaped[1], known, attrs, span)

    def _role(self, token: Token | None, base: int) -> Role | None:
        try:
            return Role(str(token))
        except ValueError:
            hint = near_hint(str(token), [role.value for role in Role], "roles")
            self._error(f"unknown role {str(token)!r}", self._span(token, token, base), hint)
            return None

    def _op(self, tokens: Tokens, base: int) -> None:
        results, name, operands, block = tokens
        mistakes = len(self.diagnostics)
        reads = self._parts.references(str(operands)[1:-1], base + start_of(operands) + 1)
        writes = self._parts.references(results.rstrip(" \t")[:-1], base + start_of(results)) if results else ()
        op = Op(str(name), reads, writes, self._attributes(block, base), self._span(results or name, block or operands, base))
        self._ops.append(op)
        if len(self.diagnostics) > mistakes:
            self._partial.add(op)

    def finish(self) -> Program:
        """The program, or an error with all mistakes in the order of the text."""
        name, attrs, span = self._header or ("program", {}, None)
        if self._header is None and not self._header_broken:
            place = Span(self.source, self._format_start, self._format_start + 1)
            self._error("the text names no program", place, "write `program NAME` in the second line")
        program = Program(name, self._tensors, tuple(self._ops), attrs, span)
        mistakes = self.diagnostics + verify_form(program, self._excused, self._partial)
        if mistakes:
            raise InputError(sorted(mistakes, key=position))
        return program
