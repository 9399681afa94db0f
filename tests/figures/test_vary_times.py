"""The pass that varies kernel times."""

from __future__ import annotations

import pytest

from g10c.compiler import compile  # noqa: A004 - the API's verb
from g10c.ir.errors import InputError
from g10c.ir.parser import parse_program
from g10c.passes.vary_times import _fractions

KERNELS = 200
TEXT = (
    "g10c.ir 1\nprogram p\n\ntensor %x : u8[8]  weight\n\n"
    + '%x = kernel(%x)  {time = 1ms, all_fault_time = 3ms, kernel = "k"}\n' * KERNELS
)


def times(pipeline: str) -> list[tuple[int, int]]:
    program = compile(parse_program(TEXT), pipeline, "a100-40gb").program
    return [(int(op.attrs["time"]), int(op.attrs["all_fault_time"])) for op in program.ops]


def test_factors_are_even_within_the_bounds():
    factors = [time / 1e6 for time, _ in times("vary-times{by=0.2}")]
    assert 0.8 <= min(factors) < 0.83
    assert 1.17 < max(factors) <= 1.2
    assert abs(sum(factors) / KERNELS - 1) < 0.02


def test_all_times_of_a_kernel_have_one_factor():
    assert all(abs(fault - 3 * time) <= 2 for time, fault in times("vary-times{by=0.2}"))


def test_a_seed_decides():
    assert times("vary-times{by=0.1}") == times("vary-times{by=0.1,seed=5489}") != times("vary-times{by=0.1,seed=2}")
    assert set(times("vary-times{by=0}")) == {(1_000_000, 3_000_000)}


def test_the_generator_is_that_of_cpp():
    """The standard demands that the 10000th word of a default ``std::mt19937`` is 4123659995."""
    fractions = _fractions(5489)
    last = [next(fractions) for _ in range(5000)][-1]
    assert int(last * 2**64) >> 32 == 4123659995


def test_a_seed_has_32_bits():
    for seed in (-1, 2**32):
        with pytest.raises(InputError, match="expected 0 to 4294967295"):
            times(f"vary-times{{by=0.1,seed={seed}}}")


@pytest.mark.parametrize("by", ["1", "-0.1", "1.5"])
def test_factors_stay_above_zero(by):
    with pytest.raises(InputError, match="expected 0 or more, and less than 1"):
        times(f"vary-times{{by={by}}}")
