"""Functions of users in rules, and the table of the built-in ones."""

from __future__ import annotations

from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from rules.rule_texts import PROGRAM, applied, errors, holds, rule, value

from g10c.compiler import rule_function
from g10c.compiler.registry import GROUPS, registry
from g10c.compiler.rewriting.apply import RuleError
from g10c.compiler.rewriting.rule import Captured
from g10c.compiler.rules.builtins import markdown_table, table
from g10c.compiler.rules.functions import find_rule_functions
from g10c.ir.errors import InputError
from g10c.ir.program import Op
from g10c.ir.values import Size, Time

AT = "; it matched dropout.forward at <string>:8:1 and gelu.forward at <string>:9:1"


def test_what_functions_are_given():
    given = []

    def see(*values):
        given.append(values)
        return True

    assert holds(
        "see(%y, %xs, @a, 1, 0.5, $t / 3, bytes(%y) / 3, $mt, $s, $b, none, layer(@b), shape(%y), least)", {"see": see}, "let least = 3us"
    )
    tensor, tensors, op, *plain = given[0]
    assert (type(tensor), tensor.name, tensor.users) == (Captured, "y", 2)
    assert [one.name for one in tensors] == ["x", "x"]
    assert (type(op), op.name) == (Op, "dropout.forward")
    assert plain == [1, 0.5, Time(2333), Size(43), Time(5000), "text", True, None, None, (4, 8), Time(3000)]
    assert [type(one) for one in plain] == [int, float, Time, Size, Time, str, bool, type(None), type(None), tuple, Time]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (True, True),
        (3, 3),
        (2.5, 2.5),
        (Fraction(1, 4), 0.25),
        (Time(3), Time(3)),
        (Size(3), Size(3)),
        ("text", "text"),
    ],
)
def test_what_functions_give(result, expected):
    found = value("give()", {"give": lambda: result})
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("result", [None, (1, 2), [1], object(), float("nan"), float("inf"), {}])
def test_what_functions_may_not_give(result):
    with pytest.raises(RuleError, match="rule function 'give' gave ") as caught:
        value("give()", {"give": lambda: result})
    assert caught.value.diagnostics[0].hint == "it has to return true or false, a number, a Time, a Size or text"


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("give() > 1us", "cannot compare a number with a time: give() is a number, 1us is a time"),
        ("give()", "expected a condition, true or false, and give() is a number"),
        ("give() and true", "expected a condition, true or false, and give() is a number"),
        ("not give()", "expected true or false, and give() is a number"),
        ("starts_with(give(), a)", "expected text or none, and give() is a number"),
        ("dim(%y, 1) == give() + 1us", "cannot add a time to a number: give() is a number, 1us is a time"),
    ],
)
def test_results_are_checked_when_they_are_used(condition, message):
    with pytest.raises(RuleError) as caught:
        holds(condition, {"give": lambda: 3})
    assert caught.value.diagnostics[0].message == f"rule 'r': {message}{AT}"


def test_a_result_of_the_wrong_kind_for_an_attribute():
    text = rule("@a: %g = gelu.forward(%y)", rewrite="keep @a {time = give()}")
    with pytest.raises(RuleError) as caught:
        applied(text, functions={"give": lambda: 3})
    assert caught.value.diagnostics[0].message.startswith("rule 'r': 'time' of gelu.forward: expected a time, and give() is a number; ")


HELPERS = """
from g10c.compiler import rule_function

@rule_function
def small(x):
    return x.size_bytes < 1000

def divide():
    return 1 / 0

@rule_function
def fails(x):
    return divide()

@rule_function
def leaves(x, *, hard=False):
    raise SystemExit(3)

def no_rule_function(x):
    return True
"""


def _helpers(folder: Path, text: str = HELPERS, name: str = "helpers.py") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_functions_of_a_file(tmp_path):
    functions = find_rule_functions([_helpers(tmp_path)])
    assert {"small", "fails", "leaves"} <= set(functions)
    assert "no_rule_function" not in functions
    assert holds("small(%y)", functions)
    assert holds("not small(%y)", functions) is False


def test_a_function_that_raises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    functions = find_rule_functions([_helpers(tmp_path)])
    for call, what in (
        ("fails(%y)", "ZeroDivisionError: division by zero at helpers.py:9"),
        ("leaves(%y)", "SystemExit: 3 at helpers.py:17"),
    ):
        with pytest.raises(RuleError) as caught:
            holds(call, functions)
        (found,) = caught.value.diagnostics
        assert found.message == f"rule 'r': rule function '{call[:-4]}' raised {what}{AT}"
        assert (found.location.text, found.hint) == (call, "this is a mistake in the function")


def test_numbers_of_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    functions = find_rule_functions([_helpers(tmp_path)])
    where = "small() and small(%y, 1) and leaves(%y, true)"
    assert errors(rule("%y = relu.forward(%x)", where, "nothing"), functions) == [
        "3:7 small does not take 0 arguments | it is defined at helpers.py:4 as small(x)",
        "3:19 small does not take 2 arguments | it is defined at helpers.py:4 as small(x)",
        "3:36 leaves does not take 2 arguments | it is defined at helpers.py:15 as leaves(x, *, hard=False)",
    ]


def test_unknown_functions_are_told_with_near_names(tmp_path):
    functions = find_rule_functions([_helpers(tmp_path)])
    (found,) = errors(rule("%y = relu.forward(%x)", "smal(%y)", "nothing"), functions)
    assert found.startswith(
        "3:7 there is no function 'smal' | did you mean 'small'? To add one, write a Python function under @rule_function"
    )


def test_two_owners_of_one_name_are_refused(tmp_path):
    first, second = _helpers(tmp_path), _helpers(tmp_path, name="others.py")
    with pytest.raises(InputError, match=r"rule function 'small' is defined twice: by file .*helpers\.py and file .*others\.py"):
        find_rule_functions([first, second])
    assert find_rule_functions([first, first])
    built_in = _helpers(tmp_path, HELPERS.replace("small", "bytes"), "built_in.py")
    with pytest.raises(InputError, match=r"rule function 'bytes' is defined twice: by g10c itself and file .*built_in\.py"):
        find_rule_functions([built_in])


@rule_function
def packaged(x):
    return x.users == 1


def test_functions_of_a_package(monkeypatch):
    group = registry("g10c.rule_functions")
    assert GROUPS["g10c.rule_functions"] == "rule function"
    monkeypatch.setattr(group, "_lazy", {"packaged": EntryPoint("packaged", f"{__name__}:packaged", "g10c.rule_functions")})
    monkeypatch.setattr(group, "_owners", {"packaged": "package mine"})
    monkeypatch.setattr(group, "_loaded", {"packaged": packaged})
    assert find_rule_functions()["packaged"] is packaged
    monkeypatch.setattr(group, "_loaded", {"packaged": 3})
    with pytest.raises(InputError, match="rule function 'packaged' of package mine is 3"):
        find_rule_functions()


@pytest.mark.parametrize("thing", [3, lambda x: x])
def test_what_is_no_function_is_refused(thing):
    with pytest.raises(TypeError, match="rule_function stands above a function with a name"):
        rule_function(thing)


def test_every_built_in_function_is_documented_and_can_be_called():
    calls = {
        "dim": "dim(%y, 0)", "has": "has(@a, time)", "min": "min(1, 2)", "max": "max(1, 2)", "if": "if(true, 1, 2)",
        "starts_with": "starts_with($s, a)", "ends_with": "ends_with($s, a)", "contains": "contains($s, a)", "attr": "attr(@a, my.n, 3)",
    }  # fmt: skip
    for name, function in table().items():
        assert function.usage.startswith(f"{name}(")
        assert function.doc
        assert "\n" not in function.doc
        call = calls.get(name) or function.usage.replace("(a)", "($t)").replace("%x)", "%y)")
        assert value(call) is not None, call
    rows = markdown_table().splitlines()
    assert rows[:3] == ["| function | |", "|---|---|", "| `bytes(%x)` | size of a tensor; of a list the sum |"]
    assert len(rows) == 2 + len(table())


def test_the_program_of_these_tests_is_right():
    from g10c.ir.parser import parse_program
    from g10c.ir.verifier import check_program

    check_program(parse_program(PROGRAM))


def test_a_function_cannot_change_what_it_looks_at():
    def peek(a):
        a.attrs["time"] = 1
        return False

    with pytest.raises(InputError, match="rule function 'peek' raised TypeError"):
        applied(rule("@a: %g = gelu.forward(%y)", "peek(@a)", "keep @a {my.done = true}"), functions={"peek": peek})


def test_constants_and_texts_do_not_grow_without_end():
    doubling = "let a0 = 1\n" + "".join(f"let a{n + 1} = a{n} + a{n}\n" for n in range(60))
    assert errors(doubling + rule(rewrite="nothing")) == []
    squares = "let a0 = 9e18\n" + "".join(f"let a{n + 1} = a{n} * a{n}\n" for n in range(14))
    assert "a number would be out of range" in errors(squares + rule(rewrite="nothing"))[0]
    assert "too small a fraction" in errors("let a = 1e-999\n" + rule(rewrite="nothing"))[0]
    texts = 'let a0 = "twelve chars"\n' + "".join(f"let a{n + 1} = a{n} + a{n}\n" for n in range(20))
    assert "a text would have more than 65,536 characters" in errors(texts + rule(rewrite="nothing"))[0]
