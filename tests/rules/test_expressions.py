"""Expressions: values by hand, and against fractions of Python."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.rule_texts import PROGRAM, applied, errors, holds, rule, rules, value

from g10c.compiler.rewriting.apply import RuleError
from g10c.compiler.rewriting.engine import apply_rules
from g10c.compiler.rewriting.log import RewriteLog
from g10c.compiler.rules.kinds import round_half_up
from g10c.ir.parser import parse_program
from g10c.ir.values import Ident, Range, Size, Time


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("-3 + 1", -2),
        ("- -3", 3),
        ("7 / 2", 3.5),
        ("8 / 2", 4),
        ("0.1 + 0.2", 0.3),
        ("1 / 3 * 3", 1),
        ("1e3", 1000),
        ("1_000", 1000),
        ("$t", Time(7000)),
        ("$t / 4", Time(1750)),
        ("$t / 3", Time(2333)),
        ("5ns / 2", Time(3)),  # a half goes up
        ("0.5ns", Time(1)),
        ("$t / 3 * 3", Time(7000)),  # rounded at the end only
        ("$t / 2us", 3.5),
        ("2 * $t", Time(14000)),
        ("$mt + $t", Time(12000)),
        ("$mt / $t", 5 / 7),
        ("$mt * 2 - 1us", Time(9000)),
        ("-(-$mt)", Time(5000)),
        ("$n * $f", 1.5),
        ("$f", 0.5),
        ("$f * 2", 1),
        ("$n", 3),
        ("$s", "text"),
        ("$s + \"ual\"", "textual"),
        ("$b", True),
        ("not $b", False),
        ("$n > 2", True),
        ("$flops", 32),
        ("$z", Size(2048)),
        ("$z / 3", Size(683)),
        ("bytes(%y) / 0.5GB/s", Time(256)),
        ("bytes(%y) / (2KB/s)", Time(64_000_000)),
        ("$t * bytes(%y) / bytes(%m)", Time(28000)),
        ("$t / bytes(%m) * bytes(%y)", Time(28000)),
        ("bytes(%m) * $t / bytes(%y)", Time(1750)),
        ("bytes(%y) / $t * 14us", Size(256)),
        ("bytes(%y) / $mt / 1GB/s", 0.0256),
        ("bytes(%y) / (bytes(%y) / $t)", Time(7000)),
        ("1GiB / 2GB/s", Time(536870912)),
        ("1GiB / 2s == 512MiB/s", True),
        ("max(bytes(%y) / $t, 1GB/s) == 1GB/s", True),
        ("if(true, fast, 1GB/s) * 1us", Size(25000)),
        ('"dp=" + text(3 + 5)', "dp=8"),
        ('text($t) + " " + text(bytes(%y)) + text($s) + text(layer(@b)) + text($b)', "7us 128Btextnonetrue"),
        ('text(1 / 3) + text([1, 2])', "0.333333[1, 2]"),
        ("forward", Ident("forward")),
        ("phase(@a)", Ident("forward")),
        ("\"a\" + \"b\"", "ab"),
        ("true", True),
        ("none", None),
        ("[1, 2 * 3]", (1, 6)),
        ("shape(%y)", (4, 8)),
        ("0B..bytes(%y) / 2", Range(Size(0), Size(64))),
        ("1..3", Range(1, 3)),
        ("bytes(%y)", Size(128)),
        ("bytes(%xs)", Size(256)),
        ("bytes(%xs...)", Size(256)),
        ("elements(%m)", 32),
        ("elements(%xs)", 64),
        ("users(%y)", 2),
        ("users(%xs)", 2),
        ("users(%h)", 1),
        ("count(%xs)", 2),
        ("count(%y)", 1),
        ("role(%w)", "weight"),
        ("role(%xs)", "input"),
        ("dtype(%m)", "u8"),
        ("rank(%y)", 2),
        ("rank(%w)", 1),
        ("dim(%y, 0)", 4),
        ("dim(%y, 1)", 8),
        ("dim(%y, -1)", 8),
        ("persistent(%w)", True),
        ("persistent(%xs)", False),
        ("name(@a)", "dropout.forward"),
        ("name(%m)", "m"),
        ("time(@a)", Time(7000)),
        ("time(@b)", Time(0)),
        ("layer(@a)", "h0.drop"),
        ("layer(@b)", None),
        ("attr(@a, flops)", 32),
        ("attr(@a, my.n) + 1", 4),
        ("attr(@b, flops)", None),
        ("attr(@b, flops, 5)", 5),
        ("attr(@b, my.q, 5us) + $t", Time(12000)),
        ("attr(@a, \"my.n\", 0)", 3),
        ("attr(@a, \"my.\" + \"n\")", 3),
        ("attr(@a, \"my.\" + $s, 4)", 4),
        ("has(@a, \"my.\" + $s)", False),
        ("attr(@a, layer)", "h0.drop"),
        ("has(@a, flops)", True),
        ("has(@b, flops)", False),
        ("traffic(@a)", Size(128 + 32 + 128 + 32)),
        ("min(3, 2, 5)", 2),
        ("max($t, 9us)", Time(9000)),
        ("max($mt, 9us)", Time(9000)),
        ("round(2.5)", 3),
        ("round(-2.5)", -2),
        ("floor($t / 3)", Time(2333)),
        ("ceil($t / 3)", Time(2334)),
        ("floor($f)", 0),
        ("ceil($f)", 1),
        ("abs(1 - 3)", 2),
        ("abs($n - 5)", 2),
        ("if(users(%y) == 2, 1, 2)", 1),
        ("if($b, $mt, 1us)", Time(5000)),
        ("if(false, 1 / elements(%y), 0)", 0),
        ("starts_with(layer(@a), \"h0\")", True),
        ("starts_with(layer(@b), \"h0\")", False),
        ("ends_with(name(@a), forward)", True),
        ("contains($s, ex)", True),
        ("contains($s, z)", False),
    ],
)  # fmt: skip
def test_values(expression, expected):
    found = value(expression, lets="let fast = 25GB/s\nlet layer = embed")
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("users(%y) == 2", True),
        ("users(%y) != 2", False),
        ("bytes(%y) >= 128B and bytes(%y) <= 128B", True),
        ("bytes(%y) < 128B or bytes(%y) > 128B", False),
        ("not users(%y) == 3", True),
        ("phase(@a) == forward", True),
        ("phase(@a) == \"forward\"", True),
        ("phase(@b) in (forward, backward)", True),
        ("phase(@b) not in (forward, backward)", False),
        ("phase(@a) != none", True),
        ("layer(@b) == none", True),
        ("layer(@b) == \"h0\"", False),
        ("layer(@b) in (\"h0\", none)", True),
        ("attr(@a, my.q) == none", True),
        ("attr(@a, my.q) == 3", False),
        ("attr(@a, my.q) != 3", True),
        ("$n == 3", True),
        ("$n in (1, 2)", False),
        ("$n not in (1, 2)", True),
        ("$mt == 5us", True),
        ("$mt > $t", False),
        ("$s == text", True),
        ("$b", True),
        ("$b == true", True),
        ("not $b", False),
        ("shape(%y) == [4, 8]", True),
        ("shape(%y) == shape(%m)", True),
        ("1 == 1.0", True),
        ("role(%xs) == input", True),
        ("role(%xs) != input", False),
        ("true", True),
        ("false", False),
        ("users(%y) == 2\n\nbytes(%y) == 128B", True),
        ("users(%y) == 2\nbytes(%y) == 1B", False),
        ("users(%y) == 1 or\nbytes(%y) == 128B", True),
        ("users(%y) == 1\nor bytes(%y) == 128B", True),
        ("(users(%y) == 1\n or bytes(%y) == 128B)", True),
        ("1us == 1000ns and 1KiB == 1024B and 1MB == 1000KB", True),
        ("least > 100B", True),
        ("least == 128B and twice == 256B", True),
    ],
)  # fmt: skip
def test_conditions(condition, expected):
    assert holds(condition, lets="let least = 128B\nlet twice = least * 2") is expected


def test_a_list_that_differs_has_no_answer():
    where = "role(%xs) == none and rank(%xs) == none and dtype(%xs) == f32 and persistent(%xs)"
    text = rule("@a: %y, %m = dropout.forward(%xs...)", where, "keep @a {my.done = role(%xs) != activation}")
    assert applied(text).ops[0].attrs["my.done"] is True


def _message(expression: str, functions=None) -> str:
    with pytest.raises(RuleError) as caught:
        value(expression, functions)
    (found,) = caught.value.diagnostics
    return f"{found.message} | {found.hint}" if found.hint else found.message


AT = "; it matched dropout.forward at <string>:8:1 and gelu.forward at <string>:9:1"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 / ($n - 3)", "division by zero{at} | ask whether $n - 3 is 0 first"),
        ("1us / time(@b)", "division by zero{at} | ask whether time(@b) is 0 first"),
        ("$t - 8us", "'my.value' of dropout.forward would be negative: -1us{at} | a time is 0ns or more"),
        ("bytes(%m) - bytes(%y)", "'my.value' of dropout.forward would be negative: -96B{at} | a size is 0B or more"),
        ("$t * 1e16", "'my.value' of dropout.forward would not be below 2^63: 70000000000s{at}"),
        ("elements(%y) * 1e18 * 1e18", "'my.value' of dropout.forward would not lie between -2^63 and 2^63{at}"),
        ("$mt + $n", "cannot add a number to a time: $mt is a time, $n is a number{at}"),
        ("$s + 1", "cannot add a number to text: $s is text, 1 is a number{at}"),
        ("$s > 1", "cannot compare text with a number: $s is text, 1 is a number{at}"),
        ("$s == 1", "cannot compare text with a number: $s is text, 1 is a number{at}"),
        ("$s and true", "expected true or false, and $s is text{at}"),
        ("-$s", "expected a number, a time or a size, and $s is text{at}"),
        ("max($s, 1)", "the arguments of max are of one kind: $s is text, this is text{at}"),
        ("max($n, $mt)", "the arguments of max are of one kind: $n is a number, this is a time{at}"),
        ("bytes(%y) / attr(@b, flops)", "expected a number, and attr(@b, flops) is none{at}"
                                        " | give a default, attr(@a, key, 0), or ask has(@a, key) first"),
        ("dim(%y, 2)", "%y has 2 dimensions, and no dimension 2{at} | the first is 0, the last -1"),
        ("dim(%y, 0.5)", "%y has 2 dimensions, and no dimension 0.5{at} | the first is 0, the last -1"),
        ("(0B - bytes(%y))..1B", "'my.value' of dropout.forward would be -128B..1B{at} | a range begins at 0 or later"),
    ],
)  # fmt: skip
def test_what_goes_wrong_while_it_runs(expression, expected):
    assert _message(expression) == "rule 'r': " + expected.format(at=AT)


def test_its_place_is_the_operand():
    with pytest.raises(RuleError) as caught:
        value("2 + 1 / ($n - 3)")
    (found,) = caught.value.diagnostics
    assert (str(found.location), found.location.text) == ("t.rules:5:38", "$n - 3")


def test_what_a_condition_found():
    log = RewriteLog()
    text = rule(rewrite="keep @a {my.d = true}", match="@a: %g = gelu.forward(%y)", where="users(%y) == least and users(%g) == 5")
    apply_rules(parse_program(PROGRAM), rules("let least = 2\n" + text), log=log)
    (miss,) = log.near_misses
    assert (miss.condition, miss.found) == ("users(%g) == 5", "users(%g) = 1")


def test_conditions_may_count_on_those_above():
    where = "has(@a, my.q) and attr(@a, my.q) > 3\n1 / attr(@a, my.q) > 1"
    text = rule("@a: %g = gelu.forward(%y)", where)
    for log in (None, RewriteLog()):
        assert apply_rules(parse_program(PROGRAM), rules(text), log=log).firings == {}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("bytes(%y) > least", "bytes(%y) = 128B, least = 1MiB"),
        ("time(@a) / 3 > 1s", "time(@a) / 3 = about 2.333us"),
        ("not persistent(%x) and false", "persistent(%x) = false"),
        ("phase(@a) in (loss, update)", "phase(@a) = forward"),
        ("users(%y) == 7 or dtype(%y) == f16", "users(%y) = 2, dtype(%y) = f32"),
        ("attr(@a, my.q) == 3", "attr(@a, my.q) = none"),
        ("shape(%y) == [1]", "shape(%y) = [4, 8]"),
        ("bytes(%y) / time(@a) > 1GB/s", "bytes(%y) / time(@a) = 0.0182857GB/s"),
        ("time(@a) / bytes(%y) > 1s / 1B", "time(@a) / bytes(%y) = 54.6875ns/B"),
        ("layer(@a) == \"x y\"", 'layer(@a) = "h0.drop"'),
        ("1 / (elements(%y) - 32) > 1", "division by zero"),
    ],
)  # fmt: skip
def test_what_conditions_find(condition, expected):
    from g10c.compiler.rewriting.rewriter import Rewriter
    from g10c.compiler.rewriting.rule import Match

    found = rules("let least = 1MiB\n" + rule("@a: %y, %m = dropout.forward(%x, _...)", condition)).rules[0]
    rewriter = Rewriter(parse_program(PROGRAM))
    bindings = next(found.matcher.matches(rewriter.flow, next(iter(rewriter.sequence)), 0))
    assert found.conditions[0].found(Match(found.pattern, bindings, rewriter)) == expected


NUMBERS = {"3": Fraction(3), "0.25": Fraction(1, 4), "2e2": Fraction(200), "$flops": Fraction(32), "$n": Fraction(3), "$f": Fraction(1, 2)}
TIMES = {"4ns": Fraction(4), "1.5us": Fraction(1500), "$t": Fraction(7000), "$mt": Fraction(5000)}


def _pairs(table):
    return st.sampled_from(sorted(table.items()))


def _numbers(inner):
    numbers, times = inner

    def of(sign, function):
        return lambda pair: (f"({pair[0][0]} {sign} {pair[1][0]})", function(pair[0][1], pair[1][1]))

    def divided(left, right):
        return left / right if right else None

    def call(name, function):
        return lambda pair: (f"{name}({pair[0][0]}, {pair[1][0]})", function(pair[0][1], pair[1][1]))

    plus, minus, by = of("+", lambda a, b: a + b), of("-", lambda a, b: a - b), of("*", lambda a, b: a * b)
    both, two_times = st.tuples(numbers, numbers), st.tuples(times, times)
    return (
        st.one_of(
            both.map(plus), both.map(minus), both.map(by), both.map(of("/", divided)), two_times.map(of("/", divided)),
            numbers.map(lambda one: (f"(-{one[0]})", -one[1])), numbers.map(lambda one: (f"floor({one[0]})", Fraction(math.floor(one[1])))),
        ),
        st.one_of(
            two_times.map(plus), two_times.map(minus), st.tuples(times, numbers).map(by), st.tuples(numbers, times).map(by),
            st.tuples(times, numbers).map(of("/", divided)), two_times.map(call("max", max)), two_times.map(call("min", min)),
            times.map(lambda one: (f"ceil({one[0]})", Fraction(math.ceil(one[1])))),
        ),
    )  # fmt: skip


@st.composite
def calculations(draw):
    """The text of a time, and its exact value; ``None`` for a division by zero."""
    numbers, times = _pairs(NUMBERS), _pairs(TIMES)
    for _ in range(draw(st.integers(1, 3))):
        more = _numbers((numbers, times))
        numbers, times = st.one_of(numbers, more[0]), st.one_of(times, more[1])
        numbers, times = _known(numbers), _known(times)
    return draw(times)


def _known(strategy):
    return strategy.filter(lambda pair: pair[1] is not None and abs(pair[1]) < 10**12)


@given(calculations())
def test_calculations_are_exact(pair):
    text, exact = pair
    if exact < 0 and round_half_up(exact) < 0:
        with pytest.raises(RuleError, match="would be negative"):
            value(text)
    else:
        found = value(text)
        assert (type(found), found) == (Time, Time(math.floor(exact + Fraction(1, 2))))


@given(calculations(), st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), calculations())
def test_comparisons_are_exact(left, sign, right):
    expected = eval(f"a {sign} b", {"a": left[1], "b": right[1]})  # noqa: S307 - Python's own comparison
    assert holds(f"{left[0]} {sign} {right[0]}") is expected


def test_constants_are_calculated_before_anything_runs():
    assert errors("let a = 3us\nlet b = 1 / (a / 3us - 1)\n" + rule()) == ["2:14 division by zero"]
