"""The table of rules and the tape, on networks small enough to write down."""

import pytest

from g10c.ir.ops import OpKind, declaration
from g10c.ir.printer import print_op
from g10c.models.transformer.optimizer import OPTIMIZERS
from g10c.models.transformer.roofline import GPUS, Roofline
from g10c.models.transformer.rules import RULES
from g10c.models.transformer.tape import Tape


def tape(**options: bool) -> Tape:
    return Tape("f32", Roofline(GPUS["a100-40gb"], "f32", 1.0, 1.0, 0), OPTIMIZERS["sgd"], **options)


def lines(recorded: Tape) -> list[str]:
    return [print_op(op.with_attrs(time=None, phase=None, layer=None, flops=None)).strip() for op in recorded.program("p", {}).ops]


@pytest.mark.parametrize("name", RULES)
def test_kernels_are_declared_and_slots_exist(name: str):
    rule = RULES[name]
    forward = {*rule.operands, *(result.slot for result in rule.results)}
    assert set(rule.forward.reads) <= set(rule.operands)
    assert rule.forward.writes == tuple(result.slot for result in rule.results)
    for kernel in (rule.forward, *rule.backward):
        found = declaration(kernel.op)
        assert found is not None
        assert found.kind is OpKind.KERNEL
    for kernel in rule.backward:
        assert {slot if slot in forward else slot.removeprefix("d") for slot in kernel.reads} <= forward
        assert {slot.removeprefix("d") for slot in kernel.writes} <= set(rule.operands)


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("linear", ("x", "w")),
        ("matmul", ("a", "b")),
        ("gelu", ("x",)),
        ("softmax", ("y",)),
        ("layer_norm", ("x", "w", "stat")),
        ("dropout", ("mask",)),
        ("add", ()),
        ("gather", ("index",)),
        ("attention", ("q", "k", "v", "mask", "y", "lse")),
        ("cross_entropy", ("x", "labels", "lse")),
    ],
)
def test_saved_tensors(name: str, saved: tuple[str, ...]):
    assert RULES[name].saved == saved


def test_a_two_layer_network_with_a_residual():
    recorded = tape()
    x = recorded.input("x", 4, 8, dtype="f32")
    h = recorded.apply("linear", "h", x, recorded.weight("w1", 8, 8), recorded.weight("b1", 8))
    r = recorded.apply("relu", "r", h)
    s = recorded.apply("add", "s", r, recorded.apply("linear", "g", r, recorded.weight("w2", 8, 8)))
    recorded.apply("cross_entropy", "end", s, recorded.input("labels", 4))
    recorded.backward()
    recorded.update()
    assert lines(recorded) == [
        "%h = linear.forward(%x, %w1, %b1)",
        "%r = relu.forward(%h)",
        "%g = linear.forward(%r, %w2)",
        "%s = add.forward(%r, %g)",
        "%end.loss, %end.lse = cross_entropy.forward(%s, %labels)",
        "%s.grad = cross_entropy.backward(%s, %labels, %end.lse)",
        "%r.grad.2 = linear.backward_input(%s.grad, %w2)",  # the first part is that of the sum, as it is
        "%w2.grad = linear.backward_weight(%s.grad, %r)",
        "%r.grad = accumulate(%s.grad, %r.grad.2)",
        "%h.grad = relu.backward(%r.grad, %r)",
        "%w1.grad = linear.backward_weight(%h.grad, %x)",  # no gradient of the input
        "%b1.grad = linear.backward_bias(%h.grad)",
        "%w1 = apply_grad(%w1, %w1.grad)",
        "%b1 = apply_grad(%b1, %b1.grad)",
        "%w2 = apply_grad(%w2, %w2.grad)",
    ]


def test_broadcast_operand_of_a_sum_has_a_kernel():
    recorded = tape(update_in_backward=True)
    table = recorded.weight("table", 8, 4)
    rows = recorded.apply("gather", "rows", table, recorded.input("index", 8))
    x = recorded.apply("linear", "x", recorded.input("in", 2, 8, 4, dtype="f32"), recorded.weight("w", 4, 4))
    recorded.apply("cross_entropy", "end", recorded.apply("add", "s", x, rows), recorded.input("labels", 2, 8))
    recorded.backward()
    assert lines(recorded)[4:] == [
        "%s.grad = cross_entropy.backward(%s, %labels, %end.lse)",
        "%rows.grad = add.backward_b(%s.grad)",
        "%w.grad = linear.backward_weight(%s.grad, %in)",
        "%w = apply_grad(%w, %w.grad)",
        "%table.grad = gather.backward(%rows.grad, %index)",
        "%table = apply_grad(%table, %table.grad)",
    ]


def test_mistakes_of_whoever_records():
    recorded = tape()
    x = recorded.input("x", 4, 8, dtype="f32")
    with pytest.raises(ValueError, match="'x' is declared twice"):
        recorded.input("x", 4)
    recorded.apply("gelu", "dead", recorded.apply("linear", "h", x, recorded.weight("w", 8, 8)))
    with pytest.raises(ValueError, match=r"dead: gelu.backward needs dy, but nothing that leads to the loss uses y"):
        recorded.backward()
