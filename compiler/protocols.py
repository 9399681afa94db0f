"""What the four sides of g10c know of each other: small protocols, met through the registry.

Passes, backends and models never import one another. A pass that has to know how long a plan takes asks an
:class:`Evaluator`; what is decided while a step runs is a :class:`Policy`, or a :class:`CopyPolicy`, that the simulator calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from g10c.compiler.operand_order import OperandOrder
    from g10c.ir.machine import Machine
    from g10c.ir.program import Program
    from g10c.ir.result import SimResult
    from g10c.ir.step import Move, Step

NOTHING: frozenset[int] = frozenset()


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


class Policy:
    """Decisions of demand paging (``runtime = uvm``) taken while the step runs. Tensors and kernels are numbered as the step numbers them.

    Every hook answers as plain demand paging does; a policy overrides those it decides. Victims are the pages that came first; the hooks
    only narrow that down. A fault of the current kernel may evict any page (as in G10's artifact, ``selectEvictPTE``); what else comes in
    evicts only tensors that are not spared, and waits where there are none.

    A policy is a dataclass whose fields are its options. It has to decide the same in every run.
    """

    name: ClassVar[str]
    """What a program's attribute ``policy`` calls it by."""
    runtime: ClassVar[str] = "uvm"

    def begin(self, step: Step, machine: Machine) -> None:
        """Called once, before the first kernel of the first step."""

    def prefetch(self, kernel: int, memory: Residency) -> Sequence[int]:
        """Tensors to bring in when ``kernel`` becomes current, in order."""
        return ()

    def spared(self, kernel: int) -> frozenset[int]:
        """Tensors that pages not needed by the current kernel must not push out."""
        return NOTHING

    def discarded(self, kernel: int) -> frozenset[int]:
        """Tensors whose contents are dead: their pages are dropped, not moved, when they are pushed out."""
        return NOTHING


class Pool(Protocol):
    """What a copy policy may see of GPU memory: one range of addresses, in which each tensor has a place in one piece."""

    @property
    def largest_hole_bytes(self) -> int:
        """Bytes of the largest free piece."""
        ...

    def has_place(self, tensor: int) -> bool:
        """Whether a tensor has its place, be it that its data are still on their way."""
        ...

    def place_bytes(self, tensor: int) -> int:
        """Bytes of the place of a tensor: its size in whole pages."""
        ...


@dataclass(frozen=True, slots=True)
class CopyRules:
    """What a copy policy decides once. Bandwidths are bytes per second; each pair of direction and tier has an engine of its own."""

    memory_bytes: int
    """GPU memory."""
    ssd_bandwidth: int
    host_bandwidth: int
    operand_order: OperandOrder = "listed"
    """The order in which the tensors of a kernel get places and data."""
    upper: frozenset[int] = NOTHING
    """Tensors that get their places from the upper end of memory on; all others from the lower end."""
    shared_scratch: bool = False
    """What no kernel reads has one place for all, reserved at the start, not one each while its kernel runs."""
    drained_at: int | None = None
    """The kernel that waits until all evictions have ended."""
    weights_return_free: bool = False
    """An evicted weight that was not brought back costs a kernel its place, but no copy."""
    demand_from_ssd: bool = False
    """What a kernel does not find is copied from SSD, wherever it is."""
    copies_again: bool = False
    """A prefetch copies what is in memory too, and a tensor on its way out leaves although a kernel or prefetch wants it meanwhile."""

    @classmethod
    def of(cls, machine: Machine) -> CopyRules:
        """Those of a machine. Its host copies have what the SSD leaves of the PCIe link."""
        ssd = min(machine.ssd.bandwidth, machine.pcie.bandwidth)
        return cls(machine.gpu.usable, ssd, machine.pcie.bandwidth - ssd)


class CopyPolicy:
    """Decisions of a step that runs with explicit copies out of and into one pool of memory (``runtime = direct``).

    A dataclass like :class:`Policy`. By default only the plan's directives move data, and what a kernel does not find is fetched for it.
    """

    name: ClassVar[str]
    runtime: ClassVar[str] = "direct"

    def begin(self, step: Step, moves: Sequence[Move], machine: Machine) -> CopyRules:
        """Called once, with the plan's directives; the rules of the run."""
        return CopyRules.of(machine)

    def fetch_after(self, kernel: int, pool: Pool) -> Sequence[int]:
        """Tensors to bring back once ``kernel`` has ended, in order. Those without a hole large enough are passed over."""
        return ()


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


class Exporter(ABC):
    """Writes a program with its directives as another tool reads it."""

    name: ClassVar[str]

    @abstractmethod
    def export(self, program: Program, machine: Machine) -> str:
        """The text. Raises :class:`~g10c.ir.errors.InputError` for what the form cannot hold."""


class Reproduction(ABC):
    """Runs the published results of a system again, as an ordinary client of the pipeline."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, data: str, cases: str, jobs: int, progress: Callable[[str], None], folder: str | None = None) -> Report:
        """Run every case of the file. A case that cannot run is ``refused`` in the report; wrong files raise ``InputError``.

        ``folder`` keeps each finished case; what it holds is not run again.
        """

    def figures(self, data: str, cases: str | None, numbers: str, folder: str, jobs: int, progress: Callable[[str], None]) -> Sequence[str]:
        """Write figures of the publication into a folder, by their ``numbers`` (``2-4,11``); what was written, for the user."""
        from g10c.ir.errors import UsageError

        raise UsageError.at(f"{self.name} has no figures here", None, "give --cases and leave --figures out")

    @abstractmethod
    def render(self, report: Report, form: str) -> str:
        """A report as text: ``table`` or ``json``."""


Report = dict[str, Any]
"""``{"cases": [...], "summary": {...}}``: each case as given, with ours and the error beside it."""
