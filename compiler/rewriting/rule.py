"""Rules: a pattern, and a function that says what a match of it becomes.

::

    @rule(
        op("scale.forward", reads=["dw"], writes=["s"], attrs={"time": Capture("t")}),
        op("apply_grad", reads=["w", "s"], writes=["w"], attrs={"time": Capture("u")}),
    )
    def fuse_scale_into_update(w, dw, s, t, u):
        if s.users == 1 and s.size_bytes > 1 << 20:
            return make_op("scaled_apply_grad", reads=[w, dw], writes=[w], time=Time(u + t // 4))

The function's parameters are names of the pattern: a tensor is given as a :class:`Captured`, several as a list of them, an attribute as
its value, a label as its :class:`~g10c.ir.program.Op`. A parameter called ``match`` is given the whole :class:`Match`. It returns what
the match becomes, or ``None`` to leave it alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from g10c.compiler.rewriting.dataflow import Version
from g10c.compiler.rewriting.match import Bindings, Matcher
from g10c.compiler.rewriting.pattern import OpPattern, Pattern, PatternError
from g10c.ir.errors import near_hint
from g10c.ir.program import Op, Role, Tensor
from g10c.ir.source import Location, Origin

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rewriter import Rewriter
    from g10c.compiler.rewriting.sequence import Place
    from g10c.ir.values import Value


@dataclass(frozen=True, slots=True)
class Captured:
    """A tensor in the version that a name of the pattern stands for, behind the pattern's last line."""

    tensor: Tensor
    version: Version
    users: int
    """How many ops read this version."""

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self.tensor.name

    @property
    def size_bytes(self) -> int:
        """Exact bytes."""
        return self.tensor.size_bytes

    @property
    def role(self) -> Role:
        """What the tensor is for."""
        return self.tensor.role


class Match:
    """A match of a rule, as its conditions and its function see it."""

    def __init__(self, pattern: Pattern, bindings: Bindings, rewriter: Rewriter) -> None:
        self.pattern = pattern
        self.bindings = bindings
        self.rewriter = rewriter
        self.new_tensors: list[Tensor] = []

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The places of the ops, in the order of the pattern."""
        return tuple(place for place in self.bindings.places if place is not None)

    def place(self, label: str) -> Place:
        """The place of a labelled op. Raises :class:`PatternError` when the pattern has no such label."""
        position = self.pattern.position(label)
        if position is None:
            raise PatternError(f"the pattern has no label @{label}")
        return self.places[position]

    def tensor(self, name: str) -> Captured:
        """What a name stands for behind the pattern's last line."""
        bound = self.bindings.slots[name, self._last[name]]
        if not isinstance(bound, Version):
            raise PatternError(f"%{name}... stands for several tensors", "use tensors()")
        return self._captured(bound)

    def tensors(self, name: str) -> list[Captured]:
        """What a repeated name stands for; a list of one for a plain name."""
        bound = self.bindings.slots[name, self._last[name]]
        return [self._captured(version) for version in ((bound,) if isinstance(bound, Version) else bound)]

    @cached_property
    def _last(self) -> dict[str, int]:
        last: dict[str, int] = {}
        for name, number in self.bindings.slots:
            last[name] = max(number, last.get(name, 0))
        return last

    def _captured(self, version: Version) -> Captured:
        return Captured(self.rewriter.tensors[version.tensor], version, self.rewriter.flow.count_uses(version))

    def op(self, label: str) -> Op:
        """A labelled op."""
        return self.place(label).op

    def attribute(self, name: str) -> Value:
        """The captured value of an attribute."""
        return self.bindings.attrs[name]

    def value(self, name: str) -> Any:
        """What a name of the pattern stands for, as the function of a rule is given it."""
        match self.pattern.kinds.get(name):
            case "tensor":
                return self.tensor(name)
            case "tensors":
                return self.tensors(name)
            case "attribute":
                return self.attribute(name)
            case "op":
                return self.op(name)
        raise PatternError(f"the pattern has no name {name!r}", near_hint(name, self.pattern.kinds, "names"))

    def new_tensor(
        self,
        name: str,
        like: Captured | Tensor,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        role: Role | str | None = None,
    ) -> Tensor:
        """A new tensor called ``name`` (with a number where that is taken), otherwise like another."""
        base = like.tensor if isinstance(like, Captured) else like
        made = Tensor(
            self.rewriter.fresh_name(name),
            dtype or base.dtype,
            base.shape if shape is None else tuple(shape),
            Role(role) if role is not None else base.role,
        )
        self.new_tensors.append(made)
        return made


@dataclass(frozen=True, slots=True)
class Line:
    """A new op; ``at`` is the label of the op whose place it takes, or behind which it stands."""

    op: Op
    at: str = ""
    without: tuple[str, ...] = ()
    """Attributes that it does not take over."""


@dataclass(frozen=True, slots=True)
class Keep:
    """A matched op that stays where it is; ``attrs`` changes its attributes (``None`` removes one)."""

    label: str
    attrs: Mapping[str, Value | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a match becomes.

    Matched ops that no :class:`Keep` names go. New ops with a label ``at`` stand where that op stood, or behind it where a line above
    keeps it; those without stand right before the next line with a place, or behind the last one. Without any such line all stand
    together, where the matched ops allow it: at the last of them, or at an earlier one.

    ``uses`` maps the name of a tensor to that of another that is read in its stead from here on. ``tensors`` are new or changed
    declarations; those of :meth:`Match.new_tensor` need not be listed. ``program`` are attributes of the program.
    """

    lines: Sequence[Line | Keep] = ()
    uses: Mapping[str, str] = field(default_factory=dict)
    tensors: Sequence[Tensor] = ()
    program: Mapping[str, Value] = field(default_factory=dict)


Outcome = Rewrite | Op | Sequence[Op] | None
"""What a rule's function returns: a rewrite, the ops that replace the match (all that was matched goes), or ``None``: leave it alone."""


def rewrite_of(outcome: Outcome) -> Rewrite | None:
    """A rule's outcome as a rewrite. Raises :class:`PatternError` for anything else."""
    if outcome is None or isinstance(outcome, Rewrite):
        return outcome
    ops = [outcome] if isinstance(outcome, Op) else outcome
    if not isinstance(ops, list | tuple) or not all(isinstance(item, Op) for item in ops):
        raise PatternError(
            f"it returned {type(outcome).__name__}", "return a Rewrite, an Op, a list of Ops, or None to leave the match alone"
        )
    return Rewrite([Line(item) for item in ops])


def make_op(
    name: str,
    reads: Iterable[Captured | Tensor | str] = (),
    writes: Iterable[Captured | Tensor | str] = (),
    location: Location | None = None,
    **attrs: Value | None,
) -> Op:
    """An op on captured or new tensors; attributes that are ``None`` are left out."""
    given = {key: value for key, value in attrs.items() if value is not None}
    return Op(name, tuple(map(_name, reads)), tuple(map(_name, writes)), given, location)


def _name(tensor: Captured | Tensor | str) -> str:
    return tensor if isinstance(tensor, str) else tensor.name


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a rule, with its text for messages. ``found`` says what it compared, for near misses."""

    text: str
    holds: Callable[[Match], bool]
    location: Location | None = None
    found: Callable[[Match], str] | None = None


@dataclass(frozen=True, eq=False)
class Rule:
    """A named pattern, conditions, and the function that says what a match becomes."""

    name: str
    pattern: Pattern
    build: Callable[[Match], Outcome]
    location: Location | None = None
    conditions: tuple[Condition, ...] = ()
    changes_values: bool = False
    """Whether it changes the values that are computed on purpose, such as to another precision."""

    @cached_property
    def matcher(self) -> Matcher:
        """Finds the places that the rule fits."""
        return Matcher(self.pattern)

    def __add__(self, other: Rule | RuleSet) -> RuleSet:
        return RuleSet((self,)) + other

    def where(self, text: str, holds: Callable[..., bool]) -> Rule:
        """The rule with one more condition, on names of the pattern."""
        return replace(self, conditions=(*self.conditions, Condition(text, _call(holds, self.pattern, self.location))))

    def __str__(self) -> str:
        return f"{self.name} ({self.location})" if self.location is not None else self.name


@dataclass(frozen=True)
class RuleSet:
    """Rules in order: of those that fit an op the first one fires."""

    rules: tuple[Rule, ...] = ()

    def __add__(self, other: Rule | RuleSet) -> RuleSet:
        return RuleSet(self.rules + ((other,) if isinstance(other, Rule) else other.rules))

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)


def rule(*ops: OpPattern, name: str = "") -> Callable[[Callable[..., Outcome]], Rule]:
    """Make a function a rule. The rule is called as the function is, with ``-`` for ``_``, unless ``name`` says otherwise.

    Raises :class:`PatternError` for a parameter that is no name of the pattern.
    """
    found = Pattern(ops)

    def decorate(function: Callable[..., Outcome]) -> Rule:
        code = getattr(inspect.unwrap(function), "__code__", None)
        title = name or getattr(function, "__name__", "").replace("_", "-")
        if not title:
            raise PatternError("the rule has no name", "write @rule(..., name=...) above what is no plain function")
        location = Origin(f"{code.co_filename}:{code.co_firstlineno}") if code is not None else None
        return Rule(title, found, _call(function, found, location), location)

    return decorate


def _call(function: Callable[..., Any], pattern: Pattern, location: Location | None) -> Callable[[Match], Any]:
    """The function on a match: each parameter is given what its name stands for."""
    names = tuple(inspect.signature(function).parameters)
    for name in names:
        if name != "match" and name not in pattern.kinds:
            hint = near_hint(name, pattern.kinds, "names of the pattern") or "a parameter is a name, attribute or label of the pattern"
            raise PatternError(f"{location}: {name!r} is no name of the pattern", hint)
    return lambda match: function(**{name: match if name == "match" else match.value(name) for name in names})
