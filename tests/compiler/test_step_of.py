"""Programs as numbered steps and moves, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.compiler.step_of import moves_of, step_of, with_moves
from g10c.ir.errors import InputError, InternalError
from g10c.ir.program import Level, Op, Program, Role, Tensor, directive
from g10c.ir.source import Origin
from g10c.ir.step import Kernel, Move, StepTensor
from g10c.ir.values import Ident, Range, Time

TENSORS = (
    Tensor("w", "f32", (10,), Role.WEIGHT),
    Tensor("x", "f16", (3, 5), Role.INPUT),
    Tensor("h", "f32", (7,), Role.ACTIVATION),
    Tensor("m", "f32", (10,), Role.OPTIMIZER),
)
FORWARD = Op("linear.forward", ("x", "w"), ("h",), {"time": Time(100), "all_fault_time": Time(900), "output_fault_time": Time(400)})
LOSS = Op("loss", ("h",), ("h",), {"time": Time(50)})
UPDATE = Op("apply_grad", ("h", "w", "m"), ("w", "m"), {"time": Time(10), "all_fault_time": Time(3), "output_fault_time": Time(20)})
KERNELS = (FORWARD, LOSS, UPDATE)


def program(*ops: Op) -> Program:
    return Program("toy", {tensor.name: tensor for tensor in TENSORS}, ops)


def test_tensors_are_numbered_as_declared_and_kernels_as_issued():
    step = step_of(program(*KERNELS))
    assert step.name == "toy"
    assert step.tensors == (
        StepTensor("w", 40, True),
        StepTensor("x", 30, False),
        StepTensor("h", 28, False),
        StepTensor("m", 40, True),
    )
    assert step.kernels[0] == Kernel("linear.forward", 100, 900, 400, (1, 0), (2,))
    assert step.kernels[2].reads == (2, 0, 3)
    assert step.kernels[2].writes == (0, 3)
    assert step.ideal_time_ns == 160


def test_fault_times_default_to_the_time_and_never_fall():
    _, loss, update = step_of(program(*KERNELS)).kernels
    assert (loss.time_ns, loss.output_fault_time_ns, loss.all_fault_time_ns) == (50, 50, 50)
    assert (update.time_ns, update.output_fault_time_ns, update.all_fault_time_ns) == (10, 20, 20)


def test_slots_count_the_kernels_before_and_bytes_default_to_the_whole_tensor():
    ops = (
        directive("alloc", "h"),
        FORWARD,
        directive("evict", "w", "ssd", (8, 16)),
        directive("free", "x"),
        LOSS,
        UPDATE,
        directive("prefetch", "w", "host"),
    )
    assert moves_of(program(*ops)) == [
        Move(0, "alloc", 2, None, 0, 28),
        Move(1, "evict", 0, "ssd", 8, 16),
        Move(1, "free", 1, None, 0, 30),
        Move(3, "prefetch", 0, "host", 0, 40),
    ]
    assert step_of(program(*ops)) == step_of(program(*KERNELS))


def test_moves_replace_directives_and_stand_before_their_kernel():
    old = program(directive("free", "m"), *KERNELS, directive("free", "m"))
    place = Origin("migrate")
    new = with_moves(old, [Move(2, "evict", 0, "host", 0, 40), Move(0, "alloc", 2, None, 4, 28), Move(2, "free", 1, None, 0, 30)], place)
    assert [op.name for op in new.ops] == ["alloc", "linear.forward", "loss", "evict", "free", "apply_grad"]
    assert new.ops[0].attrs == {"range": Range(4, 28)}
    assert new.ops[3].attrs == {"to": Ident("host")}
    assert new.ops[3].location is place
    assert new.ops[1] is FORWARD
    assert new.level is Level.PLANNED


def test_no_moves_removes_every_directive():
    planned = program(directive("alloc", "h"), *KERNELS, directive("free", "h"))
    assert with_moves(planned, []).ops == KERNELS


@st.composite
def move(draw: st.DrawFn) -> Move:
    tensor = draw(st.integers(0, len(TENSORS) - 1))
    start = draw(st.integers(0, TENSORS[tensor].size_bytes))
    end = draw(st.integers(start, TENSORS[tensor].size_bytes))
    kind = draw(st.sampled_from(("alloc", "free", "evict", "prefetch")))
    tier = draw(st.sampled_from(("host", "ssd"))) if kind in ("evict", "prefetch") else None
    return Move(draw(st.integers(0, len(KERNELS))), kind, tensor, tier, start, end)


@given(st.lists(move(), max_size=12))
def test_moves_come_back_from_directives(moves: list[Move]):
    planned = with_moves(program(*KERNELS), moves)
    assert moves_of(planned) == sorted(moves, key=lambda move: move.slot)
    assert tuple(op for op in planned.ops if op in KERNELS) == KERNELS


def test_all_ops_that_no_single_rank_has_are_named():
    ops = (
        Op("all_reduce", ("w",), ("w",), {"over": Ident("dp")}),
        FORWARD.with_attrs(on="pp:1"),
        LOSS.with_attrs(stream=Ident("comm")),
        Op("add.forward", ("hh", "w"), ("y",)),
    )
    with pytest.raises(InputError) as caught:
        step_of(program(*ops))
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [
        "'all_reduce' is a collective: it takes several ranks",
        "'linear.forward' runs on ranks 'pp:1' only",
        "kernel 'loss' runs on stream 'comm'",
        "'add.forward' uses tensor 'hh', which is not declared",
        "'add.forward' uses tensor 'y', which is not declared",
    ]


@pytest.mark.parametrize(
    ("op", "message", "hint"),
    [
        (Op("evict", ("w",)), "'evict' of 'w' has no tier in 'to'", "expected host or ssd"),
        (Op("prefetch", ("w",), (), {"from": Ident("disk")}), "'prefetch' of 'w' has 'disk' in 'from'", "expected host or ssd"),
        (directive("free", "x", span=(20, 31)), "'free' names bytes 20B..31B of 'x'", "expected a range inside 0B..30B, the whole tensor"),
        (Op("free", ("x",), (), {"range": 5}), "'free' names bytes 5 of 'x'", "expected a range inside 0B..30B, the whole tensor"),
        (Op("free", ("w", "x")), "'free' names 2 tensors", "expected exactly one, and nothing written"),
        (directive("free", "ww"), "'free' uses tensor 'ww', which is not declared", "did you mean 'w'?"),
    ],
)
def test_wrong_directives_are_refused(op: Op, message: str, hint: str):
    with pytest.raises(InputError) as caught:
        moves_of(program(*KERNELS, op))
    assert [(found.message, found.hint) for found in caught.value.diagnostics] == [(message, hint)]


@pytest.mark.parametrize(
    "wrong",
    [
        Move(4, "free", 0, None, 0, 40),
        Move(-1, "free", 0, None, 0, 40),
        Move(0, "free", 4, None, 0, 40),
        Move(0, "free", 0, None, 0, 41),
        Move(0, "free", 0, "host", 0, 40),
        Move(0, "evict", 0, None, 0, 40),
    ],
)
def test_moves_that_do_not_belong_to_the_program_are_a_defect_of_the_caller(wrong: Move):
    with pytest.raises(InternalError):
        with_moves(program(*KERNELS), [wrong])
