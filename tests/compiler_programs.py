"""Small programs for tests, made without text."""

from __future__ import annotations

from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.values import Time


def chain(length: int = 3, elements: int = 1024) -> Program:
    """x0 -> x1 -> ... by relu kernels of 10 us each; x0 is the input."""
    tensors = [Tensor(f"x{n}", "f32", (elements,), Role.ACTIVATION if n else Role.INPUT) for n in range(length + 1)]
    ops = tuple(Op("relu.forward", (f"x{n}",), (f"x{n + 1}",), {"time": Time(10_000)}) for n in range(length))
    return Program("chain", {tensor.name: tensor for tensor in tensors}, ops)
