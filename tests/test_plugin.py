"""Passes from outside: the package in ``plugin/``, the one that ``g10c new-pass`` writes, and files given by ``--load``.

Both packages are installed into a folder of their own, and g10c runs in processes that have it on their path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, Finished

NEW = "trim-moves"
PROGRAM = """
g10c.ir 1
program step

tensor %x : f32[1024]  input
tensor %w : f32[1024]  weight
tensor %m : f32[1024]  optimizer
tensor %h : f32[1024]  activation
tensor %dw : f32[1024]  gradient

%h = scale.forward(%x, %w)  {time = 10us, phase = forward}
%dw = scale.backward(%x, %h)  {time = 10us, phase = backward}
%w, %m = apply_grad(%w, %m, %dw)  {time = 10us, phase = update}
"""
FREE_EARLY = '''
from dataclasses import dataclass

from g10c.compiler import Pass, Rewriter, directive


@dataclass(frozen=True)
class FreeEarly(Pass):
    """Frees an activation behind its first use."""

    name = "{name}"

    def run(self, program, context):
        rewriter = Rewriter(program)
        rewriter.insert_after(program.kernels[0], directive("free", "h"))
        return rewriter.finish()
'''


def run(folder: Path, installed: Path, *command: str | Path, **variables: str) -> Finished:
    """Run Python in a folder, with another on its path."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1", **variables}
    words = [sys.executable, "-P", *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, timeout=120, check=False)
    return Finished(done.returncode, done.stdout, done.stderr)


MAIN = "import sys; from g10c.compiler.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    """A folder with the sources of both packages, and a program."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(ROOT / "tests" / "plugin", folder / "plugin", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    made = run(folder, folder, "-c", MAIN, "new-pass", NEW)
    assert (made.status, made.err) == (0, "")
    (folder / "step.ir").write_text(PROGRAM, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def installed(sources: Path, tmp_path_factory) -> Path:
    """A folder with both packages installed."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index", "--target", target]
    done = run(sources, target, "-m", "pip", "install", *options, "./plugin", f"./{NEW}")
    assert done.status == 0, done.err
    return target


@pytest.fixture
def g10c(sources: Path, installed: Path):
    """The command line with both packages installed."""
    return lambda *arguments: run(sources, installed, "-c", MAIN, *arguments)


@pytest.fixture
def package(tmp_path: Path):
    """Makes what an installed package leaves: its metadata with entry points of the group of passes, and modules."""

    def make(name: str, entries: dict[str, str], modules: dict[str, str] | None = None) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[g10c.passes]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items()))
        for module, text in (modules or {}).items():
            (tmp_path / f"{module}.py").write_text(text)

    return make


def test_a_package_brings_a_pass_and_a_machine(g10c):
    listed = g10c("passes").out
    assert "park-optimizer" in listed
    assert "vitality" in listed
    described = g10c("passes", "park-optimizer").out
    assert "park-optimizer  (package g10c-plugin)" in described
    assert "host|ssd" in described
    assert "plugin-gpu" in g10c("machines").out


def test_the_pass_of_a_package_works(g10c):
    done = g10c("compile", "step.ir", "--machine", "plugin-gpu", "--pass", "park-optimizer{tier=ssd}", "-o", "-")
    assert done.status == 0, done.err
    ops = [line for line in done.out.splitlines() if "(" in line]
    assert [line.split("  ")[0] for line in ops if line.startswith(("evict", "prefetch"))] == ["evict(%m)", "prefetch(%m)"]
    assert ops[0] == "evict(%m)  {to = ssd}"
    assert ops[3] == "prefetch(%m)  {from = ssd}"


def test_the_plan_says_which_passes_made_it(g10c, sources):
    done = g10c("compile", "step.ir", "--machine", "plugin-gpu", "--pass", "park-optimizer,vitality", "--emit", "plan.json")
    assert done.status == 0, done.err
    assert '"pipeline": "park-optimizer,vitality"' in (sources / "plan.json").read_text()
    assert "step time" in g10c("sim", "plan.json").out


def test_the_new_package_passes_its_own_tests(sources, installed):
    done = run(sources / NEW, installed, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.status == 0, done.out
    assert "2 passed" in done.out


def test_the_new_pass_is_found_and_runs(g10c):
    assert f"{NEW}  (package g10c-{NEW})" in g10c("passes", NEW).out
    done = g10c("compile", "step.ir", "--pass", f"park-optimizer,{NEW}{{below=8KiB}}", "--statistics")
    assert done.status == 0, done.err
    assert f"{NEW}:            2 directives taken out" in done.err


def test_the_new_package_is_clean(sources):
    config = ROOT / "pyproject.toml"
    for command in (["check"], ["format", "--check"]):
        for own in ([], ["--config", config]):
            done = run(sources / NEW, sources, "-m", "ruff", *command, "--no-cache", *own, ".")
            assert done.status == 0, done.out


def test_the_types_of_the_packages_are_right(sources, tmp_path):
    (tmp_path / "g10c").mkdir()
    for part in ("ir", "compiler", "passes", "backends", "models"):
        (tmp_path / "g10c" / part).symlink_to(ROOT / part)
    options = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache"]
    for package in (NEW, "plugin"):
        done = run(sources / package, tmp_path, "-m", "mypy", *options, "src", MYPYPATH=f"{tmp_path}{os.pathsep}src")
        assert "Success: no issues found in" in done.out, done.out


def test_a_package_cannot_take_the_name_of_a_pass(sources, tmp_path, package):
    package("clash", {"vitality": "clash:Mine"})
    done = run(sources, tmp_path, "-c", MAIN, "passes")
    assert done.status == 1
    assert "pass 'vitality' is defined twice: by package clash and package g10c" in done.err


def test_a_file_cannot_take_the_name_of_a_packages_pass(sources, g10c, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FREE_EARLY.format(name="park-optimizer"))
    done = g10c("compile", "step.ir", "--load", file, "--pass", "vitality")
    assert done.status == 1
    assert f"pass 'park-optimizer' is defined twice: by package g10c-plugin and file {file}" in done.err


def test_two_files_cannot_define_one_name(g10c, tmp_path):
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text(FREE_EARLY.format(name="mine"))
    done = g10c("compile", "step.ir", "--load", files[0], "--load", files[1], "--pass", "mine")
    assert done.status == 1
    assert f"pass 'mine' is defined twice: by file {files[0]} and file {files[1]}" in done.err


def test_a_pass_that_breaks_the_program_is_named_right_behind_it(g10c, tmp_path):
    file = tmp_path / "free_early.py"
    file.write_text(FREE_EARLY.format(name="free-early"))
    reproducer = tmp_path / "failure.ir"
    done = g10c("compile", "step.ir", "--load", file, "--reproducer", reproducer, "--pass", f"park-optimizer,free-early,{NEW}")
    assert done.status == 1
    assert "step.ir:12:26: error: pass 'free-early' broke the program: scale.backward reads %h after it was freed" in done.err
    assert "[rule written-before-read]" in done.err
    assert f"--pass free-early,{NEW}" in done.err
    text = reproducer.read_text()
    assert "evict(%m)" in text
    assert "free(%h)" not in text


CLASS = '''
from dataclasses import dataclass

from g10c.compiler import Pass


{decorator}
class Mine(Pass):
    """Does nothing."""

    name = "{name}"
    level: int = 3

    def run(self, program, context):
        return program
'''
FROZEN = "@dataclass(frozen=True)"


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        ("mine:Other", CLASS.format(decorator=FROZEN, name="mine"), "cannot be loaded: module 'mine' has no attribute 'Other'"),
        ("elsewhere:Mine", "", "cannot be loaded: No module named 'elsewhere'"),
        ("mine:Mine", "x = 1 / 0\n", "cannot be loaded: ZeroDivisionError: division by zero at "),
        ("mine:Mine", "raise SystemExit(0)\n", "cannot be loaded: SystemExit: 0 at "),
        ("mine:Mine", "class Mine:\n    pass\n", "is <class 'mine.Mine'>, not a pass class"),
        ("mine", "", "not a pass class"),
        ("mine:Mine", CLASS.format(decorator="", name="mine"), "has a class Mine that is not a dataclass"),
        ("mine:Mine", CLASS.format(decorator=FROZEN, name="yours"), "has a class of another name, 'yours'"),
        ("mine:Pass", "from g10c.compiler import Pass\n", "has a class Pass without a name"),
    ],
)
def test_a_package_with_a_mistake_is_named(value, text, message, sources, tmp_path, package):
    package("wrong", {"mine": value}, {"mine": text})
    done = run(sources, tmp_path, "-c", MAIN, "compile", "step.ir", "--pass", "mine")
    assert done.status == 1, done.err
    assert "pass 'mine' of package wrong" in done.err
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_package_with_a_mistake_is_in_nobodys_way(sources, tmp_path, package):
    package("wrong", {"mine": "elsewhere:Mine"})
    done = run(sources, tmp_path, "-c", MAIN, "compile", "step.ir", "--pass", "vitality")
    assert done.status == 0, done.err
