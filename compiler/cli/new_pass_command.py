"""``g10c new-pass``: a package with a pass that works, as a start for one of your own."""

from __future__ import annotations

import keyword
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from g10c.compiler.cli.common import Parser, say
from g10c.ir.errors import InputError, UsageError

TEMPLATES = Path(__file__).parent.parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_NAME = 40
"""Longest name in characters: lines made from it stay of readable length."""

FILES: dict[str, str] = {
    "pyproject.toml": "pyproject.toml.in",
    "README.md": "README.md.in",
    "src/$package/__init__.py": "init.py.in",
    "src/$package/$module.py": "pass.py.in",
    "src/$package/py.typed": "",
    "tests/test_$module.py": "test_pass.py.in",
}
"""The files of the package, and the template of each; one without a template is empty."""


def run(argv: Sequence[str]) -> int:
    """Write the package and say what to do next."""
    parser = Parser("new-pass", "Write a package with a pass that works, as a start for one of your own.")
    parser.add_argument("name", metavar="NAME", help="name of the pass, as it is typed in a pipeline: pin-small")
    parser.add_argument("--dir", dest="folder", metavar="DIR", help="folder to make (default: the name, in this folder)")
    arguments = parser.parse_all(argv)
    _check_name(arguments.name)
    folder = Path(arguments.name if arguments.folder is None else arguments.folder)
    _check_folder(folder)
    files = package_files(arguments.name)
    _write_folder(folder, files)
    say("\n".join([f"wrote {folder}:", *(f"  {path}" for path in files), "", *_next_steps(arguments.name, folder)]))
    return 0


def _next_steps(name: str, folder: Path) -> list[str]:
    commands = [f"cd {shlex.quote(str(folder))}", "pip install -e '.[dev]'", "pytest", f"g10c passes {name}"]
    return ["next:", *(f"  {command}" for command in commands)]


def package_files(name: str) -> dict[str, str]:
    """Paths and texts of a package whose pass has this name."""
    from g10c.compiler.driver import version

    words = {
        "name": name,
        "module": name.replace("-", "_"),
        "package": "g10c_" + name.replace("-", "_"),
        "distribution": f"g10c-{name}",
        "class_name": "".join(part.capitalize() for part in name.split("-")) + "Pass",
        "version": ".".join(version().split(".")[:2]),
    }
    texts = {path: (TEMPLATES / template).read_text(encoding="utf-8") if template else "" for path, template in FILES.items()}
    return {Template(path).substitute(words): Template(text).substitute(words) for path, text in texts.items()}


def _check_name(name: str) -> None:
    """Refuse names that no pipeline and no module can have, and those of passes that there are."""
    from g10c.compiler.driver import pass_registry

    if not NAME.fullmatch(name):
        hint = "a name is small letters and digits, joined by -, and starts with a letter, such as pin-small"
        near = _kebab_case(name)
        raise UsageError.at(f"a pass cannot be called {name!r}", None, f"did you mean {near!r}?" if near else hint)
    if keyword.iskeyword(name):
        raise UsageError.at(f"a pass cannot be called {name!r}: its module would be a word of Python", None, f"did you mean 'my-{name}'?")
    if len(name) > MAX_NAME:
        raise UsageError.at(f"the name of the pass has {len(name)} characters", None, f"at most {MAX_NAME} are taken")
    passes = pass_registry()
    if name in passes:
        raise UsageError.at(f"there is a pass {name!r} already, of {passes.owner(name)}", None, "give yours another name")


def _kebab_case(text: str) -> str:
    """The same letters and digits as a name; empty where that takes more than case and what stands between words."""
    words = re.sub(r"[\W_]+", "-", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)).strip("-").lower()
    return words if NAME.fullmatch(words) else ""


def _check_folder(folder: Path) -> None:
    if not folder.name:
        raise UsageError.at(f"--dir {str(folder)!r} names no new folder", None, "give the path of one that does not exist")
    if os.path.lexists(folder):
        raise InputError.at(f"{folder}: exists already", None, "give another folder: --dir DIR")
    if not folder.parent.is_dir():
        raise InputError.at(f"{folder}: cannot be made: there is no folder {str(folder.parent)!r}", None, "create it first")


def _write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write files to a folder that then takes its name, so that no half of it is ever there. Raises :class:`InputError`."""
    temporary = folder.parent / f".g10c-{os.getpid()}.tmp"
    try:
        temporary.mkdir()
        try:
            for path, text in files.items():
                target = temporary / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            temporary.rename(folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError.at(f"{folder}: cannot be made: {error.strerror or error}", None, "choose a folder that you may write") from None
