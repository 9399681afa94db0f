"""Where patterns match."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewriting.programs import program, random_programs

from g10c.compiler.rewriting.dataflow import Version
from g10c.compiler.rewriting.match import Matcher
from g10c.compiler.rewriting.pattern import Capture, OneOf, Pattern, PatternError, op, pattern
from g10c.compiler.rewriting.rewriter import Rewriter
from g10c.ir.program import Program
from g10c.ir.values import Ident


def found(step: Program, *lines) -> list[tuple[int, ...]]:
    """The ops of each match, by number, found from the last line of the pattern."""
    rewriter = Rewriter(step)
    wanted = pattern(*lines)
    places = list(rewriter.sequence)
    matcher = Matcher(wanted)
    numbers = {place: number for number, place in enumerate(places)}
    return [
        tuple(numbers[one] for one in bindings.places)
        for place in places
        for bindings in matcher.matches(rewriter.flow, place, len(wanted.ops) - 1)
    ]


SCALE = op("scale.forward", ["dw"], ["s"])
UPDATE = op("apply_grad", ["w", "s"], ["w"])


def test_producers_and_users_not_neighbours():
    step = program(
        """
        %g = scale.forward(%x)
        %a = relu.forward(%x)
        %h = scale.forward(%a)
        %b = relu.forward(%a)
        %w = apply_grad(%w, %g)
        %v = apply_grad(%v, %h)
        """
    )
    assert found(step, SCALE, UPDATE) == [(0, 4), (2, 5)]


def test_a_match_never_reads_past_a_later_write():
    step = program(
        """
        %g = scale.forward(%x)
        %g = relu.forward(%x)
        %w = apply_grad(%w, %g)
        """
    )
    assert found(step, SCALE, UPDATE) == []
    twice = (op("relu.forward", ["p"], ["q"]), op("gelu.forward", ["p"], ["r"]))
    assert found(program("%a = relu.forward(%x)\n%b = gelu.forward(%x)"), *twice) == [(0, 1)]
    assert found(program("%c = relu.forward(%x)\n%a = relu.forward(%c)\n%c = relu.forward(%x)\n%b = gelu.forward(%c)"), *twice) == []


def test_in_place_means_no_write_in_between():
    chain = (op("apply_grad", ["w", "g"], ["w"], label="one"), op("apply_grad", ["w", "h"], ["w"], label="two"))
    assert found(program("%w = apply_grad(%w, %x)\n%w = apply_grad(%w, %x)\n%w = apply_grad(%w, %x)"), *chain) == [(0, 1), (1, 2)]
    assert found(program("%w = apply_grad(%w, %x)\n%w = relu.forward(%x)\n%w = apply_grad(%w, %x)"), *chain) == []
    assert found(program("%w = apply_grad(%v, %x)"), op("apply_grad", ["w", "g"], ["w"])) == []


def test_written_names_are_apart_from_the_others():
    relu = op("relu.forward", ["p"], ["q"])
    assert found(program("%a = relu.forward(%x)\n%a = relu.forward(%a)"), relu) == [(0,)]
    same = program("%a = relu.forward(%x)\n%b = add.forward(%a, %a)")
    assert found(same, op("add.forward", ["p", "q"], ["r"])) == [(1,)]
    assert found(same, op("add.forward", ["p", "p"], ["r"])) == [(1,)]
    assert found(program("%a = relu.forward(%x)\n%b = add.forward(%a, %x)"), op("add.forward", ["p", "p"], ["r"])) == []


def test_commutative_operands_in_any_order():
    step = program("%a = relu.forward(%x)\n%b = add.forward(%x, %a)\n%c = subtract.forward(%x, %a)")
    relu = op("relu.forward", ["p"], ["q"])
    assert found(step, relu, op("add.forward", ["q", "_"], ["r"])) == [(0, 1)]
    assert found(step, relu, op("subtract.forward", ["q", "_"], ["r"])) == []
    assert found(step, relu, op("subtract.forward", ["_", "q"], ["r"])) == [(0, 2)]
    backward = program("%a = relu.forward(%x)\n%g, %h = add.backward(%x, %a)")
    assert found(backward, relu, op("add.backward", ["q", "_"], ["r", "_"])) == []


def test_names_alternatives_globs_and_any():
    step = program("%a = relu.forward(%x)\n%b = gelu.forward(%a)\n%g = gelu.backward(%b, %a)\nevict(%a) {to = host}")
    assert found(step, op(("relu.forward", "gelu.forward"), ["p"], ["q"])) == [(0,), (1,)]
    assert found(step, op("*.forward", ["p"], ["q"])) == [(0,), (1,)]
    assert found(step, op((), ["_..."], ["q"])) == [(0,), (1,), (2,)]
    assert found(step, op(("evict", "prefetch"), ["p"])) == [(3,)]
    with pytest.raises(PatternError, match=r"no op is called 'relu.foward' \(did you mean 'relu.forward'"):
        op("relu.foward", ["p"], ["q"])


def test_repeated_operands():
    step = program("%a = accumulate(%x, %w, %v)\n%b = accumulate(%a, %x)\n%c = relu.forward(%b)")
    assert sorted(set(found(step, op("accumulate", ["p", "ps..."], ["q"])))) == [(0,), (1,)]
    assert found(step, op("accumulate", ["_", "_", "_"], ["q"])) == [(0,)] * 6  # in every order
    first = op("accumulate", ["_..."], ["q"])
    assert sorted(set(found(step, first, op("accumulate", ["before...", "q", "after..."], ["r"])))) == [(0, 1)]


def test_attributes():
    step = program(
        "%a = relu.forward(%x) {phase = forward, time = 3us}\n%b = relu.forward(%a) {phase = backward, time = 3us}\n%c = relu.forward(%b)"
    )
    assert found(step, op("relu.forward", ["p"], ["q"], {"phase": Ident("forward")})) == [(0,)]
    assert found(step, op("relu.forward", ["p"], ["q"], {"phase": OneOf((Ident("forward"), Ident("backward")))})) == [(0,), (1,)]
    assert found(step, op("relu.forward", ["p"], ["q"], {"time": Capture("_")})) == [(0,), (1,)]
    same = (op("relu.forward", ["p"], ["q"], {"time": Capture("t")}), op("relu.forward", ["q"], ["r"], {"time": Capture("t")}))
    assert found(step, *same) == [(0, 1)]


def test_directives_and_what_they_find():
    step = program(
        "%a = relu.forward(%x)\nevict(%a) {to = host}\nprefetch(%a) {from = host}\n"
        "%b = relu.forward(%a)\n%a = gelu.forward(%b)\nevict(%a) {to = ssd}"
    )
    relu = op("relu.forward", ["p"], ["q"])
    assert found(step, relu, op("evict", ["q"])) == [(0, 1)]
    rewriter = Rewriter(step)
    first, *_ = rewriter.sequence
    both = Matcher(pattern(relu, op(("evict", "prefetch"), ["q"])))
    assert [bindings.places[1].op.name for bindings in both.matches(rewriter.flow, first, 0)] == ["evict", "prefetch"]
    assert found(step, op("evict", ["q"], attrs={"to": Ident("ssd")})) == [(5,)]


def test_lines_that_share_no_tensor_are_the_nearest_ops():
    step = program(
        "%g = all_reduce(%g) {over = dp}\n%a = relu.forward(%x)\n%h = all_reduce(%h) {over = dp}\n%g = all_reduce(%g) {over = dp}",
        '{mesh = "dp=2"}',
    )
    loose = (op("all_reduce", ["p"], ["p"]), op("all_reduce", ["q"], ["q"]))
    assert found(step, *loose) == [(0, 2), (2, 3)]


def test_an_operand_wherever_it_stands():
    step = program("%a = relu.forward(%x)\n%b = fused(%w, %a, %v)\n%c = fused(%a)\n%d = fused(%w, %v)")
    assert found(step, op("relu.forward", ["_"], ["p"]), op("fused", ["_...", "p", "_..."], ["_..."])) == [(0, 1), (0, 2)]


def test_mistakes():
    with pytest.raises(PatternError, match="empty"):
        pattern()
    with pytest.raises(PatternError, match="two things: tensor and attribute"):
        pattern(op("relu.forward", ["p"], ["q"], {"time": Capture("p")}))
    with pytest.raises(PatternError, match="given twice"):
        pattern(op("relu.forward", ["p"], ["q"], label="a"), op("relu.forward", ["q"], ["r"], label="a"))
    with pytest.raises(PatternError, match="two unnamed"):
        op("accumulate", ["_...", "_..."], ["q"])


# Against the definition, by trying all ops for all lines

PATTERNS = (
    (op("relu.forward", ["p"], ["q"]), op("gelu.forward", ["q"], ["r"])),
    (op("relu.forward", ["p"], ["p"]),),
    (op(("relu.forward", "gelu.forward"), ["p"], ["q"]), op(("add.forward", "subtract.forward"), ["p", "q"], ["r"])),
    (op("*.forward", ["p"], ["q"]), op("*.forward", ["q"], ["q"])),
    (op("relu.forward", ["p"], ["q"]), op("relu.forward", ["p"], ["r"])),
    (op((), ["_..."], ["q"]), op("add.forward", ["q", "o"], ["r"]), op((), ["r"], ["s"])),
    (op("add.forward", ["p", "q"], ["p"]), op("subtract.forward", ["p", "q"], ["p"])),
    (op("gelu.forward", ["p"], ["q"]), op("relu.forward", ["o"], ["p"])),
    (op("apply_grad", ["p", "q"], ["p"]), op("apply_grad", ["p", "r"], ["p"])),
    (op((), ["p"], ["q"]), op("dropout.forward", ["q"], ["_", "m"])),
)


def by_definition(step: Program, wanted: Pattern) -> set[tuple[int, ...]]:
    return {chosen for chosen in combinations(range(len(step.ops)), len(wanted.ops)) if fits(step, wanted, chosen)}


def version(step: Program, index: int, name: str) -> tuple[str, int]:
    """The version that an op finds: how many writes came before."""
    return name, sum(name in one.writes for one in step.ops[:index])


def fits(step: Program, wanted: Pattern, chosen: tuple[int, ...]) -> bool:
    orders = [
        list(permutations(range(len(step.ops[index].reads))))
        if step.ops[index].name == "add.forward"
        else [tuple(range(len(step.ops[index].reads)))]
        for index in chosen
    ]

    def attempt(line: int, bound: dict[str, tuple[str, int]], readonly: dict[str, tuple[str, int]]) -> bool:
        if line == len(chosen):
            written = {operand.name for item in wanted for operand in item.writes} - {"_"}
            tensors: dict[str, str] = {name: one[0] for name, one in bound.items()}
            return not any(tensors[a] == tensors[b] for a in written for b in tensors if a != b)
        item, index = wanted.ops[line], chosen[line]
        one = step.ops[index]
        if one.name not in item.fitting or (len(one.writes) != len(item.writes)):
            return False
        for order in orders[line]:
            now, ok = dict(bound), True
            reads = [one.reads[n] for n in order]
            if not (len(item.reads) == 1 and item.reads[0].many):
                if len(reads) != len(item.reads):
                    return False
                for operand, name in zip(item.reads, reads, strict=True):
                    if operand.name != "_":
                        ok = ok and now.setdefault(operand.name, version(step, index, name)) == version(step, index, name)
            for operand, name in zip(item.writes, one.writes, strict=True):
                if operand.name == "_":
                    continue
                before = now.get(operand.name)
                ok = ok and (before is None or before == version(step, index, name))
                now[operand.name] = (name, version(step, index, name)[1] + 1)
            if ok and attempt(line + 1, now, readonly):
                return True
        return False

    return attempt(0, {}, {})


@settings(max_examples=300)
@given(random_programs(), st.sampled_from(PATTERNS))
def test_against_all_choices(step: Program, lines) -> None:
    """From every line of the pattern the same matches are found, and they are those of the definition."""
    wanted, rewriter = pattern(*lines), Rewriter(step)
    places, matcher = list(rewriter.sequence), Matcher(pattern(*lines))
    numbers = {place: number for number, place in enumerate(places)}
    expected = by_definition(step, wanted)
    for position in range(len(lines)):
        matches = {
            tuple(numbers[one] for one in bindings.places)
            for place in places
            for bindings in matcher.matches(rewriter.flow, place, position)
        }
        assert matches == expected


def test_bindings_name_versions():
    step = program("%a = relu.forward(%x)\n%a = relu.forward(%a)")
    rewriter = Rewriter(step)
    first, second = rewriter.sequence
    wanted = pattern(op("relu.forward", ["p"], ["q"]), op("relu.forward", ["q"], ["q"]))
    (bindings,) = Matcher(wanted).matches(rewriter.flow, second, 1)
    assert bindings.slots == {("p", 0): Version("x", None), ("q", 1): Version("a", first), ("q", 2): Version("a", second)}
