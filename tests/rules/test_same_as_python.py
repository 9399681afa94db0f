"""The text of a rule and the same rule in Python make the same program, on random programs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from rewriting.programs import program, random_programs
from rules.rule_texts import rules

from g10c.compiler.rewriting.apply import RuleError
from g10c.compiler.rewriting.engine import apply_rules
from g10c.compiler.rewriting.pattern import Capture, OneOf, op
from g10c.compiler.rewriting.rule import Keep, Line, Rewrite, RuleSet, make_op, rule
from g10c.ir.printer import print_program
from g10c.ir.program import Op, Program, Role
from g10c.ir.values import Ident, Range, Size, Time

FUSE = """
let least = 1MiB
rule fuse
  match   %s = scale.forward(%dw)   {time = $t}
          %w = apply_grad(%w, %s)   {time = $u}
  where   users(%s) == 1 and bytes(%s) > least
  rewrite %w = scaled_apply_grad(%w, %dw)  {time = $u + $t / 4}
"""


@rule(
    op("scale.forward", ["dw"], ["s"], {"time": Capture("t")}),
    op("apply_grad", ["w", "s"], ["w"], {"time": Capture("u")}),
)
def fuse(w, dw, s, t, u):
    if s.users == 1 and s.size_bytes > 1 << 20:
        return make_op("scaled_apply_grad", [w, dw], [w], time=Time((4 * u + t + 2) // 4))
    return None


RECOMPUTE = """
rule recompute
  match   @a: %y = relu.forward | gelu.forward(%x)
          @b: %z = *.backward(_..., %y, %rest...)
  where   phase(@a) == forward
          users(%y) >= 1
          not has(@a, layer)
  rewrite keep @a {layer = "kept"}
          new %r : like %y role workspace
          %r = @a(%x) {phase = backward}
          @b: %z = @b(%r, %r, %rest...) {time = none}
"""


@rule(
    op(("relu.forward", "gelu.forward"), ["x"], ["y"], label="a"),
    op("*.backward", ["_...", "y", "rest..."], ["z"], label="b"),
)
def recompute(match, a, b, x, y, z, rest):
    if a.attrs.get("phase") != "forward" or y.users < 1 or "layer" in a.attrs:
        return None
    r = match.new_tensor("r", y, role=Role.WORKSPACE)
    again = Op(a.name, (x.name,), (r.name,), {**a.attrs, "phase": Ident("backward")})
    late = Op(b.name, (r.name, r.name, *(one.name for one in rest)), (z.name,), {key: v for key, v in b.attrs.items() if key != "time"})
    return Rewrite([Keep("a", {"layer": "kept"}), Line(again), Line(late, "b")])


HALVE = """
rule halve changes values
  match   @a: %y, _... = *(_...)
  where   role(%y) == activation and dtype(%y) == f32
  rewrite keep @a {my.saved = bytes(%y) / 3}
          change %y : dtype f16
"""


@rule(op((), ["_..."], ["y", "_..."], label="a"))
def halve(y):
    if y.role is not Role.ACTIVATION or y.tensor.dtype != "f32":
        return None
    return Rewrite([Keep("a", {"my.saved": Size((2 * y.size_bytes + 3) // 6)})], tensors=[replace(y.tensor, dtype="f16")])


FORWARD = """
program {my.rewritten = true}
rule forward
  match   %y = relu.forward(%x)
  where   name(%x) != name(%y) and role(%x) != weight
  rewrite use %x for %y
"""


@rule(op("relu.forward", ["x"], ["y"]))
def forward(x, y):
    if x.name == y.name or x.role is Role.WEIGHT:
        return None
    return Rewrite(uses={y.name: x.name}, program={"my.rewritten": True})


COMMUTE = """
rule twice
  match   @one: %t = gelu.forward(%x)   {phase = $p}
          @two: %u = gelu.forward(%t)   {phase = $p}
  rewrite new %m : f16[dim(%t, 0) * 2, 3] workspace
          @one: %t, %m = dropout.forward(%x)  {time = max(time(@one), time(@two)), my.name = name(@one) + "+" + name(@two)}
          @two: %u = fused(%t, %m)

rule drop
  match   %t = subtract.forward(%x, %x)
  where   users(%t) == 0
  rewrite nothing

rule accumulate
  match   %t = add.forward(%a, %b)
          %u = add.forward(%t, %c)
  where   users(%t) == 1 and count(%c) == 1
  rewrite %u = accumulate(%a, %b, %c)
"""


@rule(
    op("gelu.forward", ["x"], ["t"], {"phase": Capture("p")}, label="one"),
    op("gelu.forward", ["t"], ["u"], {"phase": Capture("p")}, label="two"),
)
def twice(match, x, t, u, one, two):
    m = match.new_tensor("m", t, dtype="f16", shape=(t.tensor.shape[0] * 2, 3), role="workspace")
    attrs = {"time": Time(max(one.time_ns, two.time_ns)), "my.name": f"{one.name}+{two.name}"}
    return Rewrite([Line(make_op("dropout.forward", [x], [t, m], **attrs), "one"), Line(make_op("fused", [t, m], [u]), "two")])


@rule(op("subtract.forward", ["x", "x"], ["t"]))
def drop(t):
    return Rewrite() if t.users == 0 else None


@rule(op("add.forward", ["a", "b"], ["t"]), op("add.forward", ["t", "c"], ["u"]))
def accumulate(a, b, c, t, u):
    return make_op("accumulate", [a, b, c], [u]) if t.users == 1 else None


PAIRS = {
    "fuse": (FUSE, fuse),
    "recompute": (RECOMPUTE, recompute),
    "halve": (HALVE, halve),
    "forward": (FORWARD, forward),
    "several": (COMMUTE, twice + drop + accumulate),
    "all": (RECOMPUTE + COMMUTE + FUSE, recompute + twice + drop + accumulate + fuse),
}


def _outcome(step: Program, found: RuleSet) -> str:
    try:
        done = apply_rules(step, found, 100)
    except RuleError as error:
        return str(error.diagnostics[0].message)
    return f"{print_program(done.program)}{done.firings}"


@pytest.mark.parametrize("name", PAIRS)
@given(step=random_programs(most_ops=20))
def test_text_and_python_agree(name, step):
    text, python = PAIRS[name]
    assert _outcome(step, rules(text)) == _outcome(step, python)


@pytest.mark.parametrize("name", PAIRS)
def test_each_rule_fires(name):
    step = program(
        """
        %a = gelu.forward(%x) {time = 3us, phase = forward}
        %d = gelu.forward(%a) {time = 5us, phase = forward}
        %h = subtract.forward(%x, %x)
        %b = relu.forward(%x) {time = 3us, phase = forward}
        %c = add.forward(%b, %d)
        %a = add.forward(%c, %x)
        %g = gelu.backward(%a, %b) {time = 3us, phase = backward}
        %h = scale.forward(%g) {time = 10ns}
        %w = apply_grad(%w, %h) {time = 20ns}
        """
    )
    step = replace(step, tensors={**step.tensors, "h": replace(step.tensors["h"], shape=(1 << 20,))})
    text, python = PAIRS[name]
    done = apply_rules(step, rules(text), 100)
    assert set(done.firings) == {found.name for found in rules(text)}
    assert _outcome(step, rules(text)) == _outcome(step, python)


def test_directives_are_matched_and_made():
    step = program("%a = relu.forward(%x)\nevict(%a) {to = host}\nprefetch(%a) {from = host}\n%b = relu.forward(%a)")
    text = """
    rule halves
      match   @e: evict(%x) {to = host}
              @p: prefetch(%x) {from = host}
      where   bytes(%x) > 1KiB
      rewrite @e: evict(%x) {to = ssd, range = 0B..bytes(%x) / 3}
              @p: prefetch(%x) {from = ssd, range = 0B..bytes(%x) / 3}
    """

    @rule(
        op("evict", ["x"], attrs={"to": Ident("host")}, label="e"),
        op("prefetch", ["x"], attrs={"from": OneOf((Ident("host"),))}, label="p"),
    )
    def halves(x):
        part = Range(Size(0), Size((x.size_bytes + 1) // 3))
        evict = make_op("evict", [x], to=Ident("ssd"), range=part)
        return Rewrite([Line(evict, "e"), Line(make_op("prefetch", [x], **{"from": Ident("ssd")}, range=part), "p")])

    made = _outcome(step, rules(text))
    assert made == _outcome(step, halves)
    assert "evict(%a)  {to = ssd, range = 0B..1365B}" in made


def test_names_may_be_the_same_with_other_sigils():
    step = program("%a = relu.forward(%x) {time = 3us}")
    text = """
    rule same
      match   @t: %t = relu.forward(%s) {time = $t, my.s = $s}
      rewrite keep @t {time = $t * 2}
    rule other
      match   @t: %t = relu.forward(%s) {time = $t}
      where   time(@t) == $t and $t < 12us and users(%t) == 0
      rewrite @t: %t = gelu.forward(%s) {time = $t * 2}
    """
    assert print_program(apply_rules(step, rules(text)).program).splitlines()[-1] == "%a = gelu.forward(%x)  {time = 6us}"
