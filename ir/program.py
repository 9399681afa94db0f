"""The tensor-level IR: a program is one training step.

Tensors are storage, declared once. Ops read and write them; kernels, memory directives and collectives are all ops, and
their list order is the order of issue. Programs are values: a pass returns a new one and shares what it did not change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from functools import cached_property

from g10c.ir.ops import OpKind, kind_of
from g10c.ir.source import Location
from g10c.ir.values import Ident, Range, Size, Value

DTYPE_BYTES: dict[str, int] = {
    "f64": 8,
    "i64": 8,
    "f32": 4,
    "i32": 4,
    "tf32": 4,
    "f16": 2,
    "bf16": 2,
    "i16": 2,
    "f8": 1,
    "i8": 1,
    "u8": 1,
    "bool": 1,
}
"""Bytes of one element, by data type."""


class Role(StrEnum):
    """What a tensor is for. Weights and optimizer state live across steps."""

    WEIGHT = "weight"
    OPTIMIZER = "optimizer"
    INPUT = "input"
    ACTIVATION = "activation"
    GRADIENT = "gradient"
    WORKSPACE = "workspace"


ROLE_DOCS: dict[Role, str] = {
    Role.WEIGHT: "a parameter of the model; lives across steps",
    Role.OPTIMIZER: "state of the optimizer, such as moments and master weights; lives across steps",
    Role.INPUT: "data of the step, there at its start",
    Role.ACTIVATION: "a result of forward that later ops read",
    Role.GRADIENT: "a gradient, of an activation or of a weight",
    Role.WORKSPACE: "scratch room of a kernel",
}
"""What each role means, in a line."""

PERSISTENT_ROLES = frozenset({Role.WEIGHT, Role.OPTIMIZER})


class Level(IntEnum):
    """How far a program is lowered; passes say which level they take."""

    TRACED = 0
    PARTITIONED = 1
    PLANNED = 2

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, eq=False)
class Tensor:
    """Storage of ``prod(shape)`` elements of ``dtype``; ``attrs`` holds annotations such as ``inactive``."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: Role
    attrs: Mapping[str, Value] = field(default_factory=dict)
    location: Location | None = None

    @cached_property
    def size_bytes(self) -> int:
        """Exact bytes, before any rounding to pages."""
        return math.prod(self.shape) * DTYPE_BYTES[self.dtype]

    @property
    def persistent(self) -> bool:
        """Whether the tensor lives across steps."""
        return self.role in PERSISTENT_ROLES

    def with_attrs(self, **attrs: Value | None) -> Tensor:
        """The same tensor with attributes set, or removed where the value is ``None``."""
        return replace(self, attrs=merge_attrs(self.attrs, attrs))


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One op: ``writes = name(reads) {attrs}``. Tensors are named; a name in both lists is updated in place.

    Identity is the object's: two equal lines are two ops. A directive has its one tensor in ``reads``.
    """

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    attrs: Mapping[str, Value] = field(default_factory=dict)
    location: Location | None = None

    @property
    def kind(self) -> OpKind:
        """Kernel, directive or collective, as declared."""
        return kind_of(self.name)

    @property
    def time_ns(self) -> int:
        """Duration of a kernel in nanoseconds; 0 where it has none."""
        value = self.attrs.get("time", 0)
        return value if isinstance(value, int) else 0

    @property
    def stream(self) -> str:
        """The stream it is issued on: ``compute`` unless it says otherwise."""
        return str(self.attrs.get("stream", "compute"))

    @property
    def on(self) -> str | None:
        """The ranks it runs on (``"pp:0"``), ``None`` for all."""
        value = self.attrs.get("on")
        return None if value is None else str(value)

    def tensors(self) -> Iterator[str]:
        """Every tensor it touches, once, reads first."""
        yield from dict.fromkeys(self.reads + self.writes)

    def with_attrs(self, **attrs: Value | None) -> Op:
        """The same op with attributes set, or removed where the value is ``None``."""
        return replace(self, attrs=merge_attrs(self.attrs, attrs))


def merge_attrs(old: Mapping[str, Value], new: Mapping[str, Value | None]) -> dict[str, Value]:
    """``old`` with the values of ``new``; ``None`` removes."""
    merged = {**old, **new}
    return {key: value for key, value in merged.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Program:
    """One training step. ``tensors`` and ``ops`` are in order; treat both as read-only and derive new programs."""

    name: str
    tensors: Mapping[str, Tensor] = field(repr=False)
    ops: tuple[Op, ...] = field(repr=False)
    attrs: Mapping[str, Value] = field(default_factory=dict)
    location: Location | None = None

    @cached_property
    def level(self) -> Level:
        """Planned where there are directives, partitioned where there are collectives or a mesh, else traced."""
        kinds = {op.kind for op in self.ops}
        if OpKind.DIRECTIVE in kinds:
            return Level.PLANNED
        if OpKind.COLLECTIVE in kinds or "mesh" in self.attrs:
            return Level.PARTITIONED
        return Level.TRACED

    @cached_property
    def kernels(self) -> tuple[Op, ...]:
        """The ops that are kernels, in order."""
        return tuple(op for op in self.ops if op.kind is OpKind.KERNEL)

    def with_ops(self, ops: Iterable[Op]) -> Program:
        """The same program with other ops."""
        return replace(self, ops=tuple(ops))

    def with_tensors(self, tensors: Iterable[Tensor]) -> Program:
        """The same program with other tensors."""
        return replace(self, tensors={tensor.name: tensor for tensor in tensors})

    def with_attrs(self, **attrs: Value | None) -> Program:
        """The same program with attributes set, or removed where the value is ``None``."""
        return replace(self, attrs=merge_attrs(self.attrs, attrs))


def directive(kind: str, tensor: str, tier: str | None = None, span: tuple[int, int] | None = None, location: Location | None = None) -> Op:
    """``alloc``, ``free``, ``evict`` to or ``prefetch`` from a tier; ``span`` is a byte range, ``None`` the whole tensor."""
    attrs: dict[str, Value] = {}
    if tier is not None:
        attrs["to" if kind == "evict" else "from"] = Ident(tier)
    if span is not None:
        attrs["range"] = Range(Size(span[0]), Size(span[1]))
    return Op(kind, (tensor,), (), attrs, location)
