"""What the lowering walks: calls of operators in order, whatever file they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from g10c.ir.program import Role
from g10c.ir.source import Span
from g10c.models.g10.net_file import NetFile
from g10c.models.g10.rule_form import DTYPE, OpRule, Shape, WeightUse
from g10c.models.g10.rules import RULES
from g10c.models.modules.network import Layer

OWN_NAMES = {"w": "weight"}
"""What a layer's own tensors are called, where that is not their word."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: its name and that of its gradient, which call it is the result of, where to cite it."""

    name: str
    gradient: str
    shape: Shape
    role: Role
    span: Span
    producer: int | None = None
    dtype: str = DTYPE


@dataclass(frozen=True, slots=True)
class Call:
    """An operator that is called: its rule, operands and result, and what it has for itself, by the words of the rule.

    ``weight`` is the place of the operand that is a weight. ``location`` is that of its kernels.
    """

    label: str
    rule: OpRule
    operands: tuple[Value, ...]
    result: Value
    location: Span
    own: Mapping[str, Value] = field(default_factory=dict)
    weight: int | None = None


def calls_of_operators(net: NetFile, weights_below: int) -> Iterator[Call]:
    """The calls of a list of operators whose ids below ``weights_below`` are weights.

    A result that nothing mentions is taken to have the shape of the first operand, as the artifact does.
    """
    producers = {op.id: number for number, op in enumerate(net.ops)}

    def value(number: int, span: Span, shape: Shape) -> Value:
        is_weight = number < weights_below
        name = f"{'w' if is_weight else 'x'}{number}"
        known = Role.ACTIVATION if number in producers else Role.INPUT
        return Value(name, f"d{name}", shape, Role.WEIGHT if is_weight else known, span, producers.get(number))

    for op in net.ops:
        operands = tuple(value(operand.id, operand.span, net.shapes[operand.id]) for operand in op.operands)
        result = value(op.id, op.id_span, net.shapes.get(op.id, op.operands[0].shape))
        weights = [position for position, operand in enumerate(operands) if operand.role is Role.WEIGHT]
        yield Call(str(op), RULES[op.type], operands, result, op.type_span, weight=weights[-1] if weights else None)


def calls_of_layers(layers: tuple[Layer, ...], rules: Mapping[str, OpRule]) -> Iterator[Call]:
    """The calls of a module's layers, by a table of rules. A layer that works in place has the tensor of its operand for result."""
    results: list[Value] = []
    for number, layer in enumerate(layers):
        rule = rules[layer.kind]
        operands = tuple(results[operand] for operand in layer.operands)
        name = operands[0].name if layer.arguments.get("inplace") else layer.label
        role = Role.ACTIVATION if operands else Role.INPUT
        results.append(Value(name, f"{layer.label}.grad", layer.shape, role, layer.span, number))
        yield Call(layer.label, rule, operands, results[-1], layer.span, _own(layer, rule))


def _own(layer: Layer, rule: OpRule) -> dict[str, Value]:
    def value(word: str, owner: str, shape: Shape, role: Role, dtype: str = DTYPE) -> Value:
        name = f"{owner}.{OWN_NAMES.get(word, word)}"
        return Value(name, f"{name}.grad", shape, role, layer.span, None, dtype)

    found = {word: value(word, layer.path, shape, Role.WEIGHT) for word, shape in layer.weights.items()}
    for own in rule.own:
        found[own.word] = value(own.word, layer.label, own.shape(layer.operand_shapes[0], layer.shape), own.role, own.dtype)
    return found


def has_gradient(value: Value, call: Call, calls: list[Call]) -> bool:
    """Whether an operand of a call has a gradient."""
    if value.producer is not None:
        return calls[value.producer].rule.differentiable
    return value.role is Role.WEIGHT and call.rule.weights is not WeightUse.CONSTANT
