"""Small builders and questions about programs that the tests of the transformer builder share."""

from __future__ import annotations

from g10c.ir.program import Op, Program, Role, Tensor
from g10c.models.transformer.builder import TransformerBuilder


def build(**options: object) -> Program:
    """A step of a small network, unless options say otherwise."""
    small: dict[str, object] = {"layers": 2, "hidden": 16, "heads": 2, "vocab": 50, "positions": 24, "sequence": 8, "batch": 4}
    return TransformerBuilder(**{**small, **options}).load()  # type: ignore[arg-type]


def parameters(program: Program, prefix: str = "") -> int:
    """Elements of the weights whose names start with a prefix."""
    return sum(elements(t) for t in program.tensors.values() if t.role is Role.WEIGHT and t.name.startswith(prefix))


def elements(tensor: Tensor) -> int:
    product = 1
    for size in tensor.shape:
        product *= size
    return product


def time_ns(program: Program) -> int:
    return sum(op.time_ns for op in program.ops)


def flops(program: Program, *names: str) -> int:
    """Operations of the ops of these names, or of all."""
    return sum(int(str(op.attrs["flops"])) for op in program.ops if not names or op.name in names)


def phase(op: Op) -> str:
    return str(op.attrs["phase"])


def saved(program: Program) -> list[Tensor]:
    """Activations that the forward pass writes and the backward pass reads."""
    written = {name for op in program.ops if phase(op) != "backward" for name in op.writes}
    read = {name for op in program.ops if phase(op) == "backward" for name in op.reads}
    return [tensor for tensor in program.tensors.values() if tensor.name in written & read and tensor.role is Role.ACTIVATION]
