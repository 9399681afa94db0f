"""Literals of rules: numbers with and without a unit, exactly, and strings."""

from __future__ import annotations

import re
from fractions import Fraction

from g10c.compiler.rules.kinds import Kind
from g10c.compiler.rules.tree import Atom
from g10c.compiler.rules.typed import Typed, broken, constant
from g10c.ir.errors import Diagnostic, near_names
from g10c.ir.parse_values import INTEGER_LIMIT
from g10c.ir.values import BANDWIDTH_UNITS, SIZE_UNITS, TIME_UNITS, unescape

_NUMBER = re.compile(r"([0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3}(?![0-9]))?)([^\W\d_]*(?:/s)?)\Z")
_UNITS: dict[str, int | Fraction] = {
    **TIME_UNITS,
    **SIZE_UNITS,
    **{unit: Fraction(scale, 10**9) for unit, scale in BANDWIDTH_UNITS.items()},
}
"""Units of literals in ns, bytes and bytes per ns."""


def read_number(atom: Atom, diagnostics: list[Diagnostic]) -> Typed:
    """``4``, ``0.25``, ``1.5us``, ``64MiB``, ``25GB/s``: a whole number where it is one, else a fraction."""
    match = _NUMBER.match(atom.text)
    if not match or len(atom.text) > 64:
        shown = atom.text if len(atom.text) <= 40 else atom.text[:40] + "..."
        diagnostics.append(Diagnostic(f"{shown!r} is no number", atom.span, "numbers are written 4, 0.25, 1e-3, 12.5us or 64MiB"))
        return broken(atom.span)
    number, unit = match.groups()
    if unit and unit not in _UNITS:
        near = [known for known in _UNITS if known.casefold() == unit.casefold()] or near_names(unit, _UNITS)
        hint = (
            f"did you mean {' or '.join(map(repr, near))}?"
            if near
            else f"times: {', '.join(TIME_UNITS)}; sizes: {', '.join(SIZE_UNITS)}; bandwidths: GB/s, ..."
        )
        diagnostics.append(Diagnostic(f"unknown unit {unit!r} in {atom.text!r}", atom.span, hint))
        return broken(atom.span)
    value = Fraction(number.replace("_", "")) * _UNITS.get(unit, 1)
    if value.denominator >= INTEGER_LIMIT:
        diagnostics.append(Diagnostic(f"{atom.text!r} is too small a fraction", atom.span))
        return broken(atom.span)
    if value >= INTEGER_LIMIT:
        diagnostics.append(Diagnostic(f"{atom.text!r} is not below 2^63", atom.span))
        return broken(atom.span)
    kind = _kind(unit)
    return constant(kind, int(value) if value.denominator == 1 else value, atom.span)


def _kind(unit: str) -> Kind:
    if unit in TIME_UNITS:
        return Kind.TIME
    if unit in SIZE_UNITS:
        return Kind.SIZE
    return Kind.BANDWIDTH if unit else Kind.NUMBER


def read_string(atom: Atom, diagnostics: list[Diagnostic]) -> Typed:
    """A string in quotes."""
    try:
        return constant(Kind.TEXT, unescape(atom.text[1:-1]), atom.span)
    except ValueError as error:
        message, _, hint = str(error).partition("\n")
        diagnostics.append(Diagnostic(message, atom.span, hint))
        return broken(atom.span)
