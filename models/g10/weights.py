"""Which ids of a network are weights: those below a border, which the network file does not hold.

The artifact takes the border from its configuration (``trans_borden``). Here it is an option, or stands in a ``nets.json`` beside the
network, or follows from the operators: a matrix product, convolution or lookup has one weight, so of two operands that nothing produces the
one with the lower id is a weight and the other an input, and beside a produced operand the other one is a weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.input_text import read_text
from g10c.ir.json_text import parse_json, scan_json
from g10c.ir.source import Source, Span
from g10c.models.g10.net_file import NetFile, NetOp
from g10c.models.g10.rule_form import WeightUse
from g10c.models.g10.rules import RULES

TABLE_NAME = "nets.json"
TABLE_KEY = "weight_ids_below"


def weight_border(net: NetFile, path: Path, given: int | None) -> int:
    """The border: the one given, or that of ``nets.json`` beside the network file at ``path``, or the one that follows from its operators.

    Raises :class:`~g10c.ir.errors.InputError` when the border contradicts the operators, or when none is given and several are possible.
    """
    origin = "given"
    border = given
    if border is None:
        origin = f"from {path.parent / TABLE_NAME}"
        border = _from_table(path.parent / TABLE_NAME, path.stem)
    if border is None:
        origin = "as its operators require"
        border = derived_border(net)
    low, high = _possible(net)
    hint = f"ids below {border} are weights ({origin}; see --weights-below)"
    produced = {op.id for op in net.ops}
    diagnostics = [diagnostic for op in net.ops for diagnostic in _mistakes(op, border, produced, hint)]
    if diagnostics and low <= high and not low <= border <= high:
        first = diagnostics[0]
        others = f" (and {len(diagnostics) - 1} more like it)" if len(diagnostics) > 1 else ""
        asked = f"{low}" if low == high else f"one from {low} to {high}"
        diagnostics = [Diagnostic(first.message + others, first.location, f"{hint}; the operators ask for {asked}")]
    if diagnostics:
        raise InputError(diagnostics)
    return border


def derived_border(net: NetFile) -> int:
    """The least border that the operators allow. Raises :class:`~g10c.ir.errors.InputError` when another one means something else."""
    low, high = _possible(net)
    sources = {operand.id for op in net.ops for operand in op.operands} - {op.id for op in net.ops}
    unclear = sorted(number for number in sources if low <= number < high)
    if not unclear:
        return low
    hint = f"pass --weights-below with a number from {low} to {high}, or write it as {TABLE_KEY!r} into {TABLE_NAME} beside the network"
    shown = ", ".join(map(str, unclear[:8])) + (", ..." if len(unclear) > 8 else "")
    what = "may be weights or inputs" if len(unclear) > 1 else "may be a weight or an input"
    raise InputError.at(f"{net.source.name}: cannot tell which ids are weights: {shown} {what}", None, hint)


def _possible(net: NetFile) -> tuple[int, int]:
    """The least and the greatest border that the operators allow; the least is greater where they contradict one another."""
    produced = {op.id for op in net.ops}
    low, high = 0, min(produced)
    for op in net.ops:
        least, most = _limits(op, produced)
        low, high = max(low, least), high if most is None else min(high, most)
    return low, high


def _limits(op: NetOp, produced: set[int]) -> tuple[int, int | None]:
    """The least and the most that the border can be for one operator to have the weights its rule says; ``None`` for no limit."""
    sources = sorted(operand.id for operand in op.operands if operand.id not in produced)
    match RULES[op.type].weights:
        case WeightUse.NONE if sources:
            return 0, sources[0]
        case WeightUse.CONSTANT if op.operands[0].id in sources:
            return 0, op.operands[0].id
        case WeightUse.ONE if sources:
            return sources[0] + 1, sources[1] if len(sources) > 1 else None
        case WeightUse.AT_MOST_ONE if len(sources) > 1:
            return 0, sources[1]
    return 0, None


def _from_table(path: Path, net: str) -> int | None:
    if not path.is_file():
        return None
    source = Source(str(path), read_text(path, "a table of networks"))
    table = parse_json(source)
    entry = table.get(net) if isinstance(table, dict) else None
    if entry is None:
        return None
    border = entry.get(TABLE_KEY) if isinstance(entry, dict) else None
    if isinstance(border, int) and not isinstance(border, bool) and border >= 0:
        return border
    places = scan_json(source).places
    place = places.get((net, TABLE_KEY)) or places[(net,)]
    hint = f'expected {{"{TABLE_KEY}": N}}, N the lowest id that is not a weight'
    raise InputError.at(f"the entry {net!r} has no whole number in {TABLE_KEY!r}", Span(source, *place.value), hint)


def _mistakes(op: NetOp, border: int, produced: set[int], hint: str) -> Iterator[Diagnostic]:
    """Yield what contradicts the use of weights that the operator's rule states."""
    weights = [operand for operand in op.operands if operand.id < border]
    use = RULES[op.type].weights
    constant = use is WeightUse.CONSTANT
    allowed = {WeightUse.NONE: (0,), WeightUse.ONE: (1,)}.get(use, (0, 1))
    if op.id < border:
        yield Diagnostic(f"{op} produces {op.id}, which is the id of a weight", op.id_span, hint)
    elif len(weights) not in allowed or (constant and op.operands[0].id < border):
        operands = " and ".join(str(operand.id) for operand in op.operands)
        found = " and ".join(str(weight.id) for weight in weights) or "none"
        message = (
            f"{op} reads {operands}, of which {found} {'are weights' if len(weights) > 1 else 'is a weight'}: expected that {use.value}"
        )
        yield Diagnostic(message, weights[-1].span if weights else op.type_span, hint)
    elif constant and op.operands[1].id in produced:
        exponent = op.operands[1]
        yield Diagnostic(
            f"the second operand of {op}, {exponent.id}, is computed", exponent.span, "expected a constant: it gets no gradient"
        )
