"""From a list of forward operators to a training step: tensors first, then kernels.

Tensors are declared in the order in which the artifact makes them (``analysis.cc``, ``transformer_op_datalow_pass``): for each operator
its result, its operands that are new, and a gradient for each operand that has one. The n-th tensor here is tensor n there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.program import Op, Role, Tensor
from g10c.ir.source import Span
from g10c.ir.values import Ident
from g10c.models.g10.net_file import NetFile, NetOp
from g10c.models.g10.rules import ACCUMULATE, LOSS, RULES, KernelRule, OpRule, WeightUse, default_artifact_names

DTYPE = "f32"


@dataclass(slots=True)
class _Node:
    """An operator with the names of its tensors; ``uses`` holds the gradients of its result, in the order of the uses."""

    op: NetOp
    rule: OpRule
    result: str
    operands: list[str] = field(default_factory=list)
    gradients: list[str | None] = field(default_factory=list)
    weight: int | None = None
    uses: list[str] = field(default_factory=list)

    def tensors(self, word: str) -> list[str]:
        """The tensors that a word of :mod:`~g10c.models.g10.rules` stands for, in order; none where there is none."""
        match word:
            case "y":
                return [self.result]
            case "dy":
                return self.uses[:1]
            case "all_dy":
                return self.uses
            case "operands":
                return self.operands
            case "gradients":
                return [name for name in self.gradients if name]
        position = self._position(word[-1])
        if position is None:
            return []
        name = self.gradients[position] if word.startswith("d") else self.operands[position]
        return [name] if name else []

    def _position(self, letter: str) -> int | None:
        if letter in "ab":
            return "ab".index(letter)
        if self.weight is None or letter == "w":
            return self.weight
        return 1 - self.weight


@dataclass(frozen=True, slots=True)
class Lowered:
    """Tensors and kernels of a training step, without times."""

    tensors: tuple[Tensor, ...]
    kernels: tuple[Op, ...]


def lower(net: NetFile, weights_below: int) -> Lowered:
    """Lower a network whose ids below ``weights_below`` are weights.

    The step is the forward kernels in order, one loss kernel on the last result, then the backward and update kernels of the operators in
    reverse. Raises :class:`~g10c.ir.errors.InputError` for results, other than the last, that nothing reads.
    """
    flow = _Dataflow(net, weights_below)
    for op in net.ops:
        flow.add(op)
    flow.add_loss()
    unused = [node for node in flow.nodes if not node.uses]
    if unused:
        hint = "only the result of the last operator may be unused: the loss is taken of it"
        raise InputError([Diagnostic(f"nothing reads the result of {node.op}", node.op.id_span, hint) for node in unused])
    return Lowered(tuple(flow.tensors.values()), tuple(_schedule(flow.nodes)))


class _Dataflow:
    """Declares the tensors of one operator after the other."""

    def __init__(self, net: NetFile, weights_below: int) -> None:
        self.shapes = net.shapes
        self.weights_below = weights_below
        self.nodes: list[_Node] = []
        self.tensors: dict[str, Tensor] = {}
        self.by_id: dict[int, str] = {}
        self.producers: dict[int, _Node] = {}

    def add(self, op: NetOp) -> None:
        """Declare the result, new operands and gradients of an operator.

        A result that nothing mentions is taken to have the shape of the first operand, as the artifact does.
        """
        result = self._declare(f"x{op.id}", self.shapes.get(op.id, op.operands[0].shape), Role.ACTIVATION, op.id_span)
        node = _Node(op, RULES[op.type], result)
        for position, operand in enumerate(op.operands):
            if operand.id < self.weights_below:
                node.weight = position
            if operand.id not in self.by_id:
                weight = operand.id < self.weights_below
                name = f"{'w' if weight else 'x'}{operand.id}"
                self.by_id[operand.id] = self._declare(name, self.shapes[operand.id], Role.WEIGHT if weight else Role.INPUT, operand.span)
            node.operands.append(self.by_id[operand.id])
        for position, operand in enumerate(op.operands):
            node.gradients.append(self._gradient(node, position, operand.span))
        self.by_id[op.id] = result
        self.producers[op.id] = node
        self.nodes.append(node)

    def add_loss(self) -> None:
        """Declare the gradient that the loss starts with."""
        last = self.nodes[-1]
        last.uses.append(self._declare_gradient(last.result, last.op.type_span))

    def _gradient(self, node: _Node, position: int, span: Span) -> str | None:
        number = node.op.operands[position].id
        producer = self.producers.get(number)
        constant = node.rule.weights is WeightUse.CONSTANT or number >= self.weights_below
        if producer is None and constant:
            return None
        name = self._declare_gradient(node.operands[position], span)
        if producer is not None:
            producer.uses.append(name)
        return name

    def _declare_gradient(self, of: str, span: Span) -> str:
        """Declare one more gradient of a tensor: ``dx7``, then ``dx7.2``."""
        name, count = f"d{of}", 1
        while name in self.tensors:
            count += 1
            name = f"d{of}.{count}"
        return self._declare(name, self.tensors[of].shape, Role.GRADIENT, span)

    def _declare(self, name: str, shape: tuple[int, ...], role: Role, span: Span) -> str:
        self.tensors[name] = Tensor(name, DTYPE, shape, role, {}, span)
        return name


def _schedule(nodes: list[_Node]) -> Iterator[Op]:
    for node in nodes:
        yield _kernel(node, node.rule.forward, "forward")
    yield _kernel(nodes[-1], LOSS, "loss")
    for node in reversed(nodes):
        yield from _backward(node)


def _backward(node: _Node) -> Iterator[Op]:
    if len(node.uses) > 1:
        yield _kernel(node, ACCUMULATE, "backward")
    for rule in node.rule.backward:
        if any(node.tensors(word) for word in rule.writes):
            yield _kernel(node, rule, "backward")
    if node.rule.update and node.weight is not None:
        yield _kernel(node, node.rule.update, "update")


def _kernel(node: _Node, rule: KernelRule, phase: str) -> Op:
    """One kernel; a tensor that a list names twice is in it once, at its first place."""
    reads = dict.fromkeys(name for word in rule.reads for name in node.tensors(word))
    writes = dict.fromkeys(name for word in rule.writes for name in node.tensors(word))
    attrs = {"phase": Ident(phase), "layer": str(node.op)}
    if rule.artifact != default_artifact_names()[rule.op]:
        attrs["kernel"] = rule.artifact
    return Op(rule.op, tuple(reads), tuple(writes), attrs, node.op.type_span)
