"""Optimizers: the state they keep for each weight, and what an update costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from g10c.models.transformer.roofline import Cost
from g10c.models.transformer.rules import Value

MASTER = "master"
"""Suffix of a weight's f32 copy under mixed precision (Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.1)."""


@dataclass(frozen=True, slots=True)
class Optimizer:
    """``states`` are the suffixes of the f32 tensors kept per weight; ``flops`` counts operations per element of one update."""

    states: tuple[str, ...]
    flops: int

    def cost(self, weight: Value, gradient: Value, states: Sequence[Value]) -> Cost:
        """Cost of one weight's update in one kernel: all is read and written, but a weight with a master copy is only written."""
        has_master = any(state.name.endswith(f".{MASTER}") for state in states)
        traffic = gradient.size_bytes + (1 if has_master else 2) * weight.size_bytes + 2 * sum(state.size_bytes for state in states)
        return Cost(self.flops * weight.elements, traffic)


OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": Optimizer((), 2),
    "momentum": Optimizer(("m",), 4),
    "adam": Optimizer(("m", "v"), 12),
    "adamw": Optimizer(("m", "v"), 14),
}
"""Optimizers by the name that the option ``optimizer`` takes: plain and heavy-ball gradient descent, Adam (Kingma and Ba, ICLR 2015,
algorithm 1: first and second moment) and AdamW (Loshchilov and Hutter, ICLR 2019: the same state, decoupled weight decay)."""
