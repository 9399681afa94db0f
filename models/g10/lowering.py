"""From calls of operators to a training step: tensors first, then kernels.

Tensors are declared in the order in which the artifact makes them (``analysis.cc``, ``transformer_op_datalow_pass`` and
``layer_first_pass_dataflow``), which each rule's ``declares`` states. The n-th tensor here is tensor n there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.program import Op, Role, Tensor
from g10c.ir.source import Span
from g10c.ir.values import Ident
from g10c.models.g10.artifact_names import default_artifact_names
from g10c.models.g10.calls import Call, Value, has_gradient
from g10c.models.g10.rule_form import ACCUMULATE, LOSS, KernelRule


@dataclass(slots=True)
class _Node:
    """A call with the names of its tensors.

    ``uses`` holds the gradients of its result, in the order of the uses: a name, or a call that shares the gradient of its own result.
    """

    call: Call
    gradients: list[str | None]
    own_gradients: dict[str, str] = field(default_factory=dict)
    uses: list[str | _Node] = field(default_factory=list)

    def tensors(self, word: str) -> list[str]:
        """The tensors that a word of :mod:`~g10c.models.g10.rule_form` stands for, in order; none where there is none."""
        match word:
            case "y":
                return [self.call.result.name]
            case "dy":
                return self._use_gradients()[:1]
            case "all_dy":
                return self._use_gradients()
            case "operands":
                return [operand.name for operand in self.call.operands]
            case "gradients":
                return [name for name in self.gradients if name]
        if word in self.call.own:
            return [self.call.own[word].name]
        if word in self.own_gradients:
            return [self.own_gradients[word]]
        position = self._position(word[-1]) if len(word.removeprefix("d")) == 1 else None
        if position is None:
            return []
        name = self.gradients[position] if word.startswith("d") else self.call.operands[position].name
        return [name] if name else []

    def positions(self, word: str) -> list[int]:
        """The operands whose gradients a word of a rule declares."""
        if word == "gradients":
            return list(range(len(self.call.operands)))
        position = self._position(word[-1]) if word in ("da", "db", "dx") else None
        return [] if position is None else [position]

    def _position(self, letter: str) -> int | None:
        weight = self.call.weight
        if letter in "ab":
            return "ab".index(letter)
        if letter == "w":
            return weight
        if letter == "x" and weight is None:
            return 0 if len(self.call.operands) == 1 else None
        return 1 - weight if letter == "x" and weight is not None else None

    def _use_gradients(self) -> list[str]:
        """A sum takes the place of a gradient that no other tensor shares, where there is one."""
        names = [use if isinstance(use, str) else use.tensors("dy")[0] for use in self.uses]
        shared = [not isinstance(use, str) for use in self.uses]
        return [name for _, name in sorted(zip(shared, names, strict=True), key=lambda pair: pair[0])]


@dataclass(frozen=True, slots=True)
class Lowered:
    """Tensors and kernels of a training step, without times."""

    tensors: tuple[Tensor, ...]
    kernels: tuple[Op, ...]


def lower(calls: Iterable[Call]) -> Lowered:
    """Lower calls in order of execution.

    The step is the forward kernels in order, one loss kernel on the last result, then the backward and update kernels of the operators in
    reverse. Raises :class:`~g10c.ir.errors.InputError` for results, other than the last, that nothing reads.
    """
    flow = _Dataflow()
    for call in calls:
        flow.add(call)
    flow.add_loss()
    unused = [node.call for node in flow.nodes if not node.uses and node.call.rule.differentiable]
    if unused:
        hint = "only the result of the last operator may be unused: the loss is taken of it"
        raise InputError([Diagnostic(f"nothing reads the result of {call.label}", call.result.span, hint) for call in unused])
    return Lowered(tuple(flow.tensors.values()), tuple(_schedule(flow.nodes)))


class _Dataflow:
    """Declares the tensors of one call after the other."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.nodes: list[_Node] = []
        self.tensors: dict[str, Tensor] = {}

    def add(self, call: Call) -> None:
        """Declare what a call's rule says, in its order."""
        node = _Node(call, [None] * len(call.operands))
        self.calls.append(call)
        self.nodes.append(node)
        for word in call.rule.declares:
            self._declare_word(node, word)
        if call.rule.shares_gradient:
            for operand in call.operands:
                if operand.producer is not None:
                    self.nodes[operand.producer].uses.append(node)

    def add_loss(self) -> None:
        """Declare the gradient that the loss starts with."""
        last = self.nodes[-1]
        last.uses.append(self._declare_gradient(last.call.result, last.call.location))

    def _declare_word(self, node: _Node, word: str) -> None:
        call = node.call
        if word == "y":
            self._declare(call.result)
        elif word == "operands":
            for operand in call.operands:
                self._declare(operand)
        elif word in call.own:
            self._declare(call.own[word])
        elif word[1:] in call.own:
            node.own_gradients[word] = self._declare_gradient(call.own[word[1:]], call.location)
        else:
            for position in node.positions(word):
                node.gradients[position] = self._gradient(call, call.operands[position])

    def _gradient(self, call: Call, operand: Value) -> str | None:
        if not has_gradient(operand, call, self.calls):
            return None
        name = self._declare_gradient(operand, operand.span)
        if operand.producer is not None:
            self.nodes[operand.producer].uses.append(name)
        return name

    def _declare_gradient(self, of: Value, span: Span) -> str:
        """Declare one more gradient of a tensor: ``dx7``, then ``dx7.2``."""
        name, count = of.gradient, 1
        while name in self.tensors:
            count += 1
            name = f"{of.gradient}.{count}"
        self.tensors[name] = Tensor(name, of.dtype, of.shape, Role.GRADIENT, {}, span)
        return name

    def _declare(self, value: Value) -> None:
        """Declare a tensor where it is new: an operand may be known, and a result may be an operand that is changed in place."""
        if value.name not in self.tensors:
            self.tensors[value.name] = Tensor(value.name, value.dtype, value.shape, value.role, {}, value.span)


def _schedule(nodes: list[_Node]) -> Iterator[Op]:
    for node in nodes:
        yield _kernel(node, node.call.rule.forward, "forward")
    yield _kernel(nodes[-1], LOSS, "loss")
    for node in reversed(nodes):
        yield from _backward(node)


def _backward(node: _Node) -> Iterator[Op]:
    if len(node.uses) > 1:
        yield _kernel(node, ACCUMULATE, "backward")
    for rule in node.call.rule.backward:
        if any(node.tensors(word) for word in rule.writes):
            yield _kernel(node, rule, rule.phase)


def _kernel(node: _Node, rule: KernelRule, phase: str) -> Op:
    """One kernel; a tensor that a list names twice is in it once, at its first place."""
    reads = dict.fromkeys(name for word in rule.reads for name in node.tensors(word))
    writes = dict.fromkeys(name for word in rule.writes for name in node.tensors(word))
    attrs = {"phase": Ident(phase), "layer": node.call.label}
    if rule.artifact != default_artifact_names()[rule.op]:
        attrs["kernel"] = rule.artifact
    return Op(rule.op, tuple(reads), tuple(writes), attrs, node.call.location)
