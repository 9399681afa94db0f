"""The mesh of ranks that a partitioned program runs on, and the places on it that ops name.

A program's ``mesh`` is text such as ``"dp=2,tp=4,pp=2"``: axes and how many ranks lie along each. A place, such as
``"pp:0"`` or ``"pp:0,dp:1"``, is every rank with those coordinates. Ranks are numbered with the last axis fastest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from g10c.ir.errors import near_hint

if TYPE_CHECKING:
    from g10c.ir.program import Program

MAX_RANKS = 1 << 16
"""Ranks of a mesh at most; more is a slip of the pen."""

_AXIS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([0-9]{1,9})\s*")
_COORDINATE = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*([0-9]{1,9})\s*")


class MeshError(ValueError):
    """A mistake in the text of a mesh or a place."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Mesh:
    """Axes by name, in order, with the number of ranks along each. Without axes it is a single rank."""

    axes: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> Mesh:
        """The mesh of a text. Raises :class:`MeshError`."""
        axes: dict[str, int] = {}
        for part in text.split(","):
            match = _AXIS.fullmatch(part)
            if not match:
                raise MeshError(f"expected an axis and its number of ranks, found {part.strip()!r}", 'a mesh is written "dp=2,tp=4"')
            name, count = match[1], int(match[2])
            if name in axes:
                raise MeshError(f"axis {name!r} is given twice")
            if count < 1:
                raise MeshError(f"axis {name!r} has no ranks")
            axes[name] = count
        if math.prod(axes.values()) > MAX_RANKS:
            raise MeshError(f"the mesh has {math.prod(axes.values())} ranks, more than {MAX_RANKS}")
        return cls(axes)

    @classmethod
    def of(cls, program: Program) -> Mesh:
        """The mesh of a program, a single rank where it names none. Raises :class:`MeshError`."""
        text = program.attrs.get("mesh")
        return cls({}) if text is None else cls.parse(str(text))

    @property
    def size(self) -> int:
        """Number of ranks."""
        return math.prod(self.axes.values())

    def place(self, text: str) -> dict[str, int]:
        """The coordinates that a place fixes. Raises :class:`MeshError` when the mesh has no such place."""
        fixed: dict[str, int] = {}
        for part in text.split(","):
            match = _COORDINATE.fullmatch(part)
            if not match:
                raise MeshError(f"expected ranks as axis:number, found {part.strip()!r}", 'such as "pp:0" or "pp:0,dp:1"')
            axis, number = match[1], int(match[2])
            self.require_axis(axis)
            if axis in fixed:
                raise MeshError(f"axis {axis!r} is given twice")
            if number >= self.axes[axis]:
                raise MeshError(f"axis {axis!r} has {self.axes[axis]} ranks, there is no {axis}:{number}", "numbers start at 0")
            fixed[axis] = number
        return fixed

    def require_axis(self, axis: str) -> None:
        """Raises :class:`MeshError` when the mesh has no such axis."""
        if axis not in self.axes:
            hint = near_hint(axis, self.axes, "axes") or 'give the program a mesh, such as {mesh = "dp=2"}'
            raise MeshError(f"the mesh has no axis {axis!r}" if self.axes else f"axis {axis!r}: the program has no mesh", hint)

    def ranks(self, place: str | None = None) -> tuple[int, ...]:
        """Numbers of the ranks at a place, all ranks for ``None``, in order. Raises :class:`MeshError`."""
        fixed = {} if place is None else self.place(place)
        ranks = [0]
        for axis, count in self.axes.items():
            along = (fixed[axis],) if axis in fixed else range(count)
            ranks = [rank * count + number for rank in ranks for number in along]
        return tuple(ranks)

    def __str__(self) -> str:
        return ",".join(f"{axis}={count}" for axis, count in self.axes.items())
