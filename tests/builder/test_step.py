"""The structure of a step: data flow, gradients and updates, for all combinations of options."""

import itertools

import pytest
from builder.shapes import build, phase

from g10c.ir.program import Program, Role
from g10c.ir.verifier import check_program

COMBINATIONS = [
    dict(zip(("kind", "attention", "dtype", "update", "dropout", "untied"), values, strict=True))
    for values in itertools.product(
        ("encoder", "decoder"), ("fused", "unfused"), ("f32", "f16"), ("end", "backward"), (0.0, 0.1), (False, True)
    )
]


@pytest.fixture(scope="module", params=COMBINATIONS, ids=lambda options: "-".join(str(value) for value in options.values()))
def program(request: pytest.FixtureRequest) -> Program:
    return build(**request.param)


def test_verifies(program: Program):
    check_program(program)


def test_everything_is_produced_before_it_is_read(program: Program):
    there = {t.name for t in program.tensors.values() if t.role in (Role.WEIGHT, Role.OPTIMIZER, Role.INPUT)}
    for op in program.ops:
        assert there.issuperset(op.reads), op
        there.update(op.writes)
    assert there == set(program.tensors)


def test_only_state_is_written_twice(program: Program):
    writes = [name for op in program.ops for name in op.writes]
    twice = {name for name in writes if writes.count(name) > 1}
    assert twice == set()
    in_place = {name for op in program.ops for name in op.writes if name in op.reads}
    assert in_place == {t.name for t in program.tensors.values() if t.persistent}


def test_each_weight_has_one_gradient_and_one_update(program: Program):
    updates = [op for op in program.ops if op.name == "apply_grad"]
    weights = [t.name for t in program.tensors.values() if t.role is Role.WEIGHT]
    assert sorted(op.reads[0] for op in updates) == sorted(weights)
    for op in updates:
        weight, gradient, *states = (program.tensors[name] for name in op.reads)
        assert gradient.name == f"{weight.name}.grad"
        assert (gradient.shape, gradient.dtype, gradient.role) == (weight.shape, weight.dtype, Role.GRADIENT)
        assert op.writes == (weight.name, *(state.name for state in states))
        assert all(state.name.startswith(f"{weight.name}.") and state.role is Role.OPTIMIZER for state in states)


def test_no_weight_is_read_after_its_update(program: Program):
    updated: set[str] = set()
    for op in program.ops:
        assert updated.isdisjoint(op.reads), op
        updated.update(name for name in op.writes if program.tensors[name].role is Role.WEIGHT)


def test_everything_written_is_used(program: Program):
    """But the loss itself, and what lives during one kernel."""
    read = {name for op in program.ops for name in op.reads}
    unread = {t.name for t in program.tensors.values() if t.name not in read and t.role is not Role.WORKSPACE}
    assert unread == {"loss" if "loss" in program.tensors else "lm.loss"}


def test_phases_are_in_order(program: Program):
    order = [phase(op) for op in program.ops if op.name not in ("apply_grad", "add.forward")]
    forward, backward = order.index("backward"), len(order)
    assert set(order[:forward]) == {"forward", "loss"}
    assert set(order[forward:backward]) == {"backward"}


def test_weights_are_updated_as_soon_as_they_can_be():
    names = [op.name for op in build(update="backward").ops]
    first, last = names.index("apply_grad"), len(names) - 1 - [*reversed(names)].index("apply_grad")
    backward = [index for index, name in enumerate(names) if ".backward" in name]
    assert backward[0] < first < backward[-1] < last
    at_end = [op.name for op in build(update="end").ops]
    assert set(at_end[at_end.index("apply_grad") :]) == {"apply_grad"}
    assert sorted(at_end) == sorted(names)


def test_tied_embedding_sums_its_two_gradients():
    program = build(kind="decoder")
    total = next(op for op in program.ops if op.writes == ("embed.word.w.grad",))
    assert (total.name, total.reads) == ("accumulate", ("embed.word.w.grad.1", "embed.word.w.grad.2"))
    untied = build(kind="decoder", untied=True)
    assert next(op for op in untied.ops if op.writes == ("embed.word.w.grad",)).name == "gather.backward"


def test_residual_sums_pass_gradients_without_a_kernel():
    program = build(kind="encoder")
    total = next(op for op in program.ops if op.writes == ("h0.ln2.grad",))
    assert total.name == "accumulate"
    assert total.reads == ("h1.attn.sum.grad", "h0.ln2.grad.2", "h0.ln2.grad.3", "h0.ln2.grad.4")
    assert not any(op.name == "add.backward_a" for op in program.ops)


@pytest.mark.parametrize(
    ("writes", "reads"),
    [
        ("h0.mlp.up.grad", ("h0.mlp.gelu.grad", "h0.mlp.up")),  # gelu: its input
        ("h0.attn.score.grad", ("h0.attn.prob.grad", "h0.attn.prob")),  # softmax: its output
        ("h0.attn.prob.grad", ("h0.attn.prob.drop.grad", "h0.attn.prob.drop.mask")),  # dropout: its mask
        ("h0.mlp.sum.grad", ("h0.ln2.grad", "h0.mlp.sum", "h0.ln2.stat", "h0.ln2.w")),  # layer norm: input and statistics
        ("pooler.dense.grad", ("pooler.tanh.grad", "pooler.tanh")),  # tanh: its output
        ("h0.mlp.up.w.grad", ("h0.mlp.up.grad", "h0.ln1")),  # linear: input for the weight
        ("mlm.logits.grad", ("mlm.logits", "mlm.labels", "mlm.lse")),  # cross entropy: logits and the sums of rows
    ],
)
def test_backward_reads_exactly_what_it_needs(writes: str, reads: tuple[str, ...]):
    program = build(kind="encoder")
    assert next(op for op in program.ops if op.writes[0] == writes).reads == reads


def test_batch_is_the_first_dimension_of_what_depends_on_it():
    small, large = build(batch=3), build(batch=6)
    for name, tensor in small.tensors.items():
        twin = large.tensors[name]
        assert tensor.shape == twin.shape or (tensor.shape[0], twin.shape[0], tensor.shape[1:]) == (3, 6, twin.shape[1:])


def test_same_options_same_program():
    first, second = build(), build()
    assert [(op.name, op.reads, op.writes, op.attrs) for op in first.ops] == [(op.name, op.reads, op.writes, op.attrs) for op in second.ops]


def test_every_op_and_tensor_says_where_it_comes_from():
    program = build()
    places = {str(item.location) for item in (*program.tensors.values(), *program.ops)}
    assert places == {f"transformer {layer}" for layer in ("embed", "h0", "h1", "mlm", "pooler", "nsp", "loss")}
