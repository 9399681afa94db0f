"""The artifact's transformer networks: a list of operators in text (``ast.cc``, ``transformer_parse``).

A file is a sequence of blocks, each closed by a line of dashes. The words of a block, separated by blanks, are::

    ID TYPE COUNT            operator and result share the id; COUNT operands follow
    ID...                    ids of the operands
    DIMS SIZE...             for each operand, its number of dimensions and their sizes

The size 99 stands for the batch. An operand that no block produces is a weight or an input. Shapes are written broadcast: both operands of
an elementwise operator show the shape of its result. Four consecutive ``SoftmaxBasic`` blocks (maximum, difference, sum, quotient) are one
softmax of the operand of the first, with the id of the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.source import Source, Span
from g10c.models.g10.rules import RULES

BATCH_SIZE_MARK = 99
SOFTMAX = "SoftmaxBasic"
SOFTMAX_BLOCKS = 4
MAX_DIMENSIONS = 8
_WORD = re.compile(r"\S+")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}\Z")


@dataclass(frozen=True, slots=True)
class Operand:
    """A mention of a tensor by its id, with the shape given there."""

    id: int
    shape: tuple[int, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class NetOp:
    """An operator; ``id`` is also that of its result."""

    id: int
    type: str
    operands: tuple[Operand, ...]
    id_span: Span
    type_span: Span

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


@dataclass(frozen=True, slots=True)
class NetFile:
    """Operators in order, a softmax merged into one; every operand is produced by an operator before it or by none.

    ``shapes`` holds what the last mention of each id says, which is what the artifact goes by.
    """

    source: Source
    ops: tuple[NetOp, ...]
    shapes: dict[int, tuple[int, ...]]


def parse_net(source: Source, batch: int) -> NetFile:
    """Parse a network for a batch size. Raises :class:`~g10c.ir.errors.InputError` with every mistake of the file."""
    _check_kind(source)
    diagnostics: list[Diagnostic] = []
    blocks = [block for words in _blocks(source, diagnostics) if (block := _parse_block(words, batch, diagnostics))]
    if diagnostics:
        raise InputError(diagnostics)
    shapes = {operand.id: operand.shape for block in blocks for operand in block.operands}
    ops = tuple(_merge_softmax(blocks, diagnostics))
    _check_ids(blocks, ops, diagnostics)
    if diagnostics:
        raise InputError(diagnostics)
    return NetFile(source, ops, shapes)


def _check_kind(source: Source) -> None:
    if not source.text.strip():
        raise InputError.at(
            f"{source.name}: there is no operator in the network", None, "expected a list of operators, in blocks closed by dashes"
        )


class _Words:
    """The words of a block, read one after the other. A wrong one raises ``_MistakeError``."""

    def __init__(self, source: Source, words: list[re.Match[str]], end: Span) -> None:
        self.source = source
        self.words = words
        self.end = end
        self.at = 0

    def word(self, what: str) -> tuple[str, Span]:
        if self.at == len(self.words):
            raise _MistakeError(
                Diagnostic(f"the block ends too early: {what} is missing", self.end, "a block is closed by dashes when it is complete")
            )
        match = self.words[self.at]
        self.at += 1
        return match.group(), Span(self.source, match.start(), match.end())

    def integer(self, what: str, least: int, most: int | None = None) -> tuple[int, Span]:
        text, span = self.word(what)
        if _INTEGER.match(text):
            value = int(text)
            if value >= least and (most is None or value <= most):
                return value, span
        expected = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
        raise _MistakeError(Diagnostic(f"expected {what}, {expected}, found {text!r}", span))

    def finish(self) -> None:
        if self.at < len(self.words):
            first, last = self.words[self.at], self.words[-1]
            count = len(self.words) - self.at
            message = f"{count} word{'s' if count > 1 else ''} too many in the block"
            hint = "expected dashes after the sizes of the last operand; is a number of operands or of dimensions too small?"
            raise _MistakeError(Diagnostic(message, Span(self.source, first.start(), last.end() if count == 1 else first.end()), hint))


class _MistakeError(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def _blocks(source: Source, diagnostics: list[Diagnostic]) -> Iterator[_Words]:
    """Yield the words of each block; the last one without dashes is a mistake that is noted."""
    words: list[re.Match[str]] = []
    for match in _WORD.finditer(source.text):
        if match.group().startswith("--") and not match.group().strip("-"):
            yield _Words(source, words, Span(source, match.start(), match.end()))
            words = []
        else:
            words.append(match)
    if words:
        end = Span(source, words[-1].start(), words[-1].end())
        before = len(diagnostics)
        yield _Words(source, words, end)
        if len(diagnostics) == before:
            diagnostics.append(
                Diagnostic("the last block is not closed", end, "expected a line of dashes after it; is the file truncated?")
            )


def _parse_block(words: _Words, batch: int, diagnostics: list[Diagnostic]) -> NetOp | None:
    try:
        number, id_span = words.integer("the id of an operator", 0)
        kind, type_span = words.word(f"the type of operator {number}")
        if kind not in RULES:
            hint = near_hint(kind, RULES, "types") or f"known types: {', '.join(sorted(RULES))}"
            raise _MistakeError(Diagnostic(f"unknown operator type {kind!r}", type_span, hint))
        name = f"{kind} {number}"
        count = _operand_count(words, kind, name)
        ids = [words.integer(f"the id of operand {i + 1} of {count} of {name}", 0) for i in range(count)]
        operands = tuple(Operand(operand, _shape(words, name, operand, batch), span) for operand, span in ids)
        words.finish()
    except _MistakeError as mistake:
        diagnostics.append(mistake.diagnostic)
        return None
    return NetOp(number, kind, operands, id_span, type_span)


def _operand_count(words: _Words, kind: str, name: str) -> int:
    count, span = words.integer(f"the number of operands of {name}", 1)
    expected = RULES[kind].operands
    if count != expected and not (kind == SOFTMAX and count == 2):
        raise _MistakeError(Diagnostic(f"{name} has {count} operands", span, f"expected {expected}"))
    return count


def _shape(words: _Words, name: str, operand: int, batch: int) -> tuple[int, ...]:
    count, _ = words.integer(f"the number of dimensions of operand {operand} of {name}", 1, MAX_DIMENSIONS)
    sizes = [words.integer(f"size {i + 1} of {count} of operand {operand} of {name}", 1)[0] for i in range(count)]
    return tuple([batch if size == BATCH_SIZE_MARK else size for size in sizes])


def _merge_softmax(blocks: list[NetOp], diagnostics: list[Diagnostic]) -> Iterator[NetOp]:
    at = 0
    while at < len(blocks):
        first = blocks[at]
        if first.type != SOFTMAX:
            yield first
            at += 1
            continue
        group = blocks[at : at + SOFTMAX_BLOCKS]
        if problem := _softmax_problem(group):
            hint = f"{SOFTMAX_BLOCKS} blocks in a row are one softmax: maximum, difference, sum, quotient"
            diagnostics.append(Diagnostic(f"{first} is not a softmax: {problem}", first.type_span, hint))
        yield NetOp(group[-1].id, SOFTMAX, first.operands[:1], group[-1].id_span, first.type_span)
        at += SOFTMAX_BLOCKS


def _softmax_problem(group: list[NetOp]) -> str:
    if len(group[0].operands) != 1:
        return "its first block has two operands"
    known = {group[0].operands[0].id}
    for number, block in enumerate(group, 1):
        if block.type != SOFTMAX:
            return f"block {number} is {block}"
        if foreign := [operand.id for operand in block.operands if operand.id not in known]:
            return f"block {number} reads {foreign[0]}, which is neither its operand nor of an earlier block"
        known.add(block.id)
    return f"only {len(group)} blocks follow one another" if len(group) < SOFTMAX_BLOCKS else ""


def _check_ids(blocks: list[NetOp], ops: tuple[NetOp, ...], diagnostics: list[Diagnostic]) -> None:
    """Note ids produced twice, results read before they exist, and results inside a softmax that others read."""
    producers: dict[int, NetOp] = {}
    for block in blocks:
        if block.id in producers:
            line = producers[block.id].id_span.line
            diagnostics.append(Diagnostic(f"id {block.id} is produced twice", block.id_span, f"the first time in line {line}"))
        producers.setdefault(block.id, block)
    done: set[int] = set()
    results = {op.id for op in ops}
    for op in ops:
        for operand in op.operands:
            if operand.id in producers and operand.id not in done:
                inner = operand.id not in results
                line = producers[operand.id].id_span.line
                hint = "only the result of its last block can be read" if inner else "operators must be in order of execution"
                what = f"is inside the softmax of line {line}" if inner else f"is produced later, in line {line}"
                diagnostics.append(Diagnostic(f"{op} reads {operand.id}, which {what}", operand.span, hint))
        done.add(op.id)
