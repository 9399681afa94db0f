"""The rules of operators, and what holds for the lowering of any network."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from g10c.ir.errors import G10cError, InputError
from g10c.ir.ops import OpKind, declaration
from g10c.ir.program import Role
from g10c.ir.source import Source
from g10c.models.g10.calls import calls_of_operators
from g10c.models.g10.layer_rules import ARTIFACT, PYTORCH
from g10c.models.g10.lowering import Lowered, lower
from g10c.models.g10.net_file import parse_net
from g10c.models.g10.rule_form import ACCUMULATE, LOSS, OpRule, WeightUse
from g10c.models.g10.rules import RULES
from g10c.models.g10.weights import weight_border
from g10c.models.modules.layers import LAYERS

WEIGHTS = 10
INPUT = 10
DASHES = "-------------------"
WORDS = {"y", "dy", "all_dy", "a", "b", "da", "db", "w", "dw", "x", "dx", "operands", "gradients"}


def lowered(text: str, border: int | None = WEIGHTS) -> Lowered:
    net = parse_net(Source("net.txt", text), 3)
    return lower(calls_of_operators(net, weight_border(net, Path("nowhere") / "net.txt", border)))


TABLES = {"operators": RULES, "artifact": ARTIFACT, "pytorch": PYTORCH}
KEPT = {"bias", "running_mean", "running_var"}


@pytest.mark.parametrize(("table", "kind"), [(table, kind) for table in TABLES for kind in TABLES[table]])
def test_rules_use_declared_ops_and_known_words(table: str, kind: str):
    rule = TABLES[table][kind]
    own = {*KEPT, *(own.word for own in rule.own)} if table != "operators" else set()
    known = WORDS | own | {f"d{word}" for word in own}
    for kernel in (*rule.kernels, ACCUMULATE, LOSS):
        declared = declaration(kernel.op)
        assert declared is not None
        assert declared.kind is OpKind.KERNEL
        assert {*kernel.reads, *kernel.writes, *rule.declares} <= known
    assert own - KEPT <= set(rule.declares), "a tensor that a rule has for itself is declared"
    updated = any(kernel.phase == "update" for kernel in rule.backward)
    assert updated is (rule.weights in (WeightUse.ONE, WeightUse.AT_MOST_ONE) if table == "operators" else _is_trained(rule))


def _is_trained(rule: OpRule) -> bool:
    return "dw" in rule.declares


def test_both_tables_of_layers_know_every_layer():
    assert {"Input", *(name for name, layer in LAYERS.items() if not layer.view)} == set(ARTIFACT) == set(PYTORCH)


@st.composite
def network(draw: st.DrawFn) -> str:
    """A network in which every result is read by the operator after it, and some again later."""
    blocks = []
    known = [INPUT]
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from([kind for kind in RULES if kind != "SoftmaxBasic"]))
        weight = draw(st.integers(0, WEIGHTS - 1))
        operands = [known[-1]]
        if RULES[kind].weights in (WeightUse.ONE, WeightUse.CONSTANT):
            operands.append(weight)
        elif RULES[kind].operands == 2:
            operands.append(draw(st.sampled_from([*known, weight])))
        if RULES[kind].weights is not WeightUse.CONSTANT and draw(st.booleans()):
            operands.reverse()
        blocks.append(" ".join(map(str, [INPUT + 1 + number, kind, len(operands), *operands, *[2, 99, 4] * len(operands), DASHES])))
        known.append(INPUT + 1 + number)
    return "\n".join(blocks)


def check(step: Lowered) -> None:
    """Nothing is read before it is written, and what is computed and what is declared agree."""
    tensors = {tensor.name: tensor for tensor in step.tensors}
    assert len(tensors) == len(step.tensors)
    ready = {name for name, tensor in tensors.items() if tensor.role in (Role.WEIGHT, Role.INPUT)}
    for op in step.kernels:
        assert ready.issuperset(op.reads), op
        assert len(set(op.reads)) == len(op.reads)
        assert op.writes, op
        ready.update(op.writes)
    assert ready == set(tensors)
    for name, tensor in tensors.items():
        if tensor.role is Role.GRADIENT:
            assert tensor.shape == tensors[name[1:].split(".")[0]].shape


@given(network())
def test_every_network_lowers_to_a_step_that_computes_each_tensor_before_reading_it(text: str):
    step = lowered(text)
    check(step)
    count = text.count(DASHES)
    assert [op.attrs["phase"] for op in step.kernels[: count + 1]] == ["forward"] * count + ["loss"]
    updates = [op for op in step.kernels if op.attrs["phase"] == "update"]
    assert all(op.writes[0] in op.reads and op.writes[0].startswith("w") for op in updates)
    weights = {int(tensor.name[1:]) for tensor in step.tensors if tensor.role is Role.WEIGHT}
    assert weights == {
        int(word) for block in text.split("\n") for word in block.split()[3 : 3 + int(block.split()[2])] if int(word) < WEIGHTS
    }


SAMPLE = (
    f"11 Dot 2 10 3 2 99 4 2 4 4 {DASHES} 12 Power 2 11 1 2 99 4 2 99 4 {DASHES} 13 Add 2 12 11 2 99 4 2 99 4 {DASHES}"
    + "".join(f" {20 + i} SoftmaxBasic 1 {19 + i if i else 13} 1 99 {DASHES}" for i in range(4))
).split()


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(0, len(SAMPLE) - 1), st.sampled_from(["", "0", "1", "2", "99", "11", "x", "Add", "Power", "Dot", "---"]))
    )
)
def test_a_changed_network_lowers_soundly_or_is_refused(changes: list[tuple[int, str]]):
    words = list(SAMPLE)
    for number, word in changes:
        words[number] = word
    for border in (WEIGHTS, None):
        with suppress(G10cError):
            check(lowered("\n".join(words), border))


def test_a_result_that_nothing_mentions_has_the_shape_of_the_first_operand():
    step = lowered(f"11 Sum 1 10 3 99 4 5 {DASHES}")
    assert {tensor.name: tensor.shape for tensor in step.tensors} == {"x11": (3, 4, 5), "x10": (3, 4, 5), "dx11": (3, 4, 5)}


def test_shapes_are_those_of_the_last_mention():
    step = lowered(f"11 Relu 1 10 2 99 4 {DASHES} 12 Relu 1 11 2 99 4 {DASHES} 13 Add 2 12 11 2 99 8 3 99 8 1 {DASHES}")
    shapes = {tensor.name: tensor.shape for tensor in step.tensors}
    assert (shapes["x11"], shapes["dx11"], shapes["dx11.2"], shapes["x12"], shapes["x13"]) == (
        (3, 8, 1),
        (3, 8, 1),
        (3, 8, 1),
        (3, 8),
        (3, 8),
    )


def test_an_operator_takes_no_two_weights():
    text = f"11 Subtract 2 1 4 1 99 1 99 {DASHES} 12 Dot 2 11 0 1 99 1 4 {DASHES}"
    with pytest.raises(InputError, match="pass --weights-below with a number from 1 to 4,"):
        lowered(text, None)
    with pytest.raises(InputError, match="of which 1 and 4 are weights: expected that at most one operand is a weight"):
        lowered(text, 5)
