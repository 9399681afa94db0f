"""The order of a kernel's tensors in the artifact's hash sets; the expectations are orders that its runs print."""

from __future__ import annotations

import pytest

from g10c.compiler.operand_order import hash_order, operands_of
from g10c.ir.step import Kernel

# ResNet152, batch 1280: the first batch normalisation, its backward; the artifact allocates tensor 11, then 12, then 5.
FORWARD = Kernel("BatchNorm2d_Forward", 1, 1, 1, (1, 7, 17, 18), (17, 18, 5, 9, 10, 11, 12))


def test_the_artifacts_order_of_a_batch_normalisation():
    assert [tensor for tensor in operands_of(FORWARD, "artifact") if tensor in (5, 11, 12)] == [11, 12, 5]
    assert [tensor for tensor in operands_of(FORWARD, "listed") if tensor in (5, 11, 12)] == [5, 11, 12]


def test_both_orders_have_each_tensor_once():
    assert sorted(operands_of(FORWARD, "artifact")) == sorted(operands_of(FORWARD, "listed")) == [1, 5, 7, 9, 10, 11, 12, 17, 18]
    assert FORWARD.operands == (5, 9, 10, 11, 12, 1, 7, 17, 18)


@pytest.mark.parametrize("count", [0, 1, 13, 14, 30, 3000])
def test_tables_grow(count):
    numbers = [7 * number for number in range(count)]
    assert sorted(hash_order(numbers + numbers)) == numbers


def test_the_newest_bucket_comes_first():
    assert hash_order((1, 2, 3)) == (3, 2, 1)
    assert hash_order((1, 2, 14)) == (2, 14, 1)  # 1 and 14 share a bucket
