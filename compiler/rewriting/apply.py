"""One firing of a rule: what a match becomes, checked and then made."""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.compiler.rewriting.pattern import PatternError
from g10c.compiler.rewriting.placement import Check, Draft, DroppedError, Item, MisplacedError, drafts
from g10c.compiler.rewriting.rule import Line, Match, Rewrite, Rule, rewrite_of
from g10c.ir.errors import Diagnostic, G10cError, InputError, near_hint
from g10c.ir.ops import declaration, known_names
from g10c.ir.program import Op, Role, Tensor
from g10c.ir.values import format_value

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rewriter import Rewriter
    from g10c.compiler.rewriting.sequence import Place


class RuleError(InputError):
    """A rule that cannot be carried out on a match."""


@dataclass(frozen=True, slots=True)
class Firing:
    """What a rule did once. ``matched`` and ``made`` are ops in order; what was kept is in both."""

    rule: Rule
    matched: tuple[Op, ...]
    made: tuple[Op, ...]
    places: tuple[Place, ...]
    """The places of the new ops."""
    changed: tuple[str, ...]
    """Tensors of which a version, a use or the declaration may be another than before."""
    renamed: tuple[tuple[Op, Op], ...] = ()
    """Ops elsewhere that read another tensor from here on, before and after."""
    tensors: tuple[Tensor, ...] = ()
    """Declarations that are new or changed."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule did not fire on a match: the one condition that did not hold, and what was found."""

    condition: str
    found: str = ""


def fire(rule: Rule, match: Match) -> Firing | Refusal:
    """Carry out a rule on a match whose conditions hold.

    Raises :class:`RuleError` where the rewrite cannot be right: it loses a value that is still read, or its parts do not fit.
    """
    rewriter = match.rewriter
    try:
        rewrite = rewrite_of(rule.build(match))
        if rewrite is None:
            return Refusal("its function leaves this match alone")
        declared = _declared(match, rewrite)
        draft = _placed(rule, match, rewrite, declared)
    except MisplacedError as error:
        return Refusal("the ops can be brought together", str(error))
    except PatternError as error:
        raise rule_error(rule, match, error.message, error.hint) from error
    except DroppedError as error:
        raise rule_error(rule, match, str(error), error.hint, error.reader) from error
    except G10cError:
        raise
    except Exception as error:  # the function is the user's
        raise rule_error(rule, match, f"{type(error).__name__}: {error}", "this is a mistake in the rule's function") from error
    return _commit(rule, match, rewrite, draft, declared, rewriter)


def rule_error(rule: Rule, match: Match, message: str, hint: str, reader: Op | None = None) -> RuleError:
    """An error of a rule on a match: it cites the rule and the first op that it matched."""
    where = match.places[0].op
    at = f"; it matched {where.name} at {where.location}" if where.location is not None else ""
    read = f" (read at {reader.location})" if reader is not None and reader.location is not None else ""
    return RuleError(Diagnostic(f"rule {rule.name!r}: {message}{read}{at}", rule.location, hint))


def _declared(match: Match, rewrite: Rewrite) -> dict[str, Tensor]:
    """Declarations that the rewrite makes or changes; its ops are checked against them."""
    declared = {tensor.name: tensor for tensor in (*match.new_tensors, *rewrite.tensors)}
    for line in rewrite.lines:
        op = line.op if isinstance(line, Line) else match.op(line.label).with_attrs(**line.attrs)
        _check_form(op, match.rewriter, declared)
    for name in rewrite.uses.values():
        if name not in match.rewriter.tensors and name not in declared:
            raise PatternError(f"it uses %{name}, which is not declared", "name a tensor of the match, or a new one")
    _check_sizes(match.rewriter, declared)
    for key, value in rewrite.program.items():
        known = match.rewriter.attrs.get(key)
        if known is not None and known != value:
            raise PatternError(
                f"the program has {key} = {format_value(known)}, and the rule gives it {format_value(value)}", "leave one out"
            )
    return declared


def _check_sizes(rewriter: Rewriter, declared: dict[str, Tensor]) -> None:
    """A directive on a range of bytes speaks of a tensor of this size."""
    for name, tensor in declared.items():
        before = rewriter.tensors.get(name)
        resized = before is not None and before.size_bytes != tensor.size_bytes
        if resized and any("range" in place.op.attrs for place in rewriter.flow.directives(name)):
            raise MisplacedError(f"a directive names bytes of %{name}, whose size changes")


def _check_form(op: Op, rewriter: Rewriter, declared: dict[str, Tensor]) -> None:
    decl = declaration(op.name)
    if decl is None:
        raise PatternError(f"no op is called {op.name!r}", near_hint(op.name, known_names(), "ops") or "docs/ir.md lists the ops")
    missing = next((attr for attr in decl.attrs if attr.required and attr.name not in op.attrs), None)
    if missing is not None:
        raise PatternError(f"{op.name} needs the attribute {missing.name!r}", missing.doc)
    for names, (least, most), what in ((op.reads, decl.reads, "operands"), (op.writes, decl.writes, "results")):
        if len(names) < least or (most is not None and len(names) > most):
            wanted = f"{least} or more" if most is None else f"{least} to {most}" if most != least else str(least)
            raise PatternError(f"{op.name} takes {wanted} {what}, the rewrite gives it {len(names)}")
        for name in names:
            if name not in rewriter.tensors and name not in declared:
                raise PatternError(
                    f"{op.name} names %{name}, which is not declared", "make it with match.new_tensor, or `new` in a rules file"
                )


def _placed(rule: Rule, match: Match, rewrite: Rewrite, declared: dict[str, Tensor]) -> Draft:
    """The first draft that is right. Where none is, its problem is that of the first that is only misplaced, else of the first."""
    problems: list[Exception] = []
    for draft in drafts(match, rewrite):
        try:
            Check(match, draft, ChainMap(declared, match.rewriter.tensors), rule.changes_values).run()
        except (MisplacedError, DroppedError) as error:
            problems.append(error)
            continue
        return draft
    misplaced = [problem for problem in problems if isinstance(problem, MisplacedError)]
    raise (misplaced or problems or [PatternError("there is nothing to rewrite")])[0]


def _commit(rule: Rule, match: Match, rewrite: Rewrite, draft: Draft, declared: dict[str, Tensor], rewriter: Rewriter) -> Firing:
    matched = tuple(place.op for place in match.places)
    changed = dict.fromkeys(name for op in matched for name in op.tensors())
    for tensor in declared.values():
        rewriter.set_tensor(tensor)
        changed[tensor.name] = None
    renamed = []
    for reader, names in draft.renamed.items():
        before = reader.op
        rewriter.exchange(reader, dataclasses.replace(before, reads=tuple(names.get(name, name) for name in before.reads)))
        renamed.append((before, reader.op))
        changed.update(dict.fromkeys(names.values()))
    for place in draft.erased:
        rewriter.erase(place.op)
    places = _insert(draft.items, rewriter)
    for place in places:
        changed.update(dict.fromkeys(place.op.tensors()))
    if rewrite.program:
        rewriter.set_attrs(**rewrite.program)
    _drop_orphans(changed, rewriter)
    made = tuple(item.kept.op if item.kept is not None else item.op for item in draft.items)
    return Firing(rule, matched, made, places, tuple(changed), tuple(renamed), tuple(declared.values()))


def _insert(items: list[Item], rewriter: Rewriter) -> tuple[Place, ...]:
    """Put the new ops where they stand and change the ops that are kept; the places of the new ones."""
    places: list[Place] = []
    for number, item in enumerate(items):
        if item.kept is not None:
            if item.op is not item.kept.op:
                rewriter.exchange(item.kept, item.op)
            continue
        before_kept = any(other.kept is item.anchor for other in items[number + 1 :])
        behind = item.anchor if before_kept else _behind(places, items, number)
        place = rewriter.insert(behind, item.op)
        item.op = place.op
        places.append(place)
    return tuple(places)


def _behind(places: list[Place], items: list[Item], number: int) -> Place | None:
    """What follows the item: what follows the item before it in the same spot, else what follows the anchor."""
    anchor = items[number].anchor
    if number and items[number - 1].anchor is anchor and items[number - 1].kept is None:
        return places[-1].behind
    return anchor.behind


def _drop_orphans(names: dict[str, None], rewriter: Rewriter) -> None:
    """Take out the tensors that no op touches any more, with the directives on them. What is there at the start of the step stays."""
    for name in names:
        tensor = rewriter.tensors.get(name)
        if tensor is None or tensor.persistent or tensor.role is Role.INPUT or rewriter.flow.touched(name):
            continue
        for place in list(rewriter.flow.directives(name)):
            rewriter.erase(place.op)
        rewriter.erase_tensor(name)
