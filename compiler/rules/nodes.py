"""Trees of lark to the nodes of ``tree.py``, with places in the whole source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from g10c.compiler.rules.tree import (
    Atom,
    Attribute,
    Call,
    Expression,
    Heading,
    KeepLine,
    Let,
    NothingLine,
    Operation,
    OpLine,
    OpSet,
    PatternLine,
    ProgramLine,
    Statement,
    TensorLine,
    UseLine,
    Wanted,
)
from g10c.ir.source import Source, Span

if TYPE_CHECKING:
    from lark import Token, Tree


MAX_NESTING = 100
"""Operators inside operators: far more than a rule needs, far less than Python's own limit on recursion."""


class TooDeepError(Exception):
    """An expression is nested more than :data:`MAX_NESTING` deep."""

    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


class NodeReader:
    """Reads the trees of one line that stands at ``base``. Raises :class:`TooDeepError`."""

    def __init__(self, source: Source, base: int) -> None:
        self._source, self._base = source, base
        self._depth = 0
        self._readers: dict[str, Callable[[Tree[Token]], Any]] = {
            "let": lambda tree: Let(self._atom(tree.children[0]), self._expression(tree.children[1]), self._span(tree)),
            "ops": lambda tree: OpSet(self._atom(tree.children[0]), self._names_of(self._parts(tree), "names"), self._span(tree)),
            "program": lambda tree: ProgramLine(self._attributes(tree), self._span(tree)),
            "rule": lambda tree: Heading(self._atom(tree.children[0]), len(tree.children) > 1, self._span(tree)),
            "pattern": self._pattern,
            "condition": lambda tree: self._expression(tree.children[0]),
            "op": self._op,
            "keep": lambda tree: KeepLine(self._atom(tree.children[0]), self._attributes(tree), self._span(tree)),
            "new": self._tensor,
            "change": self._tensor,
            "use": lambda tree: UseLine(self._atom(tree.children[0]), self._atom(tree.children[1]), self._span(tree)),
            "nothing": lambda tree: NothingLine(self._span(tree)),
        }

    def statement(self, tree: Tree[Token]) -> Statement:
        """The statement that a whole line is."""
        return cast("Statement", self._readers[tree.data](tree))

    def _span(self, tree: Tree[Token]) -> Span:
        return Span(self._source, self._base + tree.meta.start_pos, self._base + tree.meta.end_pos)

    def _atom(self, token: Token | Tree[Token]) -> Atom:
        found = cast("Token", token)
        return Atom(found.type, str(found), Span(self._source, self._base + (found.start_pos or 0), self._base + (found.end_pos or 0)))

    def _atoms(self, tokens: Sequence[Token | Tree[Token]]) -> tuple[Atom, ...]:
        return tuple(map(self._atom, tokens))

    def _expression(self, node: Token | Tree[Token]) -> Expression:
        tree = cast("Tree[Token]", node)
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise TooDeepError(self._span(tree))
        found = self._expression_of(tree)
        self._depth -= 1
        return found

    def _expression_of(self, tree: Tree[Token]) -> Expression:
        children = tree.children
        match tree.data:
            case "atom":
                return self._atom(children[0])
            case "group":
                return self._expression(children[0])
            case "call":
                return Call(self._atom(children[0]), self._expressions(children[1:]), self._span(tree))
            case "binary":
                operands = self._expression(children[0]), self._expression(children[2])
                return Operation(str(children[1]), operands, self._span(tree))
            case "unary":
                return Operation(str(children[0]), (self._expression(children[1]),), self._span(tree))
            case "membership":
                operands_at = 3 if str(children[1]) == "not" else 2
                operator = "in" if operands_at == 2 else "not in"
                items = self._expressions([children[0], *children[operands_at:]])
                return Operation(operator, items, self._span(tree))
            case "range":
                return Operation("..", self._expressions(children), self._span(tree))
            case _:
                return Operation("[]", self._expressions(children), self._span(tree))

    def _expressions(self, nodes: Sequence[Token | Tree[Token]]) -> tuple[Expression, ...]:
        return tuple(map(self._expression, nodes))

    def _parts(self, tree: Tree[Token]) -> dict[str, Tree[Token]]:
        """The children that are trees, by their names."""
        return {str(child.data): child for child in tree.children if not isinstance(child, str)}

    def _attributes(self, tree: Tree[Token]) -> tuple[Attribute, ...]:
        block = self._parts(tree).get("attributes")
        pairs = [cast("Tree[Token]", child).children for child in block.children] if block else []
        return tuple(Attribute(self._atom(key), self._expression(value)) for key, value in pairs)

    def _names_of(self, parts: dict[str, Tree[Token]], part: str) -> tuple[Atom, ...]:
        return self._atoms(parts[part].children) if part in parts else ()

    def _pattern(self, tree: Tree[Token]) -> PatternLine:
        parts = self._parts(tree)
        block = parts.get("wanted_attributes")
        wanted = [cast("Tree[Token]", child).children for child in block.children] if block else []
        return PatternLine(
            next(iter(self._names_of(parts, "label")), None),
            self._names_of(parts, "results"),
            self._names_of(parts, "names"),
            self._names_of(parts, "operands"),
            tuple(Wanted(self._atom(key), self._expressions(values)) for key, *values in wanted),
            self._span(tree),
        )

    def _op(self, tree: Tree[Token]) -> OpLine:
        parts = self._parts(tree)
        return OpLine(
            next(iter(self._names_of(parts, "label")), None),
            self._names_of(parts, "results"),
            self._names_of(parts, "maker")[0],
            self._names_of(parts, "operands"),
            self._attributes(tree),
            self._span(tree),
        )

    def _tensor(self, tree: Tree[Token]) -> TensorLine:
        like = None
        properties: list[tuple[str, Expression]] = []
        for child in tree.children[1:]:
            part = cast("Tree[Token]", child)
            match part.data:
                case "like":
                    like = self._atom(part.children[0])
                case "type":
                    properties.append(("dtype", self._atom(part.children[0])))
                    properties.append(("shape", Operation("[]", self._expressions(part.children[1:]), self._span(part))))
                case "bare_role":
                    properties.append(("role", self._atom(part.children[0])))
                case _:
                    properties.append((str(part.data), self._expression(part.children[0])))
        return TensorLine(tree.data == "new", self._atom(tree.children[0]), like, tuple(properties), self._span(tree))
