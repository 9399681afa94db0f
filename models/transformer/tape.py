"""A recorded forward pass, and the training step derived from it.

:class:`Tape` emits a forward kernel for every call of a rule. :meth:`Tape.backward` walks the calls in reverse and emits the backward
kernels of each rule, a sum where a value has several uses, and :meth:`Tape.update` the optimizer. Order and names are deterministic:
the gradient of ``x`` is ``x.grad``, its parts before the sum are ``x.grad.1``, ``x.grad.2`` in order of computation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from g10c.ir.program import DTYPE_BYTES, Op, Program, Role, Tensor
from g10c.ir.source import Origin
from g10c.ir.values import Ident, Time
from g10c.ir.values import Value as Attr
from g10c.models.transformer.optimizer import MASTER, Optimizer
from g10c.models.transformer.roofline import Cost, Roofline
from g10c.models.transformer.rules import RULES, Call, Kernel, Result, Shape, Value


@dataclass(slots=True, eq=False)
class Tape:
    """Builds one training step. ``dtype`` is that of weights, activations and gradients; optimizer state is f32.

    With a 16-bit ``dtype`` every weight also has an f32 master copy, which the optimizer updates and rounds to the weight.
    ``layer`` and ``phase`` are those of the calls that follow.
    """

    dtype: str
    roofline: Roofline
    optimizer: Optimizer
    update_in_backward: bool = False
    layer: str = ""
    phase: str = "forward"
    _tensors: dict[str, Tensor] = field(default_factory=dict)
    _ops: list[Op] = field(default_factory=list)
    _calls: list[Call] = field(default_factory=list)
    _weights: dict[str, Value] = field(default_factory=dict)
    _states: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    _uses: Counter[str] = field(default_factory=Counter)
    _parts: dict[str, list[Value]] = field(default_factory=lambda: defaultdict(list))
    _gradients: dict[str, Value] = field(default_factory=dict)

    def weight(self, name: str, *shape: int) -> Value:
        """Declare a weight and the optimizer's state of it."""
        weight = self._declare(Value(name, shape, self.dtype, Role.WEIGHT, self.layer, needs_grad=True))
        suffixes = ((MASTER,) if DTYPE_BYTES[self.dtype] < 4 else ()) + self.optimizer.states
        states = (Value(f"{name}.{suffix}", shape, "f32", Role.OPTIMIZER, self.layer) for suffix in suffixes)
        self._states[name] = tuple(self._declare(state) for state in states)
        self._weights[name] = weight
        return weight

    def input(self, name: str, *shape: int, dtype: str = "i32") -> Value:
        """Declare an input of the step."""
        return self._declare(Value(name, shape, dtype, Role.INPUT, self.layer))

    def call(
        self, rule_name: str, name: str, operands: Mapping[str, Value | None], shape: Shape = (), dims: Mapping[str, int] | None = None
    ) -> tuple[Value, ...]:
        """Record a use of a rule and emit its forward kernel; returns the results.

        The result in slot ``y`` is called ``name``, another one ``name.slot``. Operands that are ``None`` are left out.
        """
        rule = RULES[rule_name]
        call = Call(rule, name, self.layer, {slot: value for slot, value in operands.items() if value is not None}, shape, dims or {})
        differentiable = any(value.needs_grad for value in call.slots.values())
        results = []
        for result in rule.results:
            value = self._declare(self._result(call, result, Role.ACTIVATION, differentiable))
            call.slots[result.slot] = value
            results.append(value)
        reads = [call.slots[slot] for slot in rule.forward.reads if slot in call.slots]
        self._emit(rule.forward.op, reads, results, rule.forward.cost(call), call.layer, self.phase)
        self._calls.append(call)
        return tuple(results)

    def apply(self, rule_name: str, name: str, *operands: Value | None, shape: Shape = (), **dims: int) -> Value:
        """:meth:`call` with the operands in the rule's order; returns the first result."""
        slots = dict(zip(RULES[rule_name].operands, operands, strict=False))
        return self.call(rule_name, name, slots, shape, dims)[0]

    def backward(self) -> None:
        """Emit the backward pass of all calls, from the losses, whose gradients are one.

        Raises ``ValueError`` when a result that needs a gradient is used by nothing.
        """
        for call in self._calls:
            self._uses.update(call.slots[slot].name for slot in _differentiated(call))
        for call in reversed(self._calls):
            self._backward_call(call)

    def update(self) -> None:
        """Emit the optimizer for the weights that have not been updated, in order of declaration."""
        for name, weight in self._weights.items():
            if not self.update_in_backward:
                self._apply_grad(weight, self._gradients[name])

    def program(self, name: str, attrs: Mapping[str, Attr]) -> Program:
        """The step as a program."""
        return Program(name, dict(self._tensors), tuple(self._ops), dict(attrs), Origin(f"transformer {name}"))

    def _result(self, call: Call, result: Result, role: Role, needs_grad: bool = False) -> Value:
        name = call.name if result.slot == "y" else f"{call.name}.{result.slot}"
        dtype = result.dtype or call.slots[call.rule.operands[0]].dtype
        return Value(name, result.shape(call), dtype, role, call.layer, needs_grad and result.dtype is None)

    def _declare(self, value: Value) -> Value:
        if value.name in self._tensors:
            raise ValueError(f"tensor {value.name!r} is declared twice")
        origin = Origin(f"transformer {value.layer}")
        self._tensors[value.name] = Tensor(value.name, value.dtype, value.shape, value.role, {}, origin)
        return value

    def _backward_call(self, call: Call) -> None:
        gradients = {f"d{result.slot}": self._gradient(call.slots[result.slot]) for result in call.rule.results}
        for slot in _passed(call):
            upstream = gradients["dy"]
            if upstream is None:
                raise ValueError(f"{call.name}: nothing that leads to the loss uses it")
            self._parts[call.slots[slot].name].append(upstream)
        for kernel in call.rule.backward:
            if wanted := _computed(kernel, call):
                self._backward_kernel(kernel, call, wanted, gradients)
        for slot in call.rule.operands:
            if slot in call.slots:
                self._finish_weight(call.slots[slot])

    def _backward_kernel(self, kernel: Kernel, call: Call, wanted: Sequence[str], gradients: Mapping[str, Value | None]) -> None:
        unused = [slot for slot in kernel.reads if slot in gradients and gradients[slot] is None]
        if unused:
            raise ValueError(f"{call.name}: {kernel.op} needs {unused[0]}, but nothing that leads to the loss uses {unused[0][1:]}")
        reads = [value for slot in kernel.reads if (value := gradients.get(slot) or call.slots.get(slot)) is not None]
        writes = [self._new_part(call.slots[slot]) for slot in wanted]
        workspaces = [self._declare(self._result(call, result, Role.WORKSPACE)) for result in kernel.workspace]
        self._emit(kernel.op, reads, [*writes, *workspaces], kernel.cost(call), call.layer, "backward")
        for slot, part in zip(wanted, writes, strict=True):
            self._parts[call.slots[slot].name].append(part)

    def _new_part(self, value: Value) -> Value:
        single = self._uses[value.name] == 1
        name = f"{value.name}.grad" if single else f"{value.name}.grad.{len(self._parts[value.name]) + 1}"
        return self._declare(Value(name, value.shape, value.dtype, Role.GRADIENT, value.layer))

    def _gradient(self, value: Value) -> Value | None:
        """The whole gradient of a value, summed on first demand; ``None`` for the loss and what has none."""
        parts = self._parts[value.name]
        if not parts:
            return None
        if value.name not in self._gradients:
            self._gradients[value.name] = parts[0] if len(parts) == 1 else self._accumulate(value, parts)
        return self._gradients[value.name]

    def _accumulate(self, value: Value, parts: Sequence[Value]) -> Value:
        total = self._declare(Value(f"{value.name}.grad", value.shape, value.dtype, Role.GRADIENT, value.layer))
        cost = Cost((len(parts) - 1) * value.elements, (len(parts) + 1) * value.size_bytes)
        self._emit("accumulate", parts, [total], cost, value.layer, "backward")
        return total

    def _finish_weight(self, weight: Value) -> None:
        if weight.role is not Role.WEIGHT or len(self._parts[weight.name]) < self._uses[weight.name]:
            return
        gradient = self._gradient(weight)
        if gradient is not None and self.update_in_backward:
            self._apply_grad(weight, gradient)

    def _apply_grad(self, weight: Value, gradient: Value) -> None:
        states = self._states[weight.name]
        cost = self.optimizer.cost(weight, gradient, states)
        self._emit("apply_grad", [weight, gradient, *states], [weight, *states], cost, weight.layer, "update")

    def _emit(self, name: str, reads: Sequence[Value], writes: Sequence[Value], cost: Cost, layer: str, phase: str) -> None:
        attrs: dict[str, Attr] = {
            "time": Time(self.roofline.time_ns(cost)),
            "phase": Ident(phase),
            "layer": layer,
            "flops": cost.flops,
        }
        origin = Origin(f"transformer {layer}")
        self._ops.append(Op(name, tuple(value.name for value in reads), tuple(value.name for value in writes), attrs, origin))


def _passed(call: Call) -> list[str]:
    """Operands that receive the gradient of the result as it is."""
    return [slot for slot in call.rule.passes if call.slots[slot].needs_grad and call.slots[slot].shape == call.slots["y"].shape]


def _computed(kernel: Kernel, call: Call) -> list[str]:
    """Operands whose gradients a backward kernel computes in this call."""
    passed = _passed(call)
    slots = [gradient[1:] for gradient in kernel.writes]
    return [slot for slot in slots if slot in call.slots and slot not in passed and call.slots[slot].needs_grad]


def _differentiated(call: Call) -> Iterator[str]:
    """Operands that receive a gradient in this call."""
    yield from _passed(call)
    for kernel in call.rule.backward:
        yield from _computed(kernel, call)
