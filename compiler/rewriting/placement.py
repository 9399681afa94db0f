"""Where the lines of a rewrite stand, and whether every op still finds the values it did.

The check looks at the program as it would be, before anything is changed: every new op has to find the versions that the rewrite means,
and every other op those it found before, or what the rewrite puts in their stead. Only tensors that the match or the rewrite touches can
differ, and of these only the stretch around the places that change.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from g10c.compiler.rewriting.dataflow import Dataflow, Version, needs
from g10c.compiler.rewriting.pattern import PatternError
from g10c.compiler.rewriting.rule import Keep, Line, Match, Rewrite
from g10c.compiler.rewriting.sequence import Place, order_of
from g10c.ir.ops import OpKind
from g10c.ir.program import Op, Tensor

INHERITED = ("phase", "layer", "on", "stream", "microbatch")
"""Attributes that a new op takes over from the op whose place it takes, unless it says otherwise."""
TOGETHER = ("on", "stream", "microbatch")
"""Attributes in which ops have to agree that are replaced together."""


class MisplacedError(Exception):
    """The rewrite cannot be made here: another op would see a different value, or one of the new ops."""


class DroppedError(Exception):
    """The rewrite can nowhere be made: it loses or changes a value that is read outside. ``reader`` reads it, ``hint`` says what to do."""

    def __init__(self, message: str, reader: Op | None, hint: str) -> None:
        super().__init__(message)
        self.reader, self.hint = reader, hint


@dataclass(slots=True, eq=False)
class Item:
    """One op of the rewritten stretch: a new one, or a matched one that stays (``kept``). Those of one ``anchor`` stand there in order."""

    op: Op
    anchor: Place
    number: int
    kept: Place | None = None

    @property
    def key(self) -> tuple[int, int]:
        """Position among all ops; one that is outside has the key ``(order, 0)``."""
        return self.anchor.order, self.number


Writer = Place | Item | None
"""Who made a version: an op outside, an item of the rewrite, or none: it is from the start of the step."""


@dataclass(slots=True)
class Draft:
    """A rewrite with its places."""

    items: list[Item]
    erased: tuple[Place, ...]
    uses: Mapping[str, str]
    problem: str = ""
    """Why it cannot be, whatever the dataflow."""
    renamed: dict[Place, dict[str, str]] = field(default_factory=dict)
    """For each op outside that reads another tensor from here on: which for which."""


def drafts(match: Match, rewrite: Rewrite) -> Iterator[Draft]:
    """The rewrite in each way in which it could be placed, the best first. Raises :class:`PatternError` for labels that do not fit."""
    kept = {match.place(line.label) for line in rewrite.lines if isinstance(line, Keep)}
    erased = tuple(place for place in match.places if place not in kept)
    if any(isinstance(line, Keep) or line.at for line in rewrite.lines):
        yield _draft(rewrite, _anchors(match, rewrite.lines), erased)
        return
    for anchor in reversed(erased):
        yield _draft(rewrite, [anchor] * len(rewrite.lines), erased)


def _draft(rewrite: Rewrite, anchors: Sequence[Place], erased: tuple[Place, ...]) -> Draft:
    items = []
    for number, (line, anchor) in enumerate(zip(rewrite.lines, anchors, strict=True)):
        if isinstance(line, Keep):
            items.append(Item(anchor.op.with_attrs(**line.attrs) if line.attrs else anchor.op, anchor, number, anchor))
        else:
            items.append(Item(_inheriting(line, anchor.op, _replaced(anchor, erased).op), anchor, number))
    return Draft(items, erased, rewrite.uses, _disagreement(rewrite, anchors, erased))


def _replaced(anchor: Place, erased: tuple[Place, ...]) -> Place:
    """The op of whose place on ranks, stream and micro-batch a new op is: the one it replaces; where it replaces none, its neighbour."""
    return anchor if anchor in erased or not erased else erased[-1]


def _disagreement(rewrite: Rewrite, anchors: Sequence[Place], erased: tuple[Place, ...]) -> str:
    """In what ops differ that become one: those that have no new op in their own place, and those whose place new ops take over."""
    new = [(line, anchor) for line, anchor in zip(rewrite.lines, anchors, strict=True) if isinstance(line, Line)]
    new = [(line, anchor) for line, anchor in new if line.op.kind is not OpKind.DIRECTIVE]
    standing = {anchor for _, anchor in new}
    alone = [place for place in erased if place not in standing]
    if not new or not alone:
        return ""
    for name in TOGETHER:
        sources = [_replaced(anchor, erased) for line, anchor in new if name not in line.op.attrs and name not in line.without]
        values = dict.fromkeys(place.op.attrs.get(name) for place in (*alone, *sources)) if sources else {}
        if len(values) > 1:
            return f"the ops differ in {name!r}: {', '.join(str(value) for value in values)}"
    return ""


def _anchors(match: Match, lines: Sequence[Line | Keep]) -> list[Place]:
    """For each line the place of its label, of the next line with one, or of the last."""
    labels = [line.label if isinstance(line, Keep) else line.at for line in lines]
    named = [label for label in labels if label]
    found = []
    for number in range(len(lines)):
        label = next((label for label in labels[number:] if label), named[-1])
        found.append(match.place(label))
    if any(one.order > other.order for one, other in pairwise(found)):
        raise PatternError(
            f"the lines of the rewrite stand in another order than those of the match: {', '.join('@' + label for label in named)}"
        )
    seen: dict[str, Line | Keep] = {}
    for line, label in zip(lines, labels, strict=True):
        if label and not (isinstance(seen.setdefault(label, line), Keep) and isinstance(line, Line)) and seen[label] is not line:
            raise PatternError("two lines of the rewrite have one label", "lines without a label stand before the next one that has")
    return found


def _inheriting(line: Line, neighbour: Op, replaced: Op) -> Op:
    """The op with the attributes that it takes over; a directive takes over where it runs only."""
    op = line.op
    sources = {name: replaced if name in TOGETHER else neighbour for name in INHERITED}
    names = INHERITED if op.kind is OpKind.KERNEL else ("on", "microbatch")
    taken = {name: sources[name].attrs[name] for name in names if name not in (*op.attrs, *line.without) and name in sources[name].attrs}
    location = op.location or neighbour.location
    return Op(op.name, op.reads, op.writes, {**op.attrs, **taken} if taken else op.attrs, location)


class Check:
    """Whether a draft leaves every value where it is read.

    A rule that changes values on purpose may take an update of a persistent tensor out: the next step finds the value before it.
    """

    def __init__(self, match: Match, draft: Draft, declared: Mapping[str, Tensor], changes_values: bool = False) -> None:
        self.match, self.draft, self.declared, self.changes_values = match, draft, declared, changes_values
        self.flow: Dataflow = match.rewriter.flow
        self.matched = set(match.places)
        self.made: dict[str, list[Item]] = {}
        for item in draft.items:
            if item.op.kind is not OpKind.DIRECTIVE:
                for name in dict.fromkeys(item.op.writes):
                    self.made.setdefault(name, []).append(item)

    def run(self) -> None:
        """Raises :class:`MisplacedError` or :class:`DroppedError`, or fills in ``draft.renamed``."""
        if self.draft.problem:
            raise MisplacedError(self.draft.problem)
        for item in self.draft.items:
            self._reads(item)
            self._directives(item)
        erased = {name for place in self.draft.erased for name in place.op.writes}
        for name in dict.fromkeys([*self.made, *sorted(erased), *self.draft.uses]):
            self._readers(name)

    # What new ops read

    def _reads(self, item: Item) -> None:
        for name in needs(item.op) if item.op.kind is not OpKind.DIRECTIVE else ():
            meant = self._meant(item, name)
            if self._found(item.key, name) is not meant:
                raise MisplacedError(f"%{name} is written again before the place of {item.op.name}")

    def _meant(self, item: Item, name: str) -> Writer:
        """Who makes what an item reads: the last line before it that writes the tensor, else what the match read first."""
        earlier = [other for other in self.made.get(name, ()) if other.number < item.number]
        if earlier:
            return earlier[-1]
        meant = self._outside(self.flow.found(item.kept, name).made_by) if item.kept else self._matched_value(name, item.anchor)
        if isinstance(meant, Item):
            raise PatternError(f"{item.op.name} reads %{name} before the rewrite writes it", "put the line that writes it first")
        if meant in self.matched:
            maker = meant.op.name if meant is not None else ""
            raise PatternError(
                f"{item.op.name} reads %{name}, which {maker} makes, and the rewrite takes that out",
                "keep its op, or write the tensor first",
            )
        return meant

    def _matched_value(self, name: str, place: Place) -> Writer:
        """Who makes the value of a tensor that the match reads; where it does not touch the tensor, the value at ``place``.

        A tensor of which it reads two values, under two names, has no one value that could be meant.
        """
        bound = self._bound.get(name)
        if bound is not None:
            if len(bound) > 1:
                raise MisplacedError(f"the match reads two values of %{name}")
            return self._outside(bound[0])
        first = next((one for one in self.match.places if name in one.op.reads or name in one.op.writes), None)
        if first is None:
            return self._outside(self.flow.found(place, name).made_by)
        return self._outside(self.flow.found(first, name).made_by if name in needs(first.op) else first)

    @cached_property
    def _bound(self) -> dict[str, list[Place | None]]:
        """For each tensor that names of the pattern stand for before a line writes it, who made its values."""
        found: dict[str, dict[Place | None, None]] = {}
        for (_, number), value in self.match.bindings.slots.items():
            for version in ((value,) if isinstance(value, Version) else value) if number == 0 else ():
                found.setdefault(version.tensor, {})[version.made_by] = None
        return {name: list(makers) for name, makers in found.items()}

    def _outside(self, place: Place | None) -> Writer:
        """A writer before the rewrite as one after it: a kept op is an item."""
        if place in self.matched:
            return next((item for item in self.draft.items if item.kept is place), place)
        return place

    def _found(self, key: tuple[int, int], name: str) -> Writer:
        """Who has made what is found at a position of the rewritten program."""
        inside = [item for item in self.made.get(name, ()) if item.key < key]
        writers = self.flow.writers(name)
        index = bisect_left(writers, key[0], key=order_of) - 1
        while index >= 0 and writers[index] in self.matched:
            index -= 1
        outside = writers[index] if index >= 0 else None
        if inside and (outside is None or outside.order < inside[-1].key[0]):
            return inside[-1]
        return outside

    # What other ops read

    def _readers(self, name: str) -> None:
        """Every reader outside of a tensor that the match or the rewrite writes."""
        writers = [place for place in self.match.places if name in place.op.writes and place.op.kind is not OpKind.DIRECTIVE]
        orders = [place.order for place in writers] + [item.key[0] for item in self.made.get(name, ())]
        last = writers[-1] if writers else None
        if name in self.draft.uses and last is None:
            raise PatternError(f"the rewrite uses %{self.draft.uses[name]} for %{name}, which no op of the match makes")
        for reader in self._affected(name, min(orders), max(orders)):
            before = self.flow.found(reader, name).made_by
            if before is not None and before is last and name in self.draft.uses:
                self._rename(reader, name, before)
                continue
            self._same(reader, name, before, last)
        self._at_end(name, last)

    def _affected(self, name: str, first: int, last: int) -> list[Place]:
        """Readers outside from the first change to the next write behind the last one."""
        readers, writers = self.flow.readers(name), self.flow.writers(name)
        behind = bisect_right(writers, last, key=order_of)
        start = bisect_left(readers, first, key=order_of)
        end = bisect_right(readers, writers[behind].order, key=order_of) if behind < len(writers) else len(readers)
        return [place for place in readers[start:end] if place not in self.matched]

    def _expected(self, name: str, before: Place | None, last: Place | None) -> Writer:
        """Who has to have made what was made by ``before``."""
        if before is None or before not in self.matched:
            return before
        if before is last and self.made.get(name):
            return self.made[name][-1]
        return self._outside(before)

    def _same(self, reader: Place, name: str, before: Place | None, last: Place | None) -> None:
        expected, found = self._expected(name, before, last), self._found((reader.order, 0), name)
        if expected is found:
            return
        if isinstance(expected, Place) and expected in self.matched:
            part = "the value of" if before is last else "a value in between of"
            raise DroppedError(
                f"the rewrite takes out {before.op.name if before else ''}, and {reader.op.name} still reads {part} %{name}",
                reader.op,
                "add a condition on users(...), write the tensor in the rewrite, or say which to `use` for it",
            )
        if isinstance(found, Item) and last is None:
            raise DroppedError(
                f"the rewrite writes %{name}, of which {reader.op.name} still reads the value before",
                reader.op,
                "add a condition on users(...), or write a new tensor",
            )
        raise MisplacedError(f"{reader.op.name} reads %{name} in between")

    def _at_end(self, name: str, last: Place | None) -> None:
        """The end of the step reads every persistent tensor."""
        tensor = self.declared.get(name)
        if tensor is None or not tensor.persistent:
            return
        before = self.flow.last(name).made_by
        expected, found = self._expected(name, before, last), self._found((1 << 200, 0), name)
        if expected is found:
            return
        if isinstance(expected, Place) and expected in self.matched:
            if self.changes_values:
                return
            raise DroppedError(
                f"the rewrite takes out the last write of the {tensor.role} %{name}, which the next step reads",
                None,
                "write it in the rewrite, or say in its heading that the rule changes values",
            )
        if last is None and isinstance(found, Item):
            if self.changes_values:
                return
            raise DroppedError(
                f"the rewrite writes the {tensor.role} %{name}, whose value before the next step reads",
                None,
                "write a new tensor, or say in its heading that the rule changes values",
            )
        raise MisplacedError(f"%{name} is written in between")

    def _rename(self, reader: Place, name: str, before: Place) -> None:
        """The reader takes another tensor; it has to find what the rewrite leaves there, on its ranks."""
        other = self.draft.uses[name]
        made = self.made.get(other)
        meant: Writer = made[-1] if made else self._matched_value(other, reader)
        if self._found((reader.order, 0), other) is not meant:
            raise MisplacedError(f"%{other} is written again before {reader.op.name} reads it in the place of %{name}")
        if meant is not None and meant.op.on is not None and meant.op.on != before.op.on:
            raise MisplacedError(f"%{name} and %{other} are made on other ranks")
        if before.op.on is not None and before.op.on != reader.op.on:
            raise MisplacedError(f"{reader.op.name} reads %{name} on ranks where {before.op.name} does not make it")
        for tensor in (name, other):
            if any(place not in self.matched for place in self.flow.directives(tensor)):
                raise MisplacedError(f"there are directives on %{tensor}")
        self.draft.renamed.setdefault(reader, {})[name] = other

    # Directives

    def _directives(self, item: Item) -> None:
        """A tensor is not used across a directive on it: it may be elsewhere by then, or have no room."""
        if item.kept is not None or item.op.kind is OpKind.DIRECTIVE:
            return
        for name in dict.fromkeys((*item.op.reads, *item.op.writes)):
            directives = [place.order for place in self.flow.directives(name) if place not in self.matched]
            touching = [place.order for place in self.match.places if name in place.op.reads or name in place.op.writes]
            if not directives or not touching:
                continue
            here = item.key[0]
            if not any(bisect_left(directives, min(here, there)) == bisect_left(directives, max(here, there)) for there in touching):
                raise MisplacedError(f"there is a directive on %{name} between its use and the place of {item.op.name}")
