"""Whatever a text is, it gives rules or an error with places; and one mistake hides no other."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.rule_texts import errors, rule, rules
from rules.test_same_as_python import COMMUTE, FORWARD, FUSE, HALVE, RECOMPUTE

from g10c.compiler.rewriting.rule import RuleSet
from g10c.compiler.rules.reader import load_rules
from g10c.ir.errors import Diagnostic, InputError
from g10c.ir.source import Span

TEXT = FUSE + RECOMPUTE + HALVE + FORWARD + COMMUTE
WORDS = """% $ @ ( ) { } [ ] , = == .. ... | _ " # and or not \\ - * / 1e999 3us é rule match where rewrite keep @a new %q use nothing
true none if( in dtype %xs... let x program { ; -1 0B .forward"""
PIECES = [*WORDS.split(), "\n", " or\n", "\t", "\0", "\r\n", "\x0c", "9" * 30, "where ", "rewrite "]


@st.composite
def mutated(draw):
    text = TEXT
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=3))) + text[end:]
    return text


@given(mutated())
def test_mutations_are_rules_or_mistakes(text):
    found: list[Diagnostic] = []
    try:
        assert isinstance(rules(text), RuleSet)
    except InputError as error:
        found, shown = list(error.diagnostics), error.render()
        assert shown
    assert all(isinstance(mistake.location, Span) and mistake.message for mistake in found)


@given(st.text(alphabet='%$@(){}[],=.|_"#\n \t-*/<>!abcrule09', max_size=60))
def test_noise_is_rules_or_mistakes(text):
    for piece in (text, rule(text), rule(where=text), rule(rewrite=text)):
        try:
            rules(piece)
        except InputError as error:
            error.render()


def test_one_mistake_hides_no_other():
    lines = TEXT.splitlines()
    broken = [number for number, line in enumerate(lines) if line.strip().startswith("rewrite")]
    for number in broken:
        lines[number] = lines[number].replace("rewrite ", "rewrite ( ")
    assert [int(found.split(":")[0]) for found in errors("\n".join(lines))] == [number + 1 for number in broken]


def test_a_mistake_in_a_line_leaves_the_names_of_the_line():
    found = errors(rule("@a: %y = relu.forward(%x) {time = $t)", "users(%y) == 1 and time(@a) == $t", "@a: %y = gelu.forward(%x)"))
    assert found == ["2:43 expected ',' or '}', found ')'"]


def test_many_mistakes_stay_quick():
    text = "".join(
        f"rule r{n}\nmatch %y = reluu.forward(%x)\nwhere uzers(%y) > 1 and bites(%z) + 3us\nrewrite %q = foo(%y, , )\n" for n in range(100)
    )
    started = time.process_time()
    assert len(errors(text)) == 500
    assert time.process_time() - started < 3


def test_brackets_that_stay_open_are_quick():
    started = time.process_time()
    assert len(errors("rule r\nmatch\n" + "(\n" * 2000)) > 1999
    assert time.process_time() - started < 5


def test_names_of_lost_lines_are_not_missed():
    lines = ["rule r", "mach @a: %y = relu.forward(%x) {time = $t}", "%z = gelu.forward(%y)", "where users(%z) == 1 and time(@a) > $t"]
    text = "\n".join([*lines, "rewrite keep @a", ""])
    assert errors(text) == ["2:1 expected 'match' below the rule's name, found 'mach' | did you mean 'match'?"]


def test_parsing_is_quick():
    body = TEXT.replace("program {my.rewritten = true}", "").replace("let least = 1MiB", "")
    parts = [body.replace("rule ", f"rule n{n}-") for n in range(4)]
    rules(TEXT)  # lark is there
    started = time.process_time()
    assert len(rules("let least = 1MiB\n" + "".join(parts))) == 28
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize("nesting", [50, 2000])
def test_deep_nesting(nesting):
    found = errors(rule(where="(" * nesting + "true" + ")" * nesting) + rule(where="not " * nesting + "true").replace("rule r", "rule s"))
    assert found == [] or all("nested" in message for message in found)


def test_line_ends_and_byte_order_marks(tmp_path):
    path = tmp_path / "crlf.rules"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert len(load_rules(path)) == 7


def test_comments_stand_anywhere():
    text = rule(
        '@a: %y = relu.forward(%x)  # a comment with "quotes\n{time = $t,   # and an open {\nmy.s = "#no comment"}',
        "# nothing\n users(%y) == 1",
    )
    assert errors(text) == []
    assert rules(text).rules[0].pattern.ops[0].attrs["my.s"].values == ("#no comment",)


def test_lines_go_on():
    ops = "@a: %y =\trelu.forward |\ngelu.forward\n\n  | tanh.forward(%x,\n%z)"
    match = ops + "\n  {time = $t,\n\nphase = forward |\nbackward}\n@b: %q = relu.forward(%y)"
    (found,) = rules(rule(match, "users(%y) == 1 and\nusers(%x) == 1\n  or users(%z) == 2\nusers(%q) == 1"))
    assert [op.names for op in found.pattern] == [("relu.forward", "gelu.forward", "tanh.forward"), ("relu.forward",)]
    assert [condition.text for condition in found.conditions] == ["users(%y) == 1 and users(%x) == 1 or users(%z) == 2", "users(%q) == 1"]


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "mine.rules").write_text("rule r")
    (tmp_path / "empty.rules").write_text(" \n")
    for name, expected in {
        "mime.rules": "did you mean 'mine.rules'",
        "empty.rules": "the file is empty, expected a rules file",
        "": "this is a folder",
    }.items():
        with pytest.raises(InputError, match=expected):
            load_rules(tmp_path / name)


def test_where_rules_and_conditions_stand():
    text = "# first\n" + rule("%y = relu.forward(%x)", "users(%y) == 1 and (bytes(%x)  # all of it\n  > 1KiB)", "nothing")
    (found,) = rules(text)
    assert str(found) == "r (t.rules:2:6)"
    assert [(condition.text, str(condition.location)) for condition in found.conditions] == [
        ("users(%y) == 1", "t.rules:4:7"),
        ("bytes(%x) > 1KiB", "t.rules:4:27"),
    ]
    assert not found.changes_values
    assert rules(text.replace("rule r", "rule r changes values")).rules[0].changes_values
