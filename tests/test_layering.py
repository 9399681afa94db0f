"""ir <- compiler <- {passes | backends | models}: who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support import ROOT

MAY_IMPORT = {
    "ir": {"ir"},
    "compiler": {"ir", "compiler"},
    "passes": {"ir", "compiler", "passes"},
    "backends": {"ir", "compiler", "backends"},
    "models": {"ir", "compiler", "models"},
}


def imports(part: str) -> Iterator[tuple[str, int, str]]:
    for path in sorted((ROOT / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module == "g10c":
                names += [f"g10c.{alias.name}" for alias in node.names]
            for name in names:
                yield str(path.relative_to(ROOT)), node.lineno, name


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_direction_of_imports(part):
    found = list(imports(part))
    assert found, f"nothing imported in {part}: is the folder there?"
    wrong = [(path, line, name) for path, line, name in found if name.startswith("g10c.") and name.split(".")[1] not in MAY_IMPORT[part]]
    assert wrong == []


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_imports_are_absolute(part):
    levels = [
        (str(path), node.lineno)
        for path in sorted((ROOT / part).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert levels == []


def test_every_package_is_installed():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    there = {".".join(("g10c", *path.parent.relative_to(ROOT).parts)) for part in MAY_IMPORT for path in (ROOT / part).rglob("__init__.py")}
    assert there == listed


def test_modules_and_functions_stay_small():
    texts = {path: path.read_text(encoding="utf-8") for part in MAY_IMPORT for path in sorted((ROOT / part).rglob("*.py"))}
    long_modules = [str(path) for path, text in texts.items() if text.count("\n") > 500]
    long_functions = [
        f"{path}:{node.lineno} {node.name}"
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= 80
    ]
    assert (long_modules, long_functions) == ([], [])
