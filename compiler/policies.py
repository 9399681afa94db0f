"""Policies by name: found in the registry or in a user's file, made from text, and called with care.

The text is that of a program's attribute ``policy``: a name with options, as in a pipeline, ``deepum{degree=8}``.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from operator import index
from pathlib import Path
from typing import Any, TypeAlias

from g10c.compiler.options import options_of
from g10c.compiler.pipeline import build_passes, parse_pipeline
from g10c.compiler.protocols import CopyPolicy, CopyRules, Policy, Pool, Residency
from g10c.compiler.registry import Registry, load_python_file
from g10c.ir.errors import G10cError, InputError, near_hint
from g10c.ir.machine import Machine
from g10c.ir.source import Location
from g10c.ir.step import Move, Step

AnyPolicy: TypeAlias = Policy | CopyPolicy
OWN = "g10c."
"""Modules of g10c itself, whose policies are called without checks."""

HOW = "a policy is a dataclass derived from g10c.compiler.Policy or CopyPolicy with a class attribute `name`"


def policies_of(file: str | Path) -> list[type[AnyPolicy]]:
    """The policies that a user's Python file defines, in order."""
    module = load_python_file(str(file))
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return [value for value in own if issubclass(value, Policy | CopyPolicy) and "name" in vars(value)]


def check_policy_files(files: Sequence[str | Path]) -> None:
    """Raise :class:`InputError` for a file that defines no policy."""
    for file in files:
        if not policies_of(file):
            raise InputError.at(f"{file}: defines no policy", None, HOW)


def policy_registry(files: Sequence[str | Path] = ()) -> Registry[Any]:
    """Policies of the installed packages, and of the Python files given. Raises :class:`InputError` for classes that are none."""
    from g10c.compiler.registry import registry  # looked up here, so that tests can put another in its place

    found: Registry[Any] = Registry("policy", _check)
    found.copy_from(registry("g10c.policies"))
    for file in dict.fromkeys(str(file) for file in files):
        for kind in policies_of(file):
            _check(str(kind.name), kind, f"file {file}")
            found.add(kind.name, kind, f"file {file}")
    return found


def _check(name: str, value: object, owner: str) -> None:
    """Refuse what cannot be made into a policy. Raises :class:`InputError`."""
    problem = ""
    if not isinstance(value, type) or not issubclass(value, Policy | CopyPolicy):
        problem = f"is {value!r}, not a policy class"
    elif not isinstance(getattr(value, "name", None), str) or value.name != name:
        problem = f"has a class {value.__name__} of another name, {getattr(value, 'name', None)!r}"
    elif "__dataclass_params__" not in vars(value):
        problem = f"has a class {value.__name__} that is not a dataclass"
    else:
        try:
            for item in options_of(value):
                item.type_text()
        except Exception as error:  # annotations are the owner's, and are evaluated here
            problem = f"has a class {value.__name__} with an option that cannot be read: {error}"
    if problem:
        raise InputError.at(f"policy {name!r} of {owner} {problem}", None, HOW)


def make_policy(text: str, files: Sequence[str | Path] = (), where: str = "policy", location: Location | None = None) -> AnyPolicy:
    """The policy that a text names, with its options. ``where`` and ``location`` are for messages.

    Raises :class:`InputError` for mistakes in the text, for an unknown name, and where it names none or several.
    """
    calls, known = parse_pipeline(text, where), policy_registry(files)
    for call in calls:
        if call.name not in known:
            near = near_hint(call.name, known, "policies")
            own = "" if near.startswith("did you mean") else "; --load FILE.py brings one of your own"
            raise InputError.at(f"unknown policy {call.name!r}", call.span, near + own)
    built: list[AnyPolicy] = build_passes(calls, known)
    if len(built) != 1:
        raise InputError.at(f"{where} names {len(built)} policies: {text}", location, "a step runs under one")
    return built[0]


class _Guard:
    """Calls hooks of a policy, and tells what they do wrong as an :class:`InputError`."""

    def __init__(self, policy: AnyPolicy) -> None:
        self.policy = policy
        self.tensors = 0

    def call(self, hook: str, *arguments: object) -> Any:
        """What a hook returns. What it raises is told with the line of the policy's file that raised it."""
        try:
            return getattr(self.policy, hook)(*arguments)
        except (G10cError, KeyboardInterrupt):
            raise
        except BaseException as error:  # also what is no Exception: a hook that exits has failed
            frames, own = traceback.extract_tb(error.__traceback__), getattr(sys.modules.get(type(self.policy).__module__), "__file__", "")
            frame = [*frames[-1:], *(frame for frame in frames if frame.filename == own)][-1]
            raise self.wrong(hook, arguments, f"{type(error).__name__}: {error} at {Path(frame.filename).name}:{frame.lineno}") from error

    def tensors_of(self, hook: str, *arguments: object) -> list[int]:
        """What a hook returns, which has to be numbers of tensors of the step."""
        found = self.call(hook, *arguments)
        try:
            numbers = [index(number) for number in found]
        except TypeError:
            numbers = [-1]
        if not all(0 <= number < self.tensors for number in numbers):
            raise self.wrong(hook, arguments, f"returns {found!r}, expected numbers of tensors, from 0 to {self.tensors - 1}")
        return numbers

    def wrong(self, hook: str, arguments: Sequence[object], problem: str) -> InputError:
        """The error of a hook."""
        at = f" at kernel {arguments[0]}" if arguments and isinstance(arguments[0], int) else ""
        name = getattr(self.policy, "name", type(self.policy).__name__)
        return InputError.at(f"policy {name!r}, {hook}{at}: {problem}", None, "this is a mistake in the policy")


def guarded(policy: AnyPolicy) -> AnyPolicy:
    """The policy, such that mistakes of one that is not g10c's own end in an :class:`InputError`."""
    if type(policy).__module__.startswith(OWN):
        return policy
    return GuardedCopyPolicy(policy) if isinstance(policy, CopyPolicy) else GuardedPolicy(policy)


class GuardedPolicy(Policy):
    """A policy of demand paging whose mistakes end in an :class:`InputError`."""

    def __init__(self, policy: Policy) -> None:
        self._guard = _Guard(policy)

    def begin(self, step: Step, machine: Machine) -> None:
        """See :class:`~g10c.compiler.protocols.Policy`."""
        self._guard.tensors = len(step.tensors)
        self._guard.call("begin", step, machine)

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """See :class:`~g10c.compiler.protocols.Policy`."""
        return tuple(self._guard.tensors_of("prefetch", kernel, memory))

    def spared(self, kernel: int) -> frozenset[int]:
        """See :class:`~g10c.compiler.protocols.Policy`."""
        return frozenset(self._guard.tensors_of("spared", kernel))

    def discarded(self, kernel: int) -> frozenset[int]:
        """See :class:`~g10c.compiler.protocols.Policy`."""
        return frozenset(self._guard.tensors_of("discarded", kernel))


class GuardedCopyPolicy(CopyPolicy):
    """A copy policy whose mistakes end in an :class:`InputError`."""

    def __init__(self, policy: CopyPolicy) -> None:
        self._guard = _Guard(policy)

    def begin(self, step: Step, moves: Sequence[Move], machine: Machine) -> CopyRules:
        """See :class:`~g10c.compiler.protocols.CopyPolicy`."""
        self._guard.tensors = len(step.tensors)
        rules = self._guard.call("begin", step, moves, machine)
        if not isinstance(rules, CopyRules):
            raise self._guard.wrong("begin", (), f"returns {rules!r}, expected a CopyRules of g10c.compiler")
        return rules

    def fetch_after(self, kernel: int, pool: Pool) -> Sequence[int]:
        """See :class:`~g10c.compiler.protocols.CopyPolicy`."""
        return tuple(self._guard.tensors_of("fetch_after", kernel, pool))
