"""``g10c import g10``: a program from a network of operators and measured kernel times, as the G10 artifact publishes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from g10c.compiler.protocols import Importer
from g10c.ir.errors import Diagnostic, InputError, UsageError
from g10c.ir.input_text import read_text
from g10c.ir.names import safe_name
from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.source import Source
from g10c.ir.values import Time, Value
from g10c.models.g10.lowering import Lowered, lower
from g10c.models.g10.net_file import parse_net
from g10c.models.g10.time_table import Entry, parse_sizes, parse_times
from g10c.models.g10.weights import weight_border

_TABLE_NAME = re.compile(r"cudnn([0-9]+)(PF|InputPF|Workspace)?\.txt\Z")
TABLE_KINDS = {"kernel_times": "", "all_fault_times": "PF", "output_fault_times": "InputPF", "workspace": "Workspace"}
"""Options for tables, and what the artifact's file names (``cudnn256PF.txt``) end with."""
TIME_ATTRS = {"kernel_times": "time", "all_fault_times": "all_fault_time", "output_fault_times": "output_fault_time"}


@dataclass
class G10Importer(Importer):
    """A transformer network of the G10 artifact with its kernel times.

    The result is a traced program: shapes for the batch, and one op per kernel of the artifact's schedule, in its order and with its
    order of operands. Rounding to pages is left to the machine.
    """

    name: ClassVar[str] = "g10"
    summary: ClassVar[str] = "a transformer network and kernel times of the G10 artifact"

    net: Path = field(metadata={"help": "network file: a list of operators, such as BERT_Base.txt"})
    batch: int = field(metadata={"help": "batch size, for the dimensions that the network leaves open (99)"})
    kernel_times: Path = field(metadata={"help": "table of kernel times with all data in GPU memory, such as cudnn256.txt"})
    all_fault_times: Path | None = field(default=None, metadata={"help": "table of kernel times when all pages fault (cudnn256PF.txt)"})
    output_fault_times: Path | None = field(
        default=None, metadata={"help": "table of kernel times when only pages written fault (cudnn256InputPF.txt)"}
    )
    workspace: Path | None = field(default=None, metadata={"help": "table of workspace bytes (cudnn256Workspace.txt)"})
    weights_below: int | None = field(
        default=None, metadata={"help": "ids below are weights; by default from nets.json beside the network, or from its operators"}
    )

    def load(self) -> Program:
        """Read the files.

        Raises :class:`~g10c.ir.errors.UsageError` for options that make no sense, and :class:`~g10c.ir.errors.InputError` with
        all mistakes of the network file, or of all tables.
        """
        self._check_options()
        net = parse_net(_source(self.net, "a network file"), self.batch)
        border = weight_border(net, self.net, self.weights_below)
        lowered = lower(net, border)
        columns = self._tables(lowered)
        kernels, workspaces = _with_tables(lowered.kernels, columns)
        tensors = {tensor.name: tensor for tensor in (*lowered.tensors, *workspaces)}
        attrs: dict[str, Value] = {"batch": self.batch, "source": f"g10:{self.net.name}", "weights_below": border}
        return Program(safe_name(f"{self.net.stem}_{self.batch}").lower(), tensors, tuple(kernels), attrs, net.source.line_span(1))

    def _check_options(self) -> None:
        diagnostics = []
        if self.batch <= 0:
            diagnostics.append(Diagnostic(f"--batch is {self.batch}", None, "expected a batch size of at least 1"))
        if self.weights_below is not None and self.weights_below < 0:
            diagnostics.append(Diagnostic(f"--weights-below is {self.weights_below}", None, "expected the lowest id that is not a weight"))
        diagnostics += [mistake for option, path in self._table_paths() for mistake in self._name_mistakes(option, path)]
        if diagnostics:
            raise UsageError(diagnostics)

    def _table_paths(self) -> list[tuple[str, Path]]:
        paths = ((option, getattr(self, option)) for option in TABLE_KINDS)
        return [(option, path) for option, path in paths if path is not None]

    def _name_mistakes(self, option: str, path: Path) -> list[Diagnostic]:
        """A table named as the artifact names them has to be of the option's kind, and for this batch: nothing in it would tell."""
        match = _TABLE_NAME.match(path.name)
        if not match:
            return []
        batch, kind = match.groups("")
        diagnostics = []
        if kind != TABLE_KINDS[option]:
            right = next(name for name, suffix in TABLE_KINDS.items() if suffix == kind)
            message = f"{path} is by its name a table for {_flag(right)}, not for {_flag(option)}"
            expected = f"expected cudnn{self.batch}{TABLE_KINDS[option]}.txt, or another name"
            diagnostics.append(Diagnostic(message, None, expected))
        if int(batch) != self.batch:
            message = f"{path} is by its name for batch {int(batch)}, and --batch is {self.batch}"
            diagnostics.append(Diagnostic(message, None, "give the table of the batch; if it is, call the file something else"))
        return diagnostics

    def _tables(self, lowered: Lowered) -> dict[str, list[Entry]]:
        """Read all tables, and report the mistakes of all of them together."""
        diagnostics: list[Diagnostic] = []
        columns = {}
        for option, path in self._table_paths():
            parse = parse_sizes if option == "workspace" else parse_times
            try:
                columns[option] = parse(_source(path, f"a table for {_flag(option)}"), lowered.kernels, diagnostics)
            except InputError as error:
                diagnostics += error.diagnostics
        if diagnostics:
            raise InputError(diagnostics)
        return columns


def _source(path: Path, what: str) -> Source:
    return Source(str(path), read_text(path, what))


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _with_tables(kernels: tuple[Op, ...], columns: dict[str, list[Entry]]) -> tuple[list[Op], list[Tensor]]:
    """The kernels with their times, and with a workspace that is written last, where a table gives one."""
    timed, workspaces = [], []
    for number, op in enumerate(kernels):
        attrs = {attr: Time(columns[option][number].value) for option, attr in TIME_ATTRS.items() if option in columns}
        writes = op.writes
        if "workspace" in columns and (entry := columns["workspace"][number]).value:
            workspaces.append(Tensor(f"ws{number}", "u8", (entry.value,), Role.WORKSPACE, {}, entry.span))
            writes = (*writes, workspaces[-1].name)
        timed.append(replace(op, writes=writes, attrs={**attrs, **op.attrs}))
    return timed, workspaces
