"""The form of the lowering's tables: what each operator or layer becomes, in words for its tensors.

A kernel is written ``"reads -> writes"`` in these words:

=============  =====================================================================================
``y`` ``dy``   the result and its gradient, after the gradients of all its uses have been summed
``a`` ``b``    the first and the second operand
``da`` ``db``  their gradients
``w`` ``dw``   the weight (an operand, or the layer's own), and its gradient
``x`` ``dx``   the operand that is no weight, and its gradient
``operands``   all operands in order
``gradients``  the gradients of all operands in order, without those that have none
``all_dy``     the gradients of all uses of the result, in the order of the uses
other words    what the layer keeps (``bias``), or an :class:`Own` of its rule; ``d`` before it is its gradient
=============  =====================================================================================

An operand has a gradient when it is a weight or the result of an operator. A word for what is not there stands for nothing, and a backward
or update kernel none of whose results exist is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from g10c.ir.program import Role

DTYPE = "f32"
Shape: TypeAlias = tuple[int, ...]


class WeightUse(Enum):
    """How many operands of an operator are weights, and what for."""

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

    @property
    def phase(self) -> str:
        """The phase of a kernel that does not run forward."""
        return "update" if self.op == "apply_grad" else "backward"


@dataclass(frozen=True, slots=True)
class Own:
    """A tensor that a layer has for itself, beside what it keeps: word, shape (from those of operand and result), role and data type."""

    word: str
    shape: Callable[[Shape, Shape], Shape]
    role: Role
    dtype: str = DTYPE


@dataclass(frozen=True, slots=True)
class OpRule:
    """What one type of operators becomes: its forward kernel, and the backward and update kernels in their order.

    ``declares`` lists, in the words of this module, the tensors that come into being with it, in order. ``operands`` and ``weights``
    say what an operator of a list takes. ``shares_gradient``: its operands have no gradients of their own, but that of its result.
    ``differentiable``: whether its result has a gradient.
    """

    forward: KernelRule
    backward: tuple[KernelRule, ...] = ()
    declares: tuple[str, ...] = ("y", "operands", "gradients")
    operands: int = 1
    weights: WeightUse = WeightUse.NONE
    own: tuple[Own, ...] = ()
    shares_gradient: bool = False
    differentiable: bool = True

    @property
    def kernels(self) -> tuple[KernelRule, ...]:
        """All kernels."""
        return (self.forward, *self.backward)


def kernel(op: str, artifact: str, signature: str) -> KernelRule:
    """A kernel of a table; the signature is ``"reads -> writes"``."""
    reads, _, writes = signature.partition("->")
    return KernelRule(op, artifact, tuple(reads.split()), tuple(writes.split()))


LOSS = kernel("loss", "makeLoss", "y -> dy")
"""After the forward kernels, on the result of the last operator."""

ACCUMULATE = kernel("accumulate", "Add_MultiGredient", "all_dy -> dy")
"""Before the backward kernels of an operator whose result has several uses; the sum takes the place of the first gradient."""
