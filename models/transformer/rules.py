"""What every op of a network costs, what its backward reads, and which kernels compute it.

One :class:`Rule` per op, in the table :data:`RULES`. A rule names its operands and results as *slots*; ``d`` before a slot is the
gradient of it. Slots that backward kernels read and forward kernels hold are the *saved* tensors: they alone keep activations alive.
A new op needs one entry here; nothing else knows ops by name.

Floating-point operations count each addition, multiplication, comparison and elementary function as one; a multiply-accumulate is two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from g10c.ir.program import DTYPE_BYTES, Role
from g10c.models.transformer.roofline import Cost

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor while a step is built; ``layer`` is the block that declares it."""

    name: str
    shape: Shape
    dtype: str
    role: Role
    layer: str
    needs_grad: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Exact bytes."""
        return self.elements * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One use of a rule: its operands and results by slot.

    ``shape`` is the result's where operands do not determine it. ``dims`` holds what else the rule asks for:
    ``inner`` (length of the sums of a matmul), ``heads`` and ``causal`` (1 or 0) of attention, ``parts`` of a split.
    """

    rule: Rule
    name: str
    layer: str
    slots: dict[str, Value]
    shape: Shape = ()
    dims: Mapping[str, int] = field(default_factory=dict)

    def value(self, slot: str) -> Value | None:
        """Value of a slot, or that whose gradient the slot is; ``None`` for an optional operand left out."""
        return self.slots.get(slot) or (self.slots.get(slot[1:]) if slot[:1] == "d" else None)

    def elements(self, slot: str) -> int:
        """Elements of a slot or gradient slot, 0 where it is left out."""
        value = self.value(slot)
        return value.elements if value else 0

    def size_bytes(self, slot: str) -> int:
        """Bytes of a slot or gradient slot, 0 where it is left out."""
        value = self.value(slot)
        return value.size_bytes if value else 0


Count = Callable[[Call], int]
ShapeOf = Callable[[Call], Shape]


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that a kernel makes: slot, shape, and data type where it is not that of the first operand.

    A result with a data type of its own (statistics, masks, losses) receives no gradient.
    """

    slot: str
    shape: ShapeOf
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a rule. Absent operands are left out of ``reads``; a kernel whose ``writes`` nobody wants does not run.

    ``traffic`` is the device memory moved in bytes; by default everything read and written, once.
    ``matrix`` marks kernels that run at the rate of matrix products. ``workspace`` lives during the kernel only.
    """

    op: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    flops: Count
    traffic: Count | None = None
    matrix: bool = False
    workspace: tuple[Result, ...] = ()

    def cost(self, call: Call) -> Cost:
        """Operations and memory traffic of the kernel in a call."""
        traffic = self.traffic(call) if self.traffic else sum(call.size_bytes(slot) for slot in self.reads + self.writes)
        return Cost(self.flops(call), traffic, self.matrix)


@dataclass(frozen=True, slots=True)
class Rule:
    """An op: results, forward kernel and backward kernels.

    Operands in ``passes`` that have the result's shape receive its gradient as it is, without a kernel.
    """

    operands: tuple[str, ...]
    results: tuple[Result, ...]
    forward: Kernel
    backward: tuple[Kernel, ...] = ()
    passes: tuple[str, ...] = ()

    @property
    def saved(self) -> tuple[str, ...]:
        """Slots of the forward pass that backward reads, in order of the operands, then of the results."""
        read = {slot for kernel in self.backward for slot in kernel.reads}
        return tuple(slot for slot in (*self.operands, *(result.slot for result in self.results)) if slot in read)


def like(slot: str) -> ShapeOf:
    """Shape of a slot."""
    return lambda call: call.slots[slot].shape


def rows(slot: str, *more: int) -> ShapeOf:
    """Shape of a slot without its last dimension, and ``more`` after it."""
    return lambda call: call.slots[slot].shape[:-1] + more


def each(slot: str, factor: int) -> Count:
    """``factor`` for each element of a slot."""
    return lambda call: factor * call.elements(slot)


def _linear_shape(call: Call) -> Shape:
    return (*call.slots["x"].shape[:-1], call.slots["w"].shape[0])


def _linear_product(call: Call) -> int:
    return 2 * call.elements("y") * call.slots["w"].shape[1]


def _linear_forward(call: Call) -> int:
    return _linear_product(call) + (call.elements("y") if "b" in call.slots else 0)


def _matmul_product(call: Call) -> int:
    return 2 * call.elements("y") * call.dims["inner"]


def _gathered(call: Call) -> Shape:
    return call.slots["index"].shape + call.slots["table"].shape[1:]


def _gather_traffic(call: Call) -> int:
    return call.size_bytes("index") + 2 * call.size_bytes("y")


def _scatter_traffic(call: Call) -> int:
    # The whole gradient is filled with zeros, then each row looked up is read, added to and written.
    return call.size_bytes("index") + call.size_bytes("dtable") + 3 * call.size_bytes("dy")


def _attention_products(count: int) -> Count:
    """``count`` products of sequence x sequence matrices per head; a causal kernel skips the masked half."""

    def flops(call: Call) -> int:
        return count * 2 * call.elements("q") * call.slots["k"].shape[1] // (2 if call.dims["causal"] else 1)

    return flops


def _attention_statistics(call: Call) -> Shape:
    batch, sequence, _ = call.slots["q"].shape
    return batch, call.dims["heads"], sequence


def _attention_backward_traffic(call: Call) -> int:
    slots = ("dy", "q", "k", "v", "y", "lse", "dq", "dk", "dv")
    # The f32 sum of the query's gradient is zeroed, added to and converted.
    return sum(call.size_bytes(slot) for slot in slots) + 3 * 4 * call.elements("q")


def _part(call: Call) -> Shape:
    *lead, width = call.slots["x"].shape
    return (*lead, width // call.dims["parts"])


def _elementwise(op: str, forward: int, backward: int, saved: str) -> Rule:
    """An activation function whose backward reads its input ``x`` or its output ``y``."""
    return Rule(
        ("x",),
        (Result("y", like("x")),),
        Kernel(f"{op}.forward", ("x",), ("y",), each("x", forward)),
        (Kernel(f"{op}.backward", ("dy", saved), ("dx",), each("x", backward)),),
    )


RULES: dict[str, Rule] = {
    "gather": Rule(
        ("table", "index"),
        (Result("y", _gathered),),
        Kernel("gather.forward", ("table", "index"), ("y",), each("y", 0), _gather_traffic),
        (Kernel("gather.backward", ("dy", "index"), ("dtable",), each("dy", 1), _scatter_traffic),),
    ),
    "add": Rule(  # b may lack leading dimensions of a; its gradient is then summed over them
        ("a", "b"),
        (Result("y", like("a")),),
        Kernel("add.forward", ("a", "b"), ("y",), each("y", 1)),
        (Kernel("add.backward_b", ("dy",), ("db",), each("dy", 1)),),
        passes=("a", "b"),
    ),
    "linear": Rule(  # y = x wᵀ + b with w of shape [out, in]
        ("x", "w", "b"),
        (Result("y", _linear_shape),),
        Kernel("linear.forward", ("x", "w", "b"), ("y",), _linear_forward, matrix=True),
        (
            Kernel("linear.backward_input", ("dy", "w"), ("dx",), _linear_product, matrix=True),
            Kernel("linear.backward_weight", ("dy", "x"), ("dw",), _linear_product, matrix=True),
            Kernel("linear.backward_bias", ("dy",), ("db",), each("dy", 1)),
        ),
    ),
    "matmul": Rule(
        ("a", "b"),
        (Result("y", lambda call: call.shape),),
        Kernel("matmul.forward", ("a", "b"), ("y",), _matmul_product, matrix=True),
        (
            Kernel("matmul.backward_a", ("dy", "b"), ("da",), _matmul_product, matrix=True),
            Kernel("matmul.backward_b", ("dy", "a"), ("db",), _matmul_product, matrix=True),
        ),
    ),
    "softmax": Rule(  # scales and masks its input as well: one kernel, as in Megatron-LM
        ("x", "mask"),
        (Result("y", like("x")),),
        Kernel("softmax.forward", ("x", "mask"), ("y",), each("x", 7)),
        (Kernel("softmax.backward", ("dy", "y"), ("dx",), each("x", 5)),),
    ),
    "attention": Rule(  # FlashAttention-2 (Dao, 2023): backward recomputes the scores, 5 products against 2; dropout needs no mask
        ("q", "k", "v", "mask"),
        (Result("y", like("q")), Result("lse", _attention_statistics, "f32")),
        Kernel("attention.forward", ("q", "k", "v", "mask"), ("y", "lse"), _attention_products(2), matrix=True),
        (
            Kernel(
                "attention.backward",
                ("dy", "q", "k", "v", "mask", "y", "lse"),
                ("dq", "dk", "dv"),
                _attention_products(5),
                _attention_backward_traffic,
                matrix=True,
                workspace=(Result("sum", like("q"), "f32"),),
            ),
        ),
    ),
    "layer_norm": Rule(  # stat: mean and reciprocal standard deviation of each row
        ("x", "w", "b"),
        (Result("y", like("x")), Result("stat", rows("x", 2), "f32")),
        Kernel("layer_norm.forward", ("x", "w", "b"), ("y", "stat"), each("x", 8)),
        (Kernel("layer_norm.backward", ("dy", "x", "stat", "w"), ("dx", "dw", "db"), each("x", 13)),),
    ),
    "dropout": Rule(  # the mask is one byte an element, as in PyTorch
        ("x",),
        (Result("y", like("x")), Result("mask", like("x"), "bool")),
        Kernel("dropout.forward", ("x",), ("y", "mask"), each("x", 2)),
        (Kernel("dropout.backward", ("dy", "mask"), ("dx",), each("x", 2)),),
    ),
    "gelu": _elementwise("gelu", 5, 10, "x"),
    "relu": _elementwise("relu", 1, 1, "y"),
    "tanh": _elementwise("tanh", 1, 3, "y"),
    "split": Rule(  # of the fused projection into query, key and value
        ("x",),
        (Result("q", _part), Result("k", _part), Result("v", _part)),
        Kernel("split.forward", ("x",), ("q", "k", "v"), each("x", 0)),
        (Kernel("split.backward", ("dq", "dk", "dv"), ("dx",), each("x", 0)),),
    ),
    "first_token": Rule(  # of every sequence; backward fills the rest of the gradient with zeros
        ("x",),
        (Result("y", lambda call: (call.slots["x"].shape[0], call.slots["x"].shape[-1])),),
        Kernel("copy.forward", ("x",), ("y",), each("y", 0), lambda call: 2 * call.size_bytes("y")),
        (Kernel("copy.backward", ("dy",), ("dx",), each("y", 0)),),
    ),
    "cross_entropy": Rule(  # mean over all labels; one kernel each way that keeps the logarithm of each row's sum, no softmax
        ("x", "labels"),
        (Result("loss", lambda _: (1,), "f32"), Result("lse", like("labels"), "f32")),
        Kernel("cross_entropy.forward", ("x", "labels"), ("loss", "lse"), each("x", 4)),
        (Kernel("cross_entropy.backward", ("x", "labels", "lse"), ("dx",), each("x", 3)),),
    ),
}
"""Every op that networks are built of."""
