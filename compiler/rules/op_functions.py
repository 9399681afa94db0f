"""Functions of matched ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from g10c.compiler.rules.builtins import ANYTHING, OP, TEXT, Builtin, CallSite, kinds
from g10c.compiler.rules.kinds import Kind, Valued, valued_or_none
from g10c.compiler.rules.scope import attribute_keys, kind_and_words
from g10c.compiler.rules.typed import Run, Typed, as_valued, broken, expect
from g10c.ir.errors import Diagnostic, near_hint
from g10c.ir.ops import PHASES

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import Match
    from g10c.ir.program import Op


def _of_op(
    kind: Kind, ask: Callable[[Op], Any], words: Callable[[], tuple[str, ...]] = tuple, optional: bool = False
) -> Callable[[CallSite], Typed]:
    def make(site: CallSite) -> Typed:
        find = site.first.run
        return Typed(kind, lambda match: ask(find(match)), site.span, optional=optional, words=words())

    return make


def _name(site: CallSite) -> Typed:
    find = site.first.run
    if site.first.kind is Kind.OP:
        return Typed(Kind.TEXT, lambda match: find(match).name, site.span, words=tuple(sorted(site.labels[0])))
    return Typed(Kind.TEXT, lambda match: find(match).tensor, site.span)


def _traffic(site: CallSite) -> Typed:
    find = site.first.run

    def traffic(match: Match) -> int:
        tensors = match.rewriter.tensors
        return sum(tensors[name].size_bytes for name in find(match).tensors())

    return Typed(Kind.SIZE, traffic, site.span)


def _key(site: CallSite) -> str | None:
    """The key that is asked for, where it is written out; an attribute that none of the ops can have is a mistake."""
    key = site.arguments[1]
    if not key.constant:
        return None
    text, names = str(key.run(None)), site.labels[0]
    known = attribute_keys(names)
    if text not in known and "." not in text:
        whose = next(iter(names)) if len(names) == 1 else site.first.span.text
        own = f"an attribute of your own has a dot in its name, such as my.{text}"
        near = near_hint(text, known, "attributes")
        site.tell(Diagnostic(f"{whose} has no attribute {text!r}", key.span, f"{near}; {own}" if near else own))
    return text


def _attr(site: CallSite) -> Typed:
    find, key = site.first.run, _key(site)
    kind, words = kind_and_words(site.labels[0], key) if key is not None else (Kind.UNKNOWN, ())
    default = site.arguments[2] if len(site.arguments) > 2 else None
    if default is not None and Kind.UNKNOWN not in (kind, default.kind) and default.kind not in (kind, Kind.NONE):
        message = f"the default is {default.kind}, and {key!r} is {kind}"
        site.tell(Diagnostic(message, default.span, f"give {kind}"))
        return broken(site.span)
    get = _constant_key(find, key) if key is not None else _computed_key(find, expect(site.arguments[1], TEXT))
    if kind is Kind.UNKNOWN or (default is not None and default.kind is Kind.UNKNOWN):
        return Typed(Kind.UNKNOWN, _late(get, as_valued(default) if default is not None else None), site.span)
    if default is None or default.kind is Kind.NONE:
        return Typed(kind, get, site.span, optional=True, words=words)
    instead = default.run

    def with_default(match: Match) -> Any:
        value = get(match)
        return value if value is not None else instead(match)

    return Typed(kind, with_default, site.span, optional=default.optional)


def _constant_key(find: Run, key: str) -> Run:
    return lambda match: find(match).attrs.get(key)


def _computed_key(find: Run, key: Run) -> Run:
    return lambda match: find(match).attrs.get(str(key(match)))


def _late(get: Run, default: Callable[[Any], Valued] | None) -> Callable[[Any], Valued]:
    def run(match: Match) -> Valued:
        value = get(match)
        if value is None and default is not None:
            return default(match)
        return valued_or_none(value)

    return run


def _has(site: CallSite) -> Typed:
    find, key = site.first.run, _key(site)
    if key is not None:
        return Typed(Kind.BOOL, lambda match: key in find(match).attrs, site.span)
    asked = expect(site.arguments[1], TEXT)
    return Typed(Kind.BOOL, lambda match: str(asked(match)) in find(match).attrs, site.span)


OP_FUNCTIONS = (
    Builtin("name(@a)", "name of an op, such as linear.forward; of a tensor its name", (kinds(Kind.OP, Kind.TENSOR),), _name),
    Builtin("time(@a)", "duration of an op; 0ns where it has none", (OP,), _of_op(Kind.TIME, lambda op: op.time_ns)),
    Builtin(
        "phase(@a)",
        "forward, loss, backward or update; none where it has none",
        (OP,),
        _of_op(Kind.TEXT, lambda op: op.attrs.get("phase"), lambda: PHASES, True),
    ),
    Builtin(
        "layer(@a)",
        "layer that an op belongs to; none where it has none",
        (OP,),
        _of_op(Kind.TEXT, lambda op: op.attrs.get("layer"), optional=True),
    ),
    Builtin(
        "attr(@a, key, default)",
        "an attribute of an op; where it has none the default, or none without one",
        (OP, TEXT, ANYTHING),
        _attr,
        least=2,
        key=1,
    ),
    Builtin("has(@a, key)", "whether an op has an attribute", (OP, TEXT), _has, key=1),
    Builtin("traffic(@a)", "bytes of all tensors that an op reads or writes, each once", (OP,), _traffic),
)
