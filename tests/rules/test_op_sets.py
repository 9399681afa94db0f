"""Sets of ops that a file names."""

from rules.rule_texts import applied, rules

from g10c.ir.ops import known_names

FILE = """
ops activation = relu.forward | gelu.forward
ops elementwise = activation | add.*

rule mark
  match   @a: _ = elementwise | tanh.forward (_...)
  rewrite keep @a {my.seen = true}
"""


def test_sets_stand_for_their_ops():
    (rule,) = rules(FILE)
    adds = [name for name in known_names() if name.startswith("add.")]
    assert rule.pattern.ops[0].fitting == {"relu.forward", "gelu.forward", "tanh.forward", *adds}
    assert [op.name for op in applied(FILE).ops if "my.seen" in op.attrs] == ["gelu.forward", "add.forward"]


def test_a_set_of_any_op_is_any_op():
    (rule,) = rules("ops any = *\nrule r\nmatch @a: %ys... = any(_...)\nwhere users(%ys...) == 0\nrewrite keep @a {my.done = true}\n")
    assert rule.pattern.ops[0].names == ()


def test_words_of_the_language_name_what_they_like_elsewhere():
    (rule,) = rules(
        "let ops = 3\nrule ops\nmatch @ops: %ops = relu.forward(%x) {time = $ops}\n"
        "where users(%ops) < ops\nrewrite keep @ops {my.a = $ops}\n"
    )
    assert rule.name == "ops"
