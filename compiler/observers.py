"""Observers of a pipeline: timing, printing after a pass, statistics, and the file that reproduces a failure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from g10c.ir.values import human_time

if TYPE_CHECKING:
    from g10c.compiler.pass_base import Pass
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program


class Observer:
    """Is told what a pipeline does. The hooks do nothing unless a subclass says what."""

    def before(self, item: Pass, program: Program) -> None:
        """A pass is about to run."""

    def after(self, item: Pass, program: Program, seconds: float, statistics: Mapping[str, int | float]) -> None:
        """A pass has run, and its program has been verified."""

    def failed(self, item: Pass, rest: list[Pass], program: Program, error: Exception) -> None:
        """A pass has raised, or returned an illegal program; ``program`` is what it was given, ``rest`` what would follow it."""


@dataclass
class PassRecord:
    """What one pass took and counted."""

    name: str
    spec: str
    seconds: float
    statistics: dict[str, int | float]


@dataclass
class Recorder(Observer):
    """Keeps time and statistics of every pass."""

    records: list[PassRecord] = field(default_factory=list)

    def after(self, item: Pass, program: Program, seconds: float, statistics: Mapping[str, int | float]) -> None:
        """Add a record."""
        self.records.append(PassRecord(item.name, item.spec, seconds, dict(statistics)))

    def timing_table(self) -> str:
        """Seconds of each pass, in order, with its share."""
        total = sum(record.seconds for record in self.records) or 1e-9
        rows = [f"  {record.seconds:>8.3f} s {record.seconds / total:>6.1%}  {record.spec}" for record in self.records]
        return "\n".join(["passes:", *rows])

    def statistics_table(self) -> str:
        """What each pass counted."""
        rows = []
        for record in self.records:
            rows += [f"  {record.name}: {value:>12,} {what}" for what, value in record.statistics.items()]
        return "\n".join(["statistics:", *rows])


@dataclass
class PrintAfter(Observer):
    """Writes the program as text after the passes named (``all`` names every one)."""

    names: Collection[str]
    write: Callable[[str], object]

    def after(self, item: Pass, program: Program, seconds: float, statistics: Mapping[str, int | float]) -> None:
        """Write the text when the pass is named."""
        if "all" in self.names or item.name in self.names:
            from g10c.ir.printer import print_program

            self.write(f"# after {item.spec} ({human_time(seconds * 1e9)})\n{print_program(program)}")


@dataclass
class Reproducer(Observer):
    """Writes the program, the machine and the rest of the pipeline to a file when a pass fails.

    The file is an ``.ir`` program; its first comments are the command that runs into the failure again.
    """

    path: str
    machine: Machine
    loaded_files: tuple[str, ...] = ()
    command: str | None = None
    """What runs into the failure again, once the file is written."""

    def failed(self, item: Pass, rest: list[Pass], program: Program, error: Exception) -> None:
        """Write the file; where that is impossible the failure itself stays the message."""
        from g10c.compiler.pipeline import pipeline_text
        from g10c.ir.errors import G10cError
        from g10c.ir.machine_file import machine_text
        from g10c.ir.output import write_text_atomically
        from g10c.ir.printer import print_program

        words = ["g10c", "compile", self.path, "--machine", f"{self.path}.toml"]
        words += [word for file in self.loaded_files for word in ("--load", file)]
        command = shlex.join([*words, "--pass", pipeline_text([item, *rest])])
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        try:
            write_text_atomically(self.path, f"# reproduces: {first_line}\n# {command}\n{print_program(program)}")
            write_text_atomically(f"{self.path}.toml", machine_text(self.machine))
        except G10cError:
            return
        self.command = command
