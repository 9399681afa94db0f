"""``rewrite``: the rules of a file, applied until none fits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from g10c.compiler.options import OptionError
from g10c.compiler.pass_base import Pass, PassContext, option, required_option
from g10c.compiler.registry import library
from g10c.ir.errors import InputError, near_hint

if TYPE_CHECKING:
    from g10c.compiler.rewriting.rule import RuleSet
    from g10c.ir.program import Program


@dataclass(frozen=True)
class RewritePass(Pass):
    """Applies the rules of a file until none fits.

    Each rule is a pattern of ops, conditions, and what a match becomes; `g10c rules` lists the files that come with packages. A rewrite
    that would lose a value which is still read is refused.
    """

    name = "rewrite"

    rules: str = required_option("a rules file (fuse.rules), or the name of one that 'g10c rules' shows")
    set: tuple[str, ...] = option((), 'constants of the file to change, in quotes: "least=4MiB"')
    limit: int = option(0, "firings after which rules without an end are given up; 0: 4 for each op, at least 10,000")
    _prepared: Any = field(default=None, init=False, repr=False, compare=False)  # a RuleSet; annotations of passes are evaluated

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        if not self.rules:
            raise OptionError("rules: expected a file", "write rules=fuse.rules, or the name of a file that 'g10c rules' shows")
        if self.limit < 0:
            raise OptionError(f"limit: expected 0 or more, found {self.limit}", "0 is the default limit")

    def prepare(self, context: PassContext) -> None:
        """Read the rules, so that their mistakes are told before any pass runs."""
        object.__setattr__(self, "_prepared", self.rule_set(context.rule_functions))

    def rule_set(self, functions: Mapping[str, Callable[..., Any]]) -> RuleSet:
        """The rules of the file. Raises :class:`InputError` with every mistake in it."""
        from g10c.compiler.rules.reader import load_rules

        return load_rules(find_rules(self.rules), functions, self.set)

    def run(self, program: Program, context: PassContext) -> Program:
        """Apply the rules; see the class."""
        if self._prepared is None:
            self.prepare(context)
        return context.rewrite(program, self._prepared, self.limit or None)


def find_rules(name: str) -> Path:
    """The file that a path or the name of a bundled rules file means."""
    path = Path(name)
    if path.suffix or len(path.parts) > 1 or os.path.exists(path):
        return path
    files = library("g10c.rules")
    if name not in files:
        hint = near_hint(name, files, "rules files") or "give a path to a .rules file, or a name that 'g10c rules' shows"
        raise InputError.at(f"{name}: no such file, and no bundled rules of that name", None, hint)
    return files.find(name)
