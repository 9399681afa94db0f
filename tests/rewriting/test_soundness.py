"""Programs in which a rewrite could go wrong without a word: two values of one tensor, ranks, directives, weights, constants."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rewriting.programs import program, texts

from g10c.compiler.rewriting.apply import RuleError
from g10c.compiler.rewriting.engine import apply_rules
from g10c.compiler.rewriting.log import RewriteLog
from g10c.compiler.rewriting.pattern import PatternError, op, pattern
from g10c.compiler.rewriting.rule import Keep, Line, Rewrite, make_op, rule
from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.values import Ident, Size, Time


@rule(op("relu.forward", ["p"], ["q"]), op("add.forward", ["q", "r"], ["s"]))
def relu_add(p, q, r, s):
    return make_op("fused", [p, r], [s]) if q.users == 1 else None


@rule(op("relu.forward", ["p"], ["q"], label="one"))
def in_place(p, q):
    return Rewrite([Line(make_op("relu.forward", [p], [p]))], uses={q.name: p.name}) if p.users == 1 else None


def kept_as_is(step: Program, rules) -> str:
    """Nothing fires, and why."""
    log = RewriteLog()
    assert apply_rules(step, rules, log=log).program is step
    return log.near_misses[0].found


def test_two_values_of_one_tensor_are_not_taken_for_one():
    step = program(
        "%a = linear.forward(%x, %w)\n%b = relu.forward(%a)\n%a = linear.forward(%x, %v)\n%c = add.forward(%b, %a)\n%w = apply_grad(%w, %c)"
    )
    assert kept_as_is(step, relu_add) == "the match reads two values of %a"


def test_a_weight_is_not_overwritten_by_a_rule_that_keeps_values():
    step = program("%a = relu.forward(%w)\n%b = tanh.forward(%a)")
    with pytest.raises(RuleError, match="the rewrite writes the weight %w, whose value before the next step reads"):
        apply_rules(step, in_place)
    assert texts(apply_rules(step, replace(in_place, changes_values=True)).program)[0] == "w = relu.forward(w)"


def test_a_result_that_would_only_move_is_no_error():
    @rule(op("dropout.forward", ["p"], ["q", "m"]), op("relu.forward", ["q"], ["r"]))
    def fuse(p, q, m, r):
        return make_op("fused", [p], [r, m]) if q.users == 1 else None

    step = program(
        "%b = tanh.forward(%x)\n%a, %d = dropout.forward(%x)\n%d = tanh.forward(%b)\n%b = relu.forward(%a)\n%w = add.forward(%b, %d)"
    )
    assert kept_as_is(step, fuse) == "add.forward reads %d in between"


MESH = '{mesh = "pp=2"}'


def test_a_new_op_runs_where_those_ran_that_it_replaces():
    @rule(op("tanh.forward", ["p"], ["q"], label="one"), op("relu.forward", ["_"], ["_"], label="two"))
    def beside(p, q):
        return Rewrite([Line(make_op("sigmoid.forward", [p], [q])), Keep("two")])

    step = program('%a = tanh.forward(%x)\n%b = relu.forward(%x) {on = "pp:1", microbatch = 3}\n%c = add.forward(%a, %x)', MESH)
    new = apply_rules(step, beside).program.ops[0]
    assert (new.name, new.on, new.attrs.get("microbatch")) == ("sigmoid.forward", None, None)


def test_ops_of_other_micro_batches_do_not_become_one_beside_a_kept_one():
    @rule(
        op("relu.forward", ["x"], ["a"], label="one"),
        op("gelu.forward", ["x"], ["b"], label="two"),
        op("tanh.forward", ["x"], ["c"], label="three"),
    )
    def join(x, b, c):
        return Rewrite([Keep("one"), Line(make_op("fused", [x], [b, c]))])

    ops = "%a = relu.forward(%x) {microbatch = 1}\n%b = gelu.forward(%x) {microbatch = 2}\n%c = tanh.forward(%x) {microbatch = 3}\n"
    step = program(ops + "%d = accumulate(%a, %b, %c)", MESH)
    assert kept_as_is(step, join) == "the ops differ in 'microbatch': 2, 3"


def test_a_value_of_other_ranks_is_not_used():
    @rule(op("relu.forward", ["p"], ["q"], label="one"), op("relu.forward", ["p"], ["r"], label="two"))
    def same(q, r):
        return Rewrite([Keep("one")], uses={r.name: q.name})

    ops = '%a = relu.forward(%x) {on = "pp:0"}\n%b = relu.forward(%x) {on = "pp:1"}\n%c = tanh.forward(%b) {on = "pp:1"}'
    assert kept_as_is(program(ops, MESH), same) == "%b and %a are made on other ranks"
    ops = '%b = zero()\n%a = relu.forward(%x)\n%b = relu.forward(%x) {on = "pp:1"}\n%c = tanh.forward(%b)'
    assert kept_as_is(program(ops, MESH), same) == "tanh.forward reads %b on ranks where relu.forward does not make it"


def test_a_tensor_with_directives_is_not_used_for_another():
    step = program("%a = tanh.forward(%x)\n%b = relu.forward(%a)\nevict(%a) {to = host}\n%c = tanh.forward(%b)")
    assert kept_as_is(step, in_place) == "there are directives on %a"


def test_directives_of_a_match_follow_each_other():
    @rule(op("evict", ["p"], label="one"), op("prefetch", ["p"], label="two"))
    def stay():
        return []

    moves = "evict(%w) {to = host}\nprefetch(%w) {from = host}\n%a = relu.forward(%x)\n"
    log = RewriteLog()
    done = apply_rules(program(moves + moves + "%b = relu.forward(%w)"), stay, log=log)
    assert done.firings == {"stay": 2}
    assert [name for name in texts(done.program) if "evict" in name or "prefetch" in name] == []


def test_the_size_of_a_tensor_stays_where_a_directive_names_its_bytes():
    @rule(op("relu.forward", ["_"], ["q"], label="one"))
    def halve(q):
        return Rewrite([Keep("one")], tensors=[replace(q.tensor, dtype="f16")])

    step = program("%a = relu.forward(%x)\nevict(%a) {to = host, range = 0B..2KiB}\n%b = tanh.forward(%x)")
    assert kept_as_is(step, halve) == "a directive names bytes of %a, whose size changes"


def test_an_attribute_that_is_not_taken_over():
    @rule(op("relu.forward", ["p"], ["q"]))
    def bare(p, q):
        return Rewrite([Line(make_op("gelu.forward", [p], [q]), without=("layer",))])

    step = program('%a = relu.forward(%x) {layer = "l", phase = forward}')
    assert dict(apply_rules(step, bare).program.ops[0].attrs) == {"phase": "forward"}


def test_the_mesh_of_a_program_is_not_replaced():
    @rule(op("relu.forward", ["_"], ["_"], label="one"))
    def mesh():
        return Rewrite([Keep("one")], program={"mesh": "dp=8"})

    with pytest.raises(RuleError, match='the program has mesh = "pp=2", and the rule gives it "dp=8"'):
        apply_rules(program("%a = relu.forward(%x)", MESH), mesh)


@pytest.mark.parametrize("value", [True, Time(1), Size(1), 1.0])
def test_attributes_are_equal_only_within_a_kind(value):
    @rule(op("relu.forward", ["_"], ["_"], {"my.n": 1}, label="one"))
    def seen():
        return Rewrite([Keep("one", {"my.seen": True})])

    step = program("%a = relu.forward(%x)")
    assert apply_rules(step.with_ops([step.ops[0].with_attrs(**{"my.n": value})]), seen).firings == {}
    assert apply_rules(step.with_ops([step.ops[0].with_attrs(**{"my.n": 1})]), seen).firings == {"seen": 1}


def test_ops_without_tensors_are_looked_at_again():
    @rule(op("kernel", [], [], {"my.n": 1}, label="one"))
    def second():
        return Rewrite([Keep("one", {"my.n": 2})])

    @rule(op("kernel", [], [], {"my.n": 0}, label="one"))
    def first():
        return Rewrite([Keep("one", {"my.n": 1})])

    step = program('kernel() {kernel = "k", my.n = 0}')
    assert apply_rules(step, second + first).program.ops[0].attrs["my.n"] == 2


def test_a_required_attribute_is_not_taken_away():
    @rule(op("evict", ["p"], label="one"))
    def strip():
        return Rewrite([Keep("one", {"to": None})])

    with pytest.raises(RuleError, match="rule 'strip': evict needs the attribute 'to'"):
        apply_rules(program("%a = relu.forward(%x)\nevict(%a) {to = host}"), strip)


def test_conditions_that_raise():
    few = relu_add.where("few", lambda q: q.users > 9).where("boom", lambda q: [][0])
    step = program("%b = relu.forward(%x)\n%c = add.forward(%b, %x)")
    assert apply_rules(step, few, log=RewriteLog()).firings == {}
    with pytest.raises(RuleError, match="rule 'relu-add': a condition raised IndexError"):
        apply_rules(step, relu_add.where("boom", lambda q: [][0]))


def test_a_line_that_shares_nothing_does_not_make_every_round_cost_the_program():
    """A chain of dead ops falls one by one, in as many rounds; the rule with the loose line is tried a few times for each op."""
    tried = []

    @rule(op("relu.forward", ["_"], ["q"]))
    def dead(q):
        return [] if q.users == 0 else None

    @rule(op("relu.forward", ["_"], ["y"], label="one"), op("relu.forward", ["_"], ["z"], label="two"))
    def loose(y):
        tried.append(y.name)

    number = 1000
    tensors = {f"t{n}": Tensor(f"t{n}", "f32", (4,), Role.ACTIVATION) for n in range(number)} | {"x": Tensor("x", "f32", (4,), Role.INPUT)}
    ops = tuple(Op("relu.forward", (f"t{n - 1}" if n else "x",), (f"t{n}",)) for n in range(number))
    assert apply_rules(Program("chain", tensors, ops), dead + loose).program.ops == ()
    assert 0 < len(tried) < 5 * number


def test_lists_in_one_line_are_few():
    with pytest.raises(PatternError, match="more than 3 repeated operands"):
        pattern(op("accumulate", ["a...", "b...", "c...", "d..."], ["q"]))


def test_words_are_text():
    @rule(op("relu.forward", ["_"], ["_"], {"layer": Ident("h0")}, label="one"))
    def seen():
        return Rewrite([Keep("one", {"my.seen": True})])

    assert apply_rules(program('%a = relu.forward(%x) {layer = "h0"}'), seen).firings == {"seen": 1}
