"""What each operator of a transformer network becomes: one rule per operator type.

The rules state the kernels that the artifact schedules (``analysis.cc``, ``transformer_scheduling_kernels``), with the tensors in the
order in which it enters them. A kernel is written ``"reads -> writes"`` in these words:

=============  =====================================================================================
``y`` ``dy``   the result and its gradient, after the gradients of all its uses have been summed
``a`` ``b``    the first and the second operand
``da`` ``db``  their gradients
``w`` ``dw``   the operand that is a weight, and its gradient
``x`` ``dx``   the operand that is not, and its gradient
``operands``   all operands in order
``gradients``  the gradients of all operands in order, without those that have none
``all_dy``     the gradients of all uses of the result, in the order of the uses
=============  =====================================================================================

An operand has a gradient when it is a weight or the result of an operator. A kernel none of whose results exist is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import chain

from g10c.ir.program import Op


class WeightUse(Enum):
    """How many weights an operator takes, and what for."""

    NONE = "no operand is a weight"
    ONE = "exactly one operand is a weight"
    AT_MOST_ONE = "at most one operand is a weight"
    CONSTANT = "only the second operand is a weight, and it is a constant: without gradient and update"


@dataclass(frozen=True, slots=True)
class KernelRule:
    """A kernel: its op name, the artifact's name of it, and what it reads and writes in the words of this module."""

    op: str
    artifact: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpRule:
    """An operator type: its number of operands, the use of weights, and the kernels of each phase in order.

    The update runs right after the operator's backward kernels, and only where an operand is a weight.
    """

    operands: int
    weights: WeightUse
    forward: KernelRule
    backward: tuple[KernelRule, ...]
    update: KernelRule | None = None


def _kernel(op: str, artifact: str, signature: str) -> KernelRule:
    reads, _, writes = signature.partition(" -> ")
    return KernelRule(op, artifact, tuple(reads.split()), tuple(writes.split()))


def _forward(op: str, artifact: str) -> KernelRule:
    return _kernel(op, artifact, "operands -> y")


_GRADIENT_THEN_WEIGHT = _kernel("apply_grad", "Apply_Grad", "dw w -> w")
_WEIGHT_THEN_GRADIENT = _kernel("apply_grad", "Apply_Grad", "w dw -> w")


def _unary(op: str, artifact: str, backward: str) -> OpRule:
    forward = _forward(f"{op}.forward", f"{artifact}_Forward")
    return OpRule(1, WeightUse.NONE, forward, (_kernel(f"{op}.backward", f"{artifact}_Backward", backward),))


def _binary(op: str, artifact: str, *backward: KernelRule) -> OpRule:
    return OpRule(2, WeightUse.AT_MOST_ONE, _forward(f"{op}.forward", f"{artifact}_Forward"), backward, _WEIGHT_THEN_GRADIENT)


RULES: dict[str, OpRule] = {
    "GatherV2": OpRule(
        2,
        WeightUse.ONE,
        _forward("gather.forward", "GatherV2_Forward"),
        (_kernel("gather.backward", "GatherV2_Backward", "dy x -> dw dx"),),
        _GRADIENT_THEN_WEIGHT,
    ),
    "Dot": OpRule(
        2,
        WeightUse.ONE,
        _forward("linear.forward", "Linear_Forward"),
        (
            _kernel("linear.backward_weight", "Linear_Backward_Weight", "dy x -> dw"),
            _kernel("linear.backward_input", "Linear_Backward_Input", "w dy -> dx"),
        ),
        _kernel("apply_grad", "Linear_Apply_Grad_Weight", "dw w -> w"),
    ),
    "Convolution": OpRule(
        2,
        WeightUse.ONE,
        _forward("conv2d.forward", "Conv2d_Forward"),
        (
            _kernel("conv2d.backward_weight", "Conv2d_Backward_Weight", "dy x -> dw"),
            _kernel("conv2d.backward_input", "Conv2d_Backward_Input", "dy w -> dx"),
        ),
        _GRADIENT_THEN_WEIGHT,
    ),
    "Relu": _unary("relu", "ReLU", "a dy -> da"),
    "SoftmaxBasic": _unary("softmax", "SoftmaxBasic", "a dy -> da"),
    "Sqrt": _unary("sqrt", "Sqrt", "dy a -> da"),
    "Sum": _unary("sum", "Sum", "dy a -> da"),
    "Tanh": _unary("tanh", "Tanh", "dy a -> da"),
    "Erf": _unary("erf", "Erf", "dy a -> da"),
    "Add": _binary("add", "Add", _kernel("add.backward", "Add_Backward", "dy -> gradients")),
    "Subtract": _binary("subtract", "Subtract", _kernel("subtract.backward", "Subtract_Backward", "dy -> gradients")),
    "Multiply": _binary(
        "multiply",
        "Multiply",
        _kernel("multiply.backward_a", "Multiply_Backward", "dy b -> da"),
        _kernel("multiply.backward_b", "Multiply_Backward", "dy a -> db"),
    ),
    "Divide": _binary(
        "divide",
        "Divide",
        _kernel("divide.backward_a", "Divide_Backward_A", "b dy -> da"),
        _kernel("divide.backward_b", "Divide_Backward_B", "b y dy -> db"),
    ),
    "BatchMatMul": _binary(
        "matmul",
        "BatchMatMul",
        _kernel("matmul.backward_a", "BatchMatMul_Backward", "dy b -> da"),
        _kernel("matmul.backward_b", "BatchMatMul_Backward", "dy a -> db"),
    ),
    "Power": OpRule(
        2,
        WeightUse.CONSTANT,
        _forward("power.forward", "Power_Forward"),
        (_kernel("power.backward", "Power_Backward", "dy a b -> da"),),
    ),
}
"""Rules by the operator type that a network file names."""

LOSS = _kernel("loss", "makeLoss", "y -> dy")
"""After the forward kernels, on the result of the last operator."""

ACCUMULATE = _kernel("accumulate", "Add_MultiGredient", "all_dy -> dy")
"""Before the backward kernels of an operator whose result has several uses; the sum takes the place of the first gradient."""


@cache
def default_artifact_names() -> dict[str, str]:
    """The artifact's kernel name for each op name; where it has several, the first in this module.

    One to one, but for ``multiply.backward_a`` and ``_b``, and ``matmul.backward_a`` and ``_b``, which the artifact does not tell apart,
    and for ``apply_grad``, of which it tells two kinds apart.
    """
    names: dict[str, str] = {}
    for kernel in (LOSS, ACCUMULATE, *chain.from_iterable(map(_kernels, RULES.values()))):
        names.setdefault(kernel.op, kernel.artifact)
    return names


def _kernels(rule: OpRule) -> tuple[KernelRule, ...]:
    return (rule.forward, *rule.backward, *((rule.update,) if rule.update else ()))


def artifact_name(op: Op) -> str:
    """What the artifact calls a kernel of an imported program; the attribute ``kernel`` has it where the op's name does not decide it."""
    kernel = op.attrs.get("kernel")
    return default_artifact_names().get(op.name, op.name) if kernel is None else str(kernel)
