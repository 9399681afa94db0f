"""What there is by name: passes, policies, backends, importers, machines, models.

Everything enters by the same door, an entry point of an installed package or a file given with ``--load``. Nothing is imported
before it is asked for, and two owners of one name are refused, naming both.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar, cast

from g10c.ir.errors import Diagnostic, G10cError, InputError, near_hint
from g10c.ir.source import Location, Source, Span

T = TypeVar("T")

GROUPS: dict[str, str] = {
    "g10c.passes": "pass",
    "g10c.policies": "policy",
    "g10c.backends": "backend",
    "g10c.exporters": "export format",
    "g10c.importers": "importer",
    "g10c.machines": "machine",
    "g10c.models": "model",
    "g10c.reproductions": "reproduction",
    "g10c.rules": "rules file",
    "g10c.rule_functions": "rule function",
}
"""Entry-point groups, and what one entry of each is called."""


class Registry(Generic[T]):
    """Names of one kind and what they stand for, loaded on demand.

    ``check`` is given what an entry point loaded, as (name, value, owner), and raises :class:`InputError` where it is of no use.
    """

    def __init__(self, what: str, check: Callable[[str, object, str], None] | None = None) -> None:
        self.what = what
        self._check = check
        self._lazy: dict[str, EntryPoint] = {}
        self._loaded: dict[str, T] = {}
        self._owners: dict[str, str] = {}

    def add_entry_point(self, entry: EntryPoint) -> None:
        """Register what a package offers, without importing it."""
        owner = f"package {entry.dist.name}" if entry.dist else f"module {entry.module}"
        known = self._lazy.get(entry.name)
        if known is not None and known.value == entry.value:
            return  # the same package found twice on the path
        self._claim(entry.name, owner)
        self._lazy[entry.name] = entry

    def add(self, name: str, value: T, owner: str) -> None:
        """Register a value that is at hand."""
        self._claim(name, owner)
        self._loaded[name] = value

    def copy_from(self, other: Registry[T]) -> None:
        """Register everything that another registry holds."""
        self._lazy.update(other._lazy)
        self._loaded.update(other._loaded)
        self._owners.update(other._owners)

    def _claim(self, name: str, owner: str) -> None:
        if name in self._owners:
            both = f"{self._owners[name]} and {owner}"
            raise InputError.at(f"{self.what} {name!r} is defined twice: by {both}", None, "rename one, or uninstall one of the packages")
        self._owners[name] = owner

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._owners))

    def __contains__(self, name: str) -> bool:
        return name in self._owners

    def _where_to_look(self) -> str:
        if not self._owners:
            return f"there are no {_plural(self.what)} here; a package brings them"
        return f"there are {', '.join(sorted(self._owners))}"

    def owner(self, name: str) -> str:
        """Package or file that defines a name."""
        return self._owners[name]

    def find(self, name: str, location: Location | None = None) -> T:
        """What a name stands for. Raises :class:`InputError` with near names when there is none."""
        if name not in self._owners:
            hint = near_hint(name, self._owners, _plural(self.what)) or self._where_to_look()
            raise InputError.at(f"unknown {self.what} {name!r}", location, hint)
        if name not in self._loaded:
            value = self._load(name, location)
            if self._check is not None:
                self._check(name, value, self._owners[name])
            self._loaded[name] = value
        return self._loaded[name]

    def _load(self, name: str, location: Location | None) -> T:
        """Import what a package offers. What its own code raises is told with the last line that ran."""
        message, hint = f"{self.what} {name!r} of {self._owners[name]} cannot be loaded: ", "install the package again, or what it needs"
        try:
            return cast("T", self._lazy[name].load())
        except (ImportError, AttributeError) as error:
            raise InputError.at(f"{message}{error}", location, hint) from error
        except (G10cError, KeyboardInterrupt):
            raise
        except BaseException as error:  # also what is no Exception: a module that exits has failed
            frame = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{type(error).__name__}: {error} at {frame.filename}:{frame.lineno}"
            raise InputError.at(message + problem, location, "this is a mistake in the package") from error


def _plural(what: str) -> str:
    return {"pass": "passes", "policy": "policies"}.get(what, what + "s")


def _check_pass(name: str, value: object, owner: str) -> None:
    from g10c.compiler.pass_check import check_entry  # here, because only commands that run passes need it

    check_entry(name, value, owner)


@cache
def registry(group: str) -> Registry[object]:
    """The registry of an entry-point group, filled from the installed packages."""
    found: Registry[object] = Registry(GROUPS[group], _check_pass if group == "g10c.passes" else None)
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        found.add_entry_point(entry)
    return found


@cache
def library(group: str) -> Registry[Path]:
    """The files that the libraries of a group hold, by name."""
    libraries = registry(group)
    found: Registry[Path] = Registry(GROUPS[group])
    for entry in libraries:
        mapping = cast("Mapping[str, Path]", libraries.find(entry))
        for name in sorted(mapping):
            found.add(name, Path(mapping[name]), libraries.owner(entry))
    return found


def load_python_file(path: str) -> ModuleType:
    """Run a user's Python file as a module. Raises :class:`InputError` with the file and line of what went wrong."""
    file = Path(os.path.abspath(path))
    name = "g10c_user_" + "".join(c if c.isalnum() else "_" for c in str(file))
    if name in sys.modules:
        return sys.modules[name]
    if not file.is_file():
        what = "not a regular file" if file.exists() else "no such file"
        raise InputError.at(f"{path}: {what}", None, "--load takes a Python file with passes or policies")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError.at(f"{path}: not a Python file", None, "--load takes a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        del sys.modules[name]
        raise _python_error(path, error.lineno or 1, f"not valid Python: {error.msg}", error.offset or 0) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what is no Exception: a file that exits has failed
        del sys.modules[name]
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno or 1 for frame in frames if frame.filename == str(file)]
        raise _python_error(path, lines[-1] if lines else 1, f"{type(error).__name__}: {error}") from error
    return module


def _python_error(path: str, line: int, message: str, column: int = 0) -> InputError:
    try:
        source = Source(path, Path(path).read_text(encoding="utf-8", errors="replace"))
        span = source.line_span(line)
        if column:
            start = span.start - span.column + column
            span = Span(source, start, start + 1)
        return InputError(Diagnostic(message, span, "the file has to run by itself: python FILE"))
    except (OSError, IndexError):
        return InputError.at(f"{path}:{line}: {message}")
