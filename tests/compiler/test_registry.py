"""What there is by name, and passes from a user's file."""

from __future__ import annotations

import pytest

from g10c.compiler.driver import pass_registry
from g10c.compiler.registry import Registry, load_python_file, registry
from g10c.ir.errors import InputError

TEXT = '''
from dataclasses import dataclass
from g10c.compiler import Pass, option

@dataclass(frozen=True)
class Mine(Pass):
    """Does nothing."""
    name = "{name}"
    level: int = option(3, "how much")

    def run(self, program, context):
        return program
'''


def test_two_owners_of_a_name_are_refused_naming_both():
    names: Registry[int] = Registry("pass")
    names.add("a", 1, "package one")
    with pytest.raises(InputError, match="pass 'a' is defined twice: by package one and file two"):
        names.add("a", 2, "file two")


def test_unknown_names_come_with_near_ones():
    with pytest.raises(InputError, match=r"unknown pass 'vitalty'[\s\S]*did you mean 'vitality'"):
        registry("g10c.passes").find("vitalty")


def test_a_users_file_adds_passes(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(TEXT.format(name="mine"))
    passes = pass_registry([file])
    assert passes.find("mine").name == "mine"
    assert passes.owner("mine") == f"file {file}"
    assert "vitality" in passes
    assert "mine" not in pass_registry()


def test_a_users_file_cannot_take_a_name(tmp_path):
    file = tmp_path / "clash.py"
    file.write_text(TEXT.format(name="vitality"))
    with pytest.raises(InputError, match=r"'vitality' is defined twice: by package g10c and file .*clash\.py"):
        pass_registry([file])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", "not valid Python"),
        ("import nowhere_to_be_found\n", "ModuleNotFoundError"),
        ("x = 1\n\ny = x / 0\n", ":3:1: error: ZeroDivisionError"),
        ("x = 1\n", "defines no pass"),
    ],
)
def test_mistakes_in_a_users_file_are_placed(text, message, tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        pass_registry([file])
    assert message in caught.value.render()


def test_a_file_that_is_not_there():
    with pytest.raises(InputError, match="no such file"):
        load_python_file("nowhere.py")


CLASSES = '''
from dataclasses import dataclass
from g10c.compiler import Pass, option

{decorator}
class Mine(Pass):
    """Does nothing."""
    name = {name}
    level: int = option(3, "how much")
    {method}
'''
RUN = "def run(self, program, context): return program"


@pytest.mark.parametrize(
    ("decorator", "name", "method", "message"),
    [
        ("", '"mine"', RUN, "pass class Mine is not a dataclass"),
        ("@dataclass(frozen=True)", '"mine"', "", "pass class Mine has no method run"),
        ("@dataclass(frozen=True)", "3", RUN, "pass class Mine has the name 3"),
    ],
)
def test_classes_that_cannot_be_passes_are_refused(decorator, name, method, message, tmp_path):
    file = tmp_path / "classes.py"
    file.write_text(CLASSES.format(decorator=decorator, name=name, method=method))
    with pytest.raises(InputError, match=message):
        pass_registry([file])


def test_a_mistake_in_a_file_named_relatively_is_placed_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.py").write_text("x = 1\n\nimport nowhere_to_be_found\n")
    with pytest.raises(InputError, match=r"late\.py:3:1: error: ModuleNotFoundError"):
        load_python_file("late.py")


@pytest.mark.parametrize(
    "group", ["g10c.passes", "g10c.policies", "g10c.backends", "g10c.importers", "g10c.machines", "g10c.models", "g10c.reproductions"]
)
def test_what_the_package_registers_can_be_loaded(group):
    found = registry(group)
    assert list(found), f"{group} is empty: install the package again"
    for name in found:
        assert found.find(name) is not None
        assert found.owner(name) == "package g10c"
