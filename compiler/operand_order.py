"""The order in which a runtime takes up the tensors of a kernel: as listed, or as G10's artifact has them in its hash sets.

The artifact keeps operands in ``std::unordered_set<Tensor*>`` (``CUDAKernel::getRequiredTensors``), so their order follows from addresses.
Its tensors are allocated one after another, so that addresses grow evenly with the numbers of tensors, and the buckets of libstdc++ follow
from numbers alone: 13 of them at first. Where other allocations came in between this is wrong; of the kernels with several new tensors 97%
are right in ResNet152, 70% in Inceptionv3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from g10c.ir.step import Kernel

OperandOrder: TypeAlias = Literal["listed", "artifact"]

BUCKETS = (13, 29, 59, 127, 257, 541, 1109, 2357)
"""Sizes of the table as it grows (``_Prime_rehash_policy``: the next prime of its list from twice the last)."""


def operands_of(kernel: Kernel, order: OperandOrder) -> tuple[int, ...]:
    """The tensors of a kernel, each once."""
    if order == "listed":
        return kernel.operands
    return hash_order((*hash_order(kernel.reads), *hash_order(kernel.writes)))


def hash_order(numbers: Sequence[int]) -> tuple[int, ...]:
    """Numbers in the order in which an ``unordered_set`` iterates into which they were put one by one."""
    kept: list[int] = []
    buckets = BUCKETS[0]
    for number in dict.fromkeys(numbers):
        if len(kept) == buckets:
            buckets = next((size for size in BUCKETS if size > buckets), buckets * 2 + 1)
            before, kept = kept, []
            for other in before:
                _insert(kept, other, buckets)
        _insert(kept, number, buckets)
    return tuple(kept)


def _insert(kept: list[int], number: int, buckets: int) -> None:
    """A new element comes first in its bucket, and the bucket first of all if it was empty."""
    bucket = number % buckets
    kept.insert(next((place for place, other in enumerate(kept) if other % buckets == bucket), 0), number)
