"""What the four sides of g10c know of each other: small protocols, met through the registry.

Passes, backends and models never import one another. A pass that has to know how long a plan takes asks an
:class:`Evaluator`; what a plan decides while it runs is a :class:`Policy` that the simulator calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from g10c.ir.machine import Machine
    from g10c.ir.program import Program
    from g10c.ir.result import SimResult
    from g10c.ir.step import Step


class Evaluator(Protocol):
    """Answers how long a program takes on a machine."""

    def evaluate(self, program: Program, machine: Machine) -> SimResult:
        """Simulate; raises :class:`~g10c.ir.errors.InfeasibleError` when it cannot run there."""
        ...


class Residency(Protocol):
    """What a policy may see of the memory of one GPU while a step runs."""

    @property
    def free_bytes(self) -> int:
        """Free bytes of GPU memory."""
        ...

    def resident_bytes(self, tensor: int) -> int:
        """Bytes of a tensor in GPU memory."""
        ...


class Policy(Protocol):
    """Decisions taken while the step runs. Tensors and kernels are numbered as the step numbers them.

    Victims are the pages that came first; the hooks only narrow that down. A fault of the current kernel may evict any page (as
    in G10's artifact, ``selectEvictPTE``); what else comes in evicts only tensors that are not spared, and waits where there are none.
    """

    def begin(self, step: Step, machine: Machine) -> None:
        """Called once, before the first kernel of the first step."""
        ...

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """Tensors to bring in when ``kernel`` becomes current, in order."""
        ...

    def spared(self, kernel: int) -> frozenset[int]:
        """Tensors that pages not needed by the current kernel must not push out."""
        ...

    def discarded(self, kernel: int) -> frozenset[int]:
        """Tensors whose contents are dead: their pages are dropped, not moved, when they are pushed out."""
        ...


class Importer(ABC):
    """Obtains a program from files of another tool.

    A subclass is a dataclass; its fields are the options of ``g10c import NAME`` (``kernel_times`` is ``--kernel-times``),
    each with ``field(metadata={"help": ...})``. Fields without a default are required.
    """

    name: ClassVar[str]

    @abstractmethod
    def load(self) -> Program:
        """Read the files. Raises :class:`~g10c.ir.errors.InputError` with the file and line of every mistake."""


class Backend(ABC):
    """Consumes a program for a machine; the simulator is one, exporters are others."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, program: Program, machine: Machine, options: Mapping[str, object]) -> SimResult:
        """Execute the program on the machine."""

    @abstractmethod
    def render(self, result: SimResult, form: str, machine: Machine | None = None) -> str:
        """A result as text: ``table``, ``json``, ``kernels`` (CSV) or ``chrome-trace``; the machine adds capacities to the table."""


class Reproduction(ABC):
    """Runs the published results of a system again, as an ordinary client of the pipeline."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, data: str, cases: str, jobs: int, progress: Callable[[str], None]) -> Report:
        """Run every case of the file. A case that cannot run is ``refused`` in the report; wrong files raise ``InputError``."""

    @abstractmethod
    def render(self, report: Report, form: str) -> str:
        """A report as text: ``table`` or ``json``."""


Report = dict[str, Any]
"""``{"cases": [...], "summary": {...}}``: each case as given, with ours and the error beside it."""
