"""``g10c import g10``: a program from a network and measured kernel times, as the G10 artifact publishes them.

A network is a list of operators (transformers) or a printed PyTorch module (convolutional networks); the text says which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from g10c.compiler.protocols import Importer
from g10c.ir.errors import Diagnostic, InputError, UsageError
from g10c.ir.input_text import read_text
from g10c.ir.names import safe_name
from g10c.ir.program import Op, Program, Role, Tensor
from g10c.ir.source import Source
from g10c.ir.values import Time, Value
from g10c.models.g10 import layer_rules, wiring
from g10c.models.g10.calls import calls_of_layers, calls_of_operators
from g10c.models.g10.lowering import Lowered, lower
from g10c.models.g10.net_file import parse_net
from g10c.models.g10.rule_form import OpRule
from g10c.models.g10.time_table import Entry, parse_sizes, parse_times
from g10c.models.g10.weights import weight_border
from g10c.models.modules.network import build_network
from g10c.models.modules.tree import is_printed_module, parse_module
from g10c.models.modules.wiring import PYTORCH, Wirings

_TABLE_NAME = re.compile(r"cudnn([0-9]+)(PF|InputPF|Workspace)?\.txt\Z")
TABLE_KINDS = {"kernel_times": "", "all_fault_times": "PF", "output_fault_times": "InputPF", "workspace": "Workspace"}
"""Options for tables, and what the artifact's file names (``cudnn256PF.txt``) end with."""
TIME_ATTRS = {"kernel_times": "time", "all_fault_times": "all_fault_time", "output_fault_times": "output_fault_time"}


STYLES: dict[str, tuple[Wirings, dict[str, OpRule]]] = {
    "artifact": (wiring.ARTIFACT, layer_rules.ARTIFACT),
    "pytorch": (PYTORCH, layer_rules.PYTORCH),
}
"""How printed modules are read, by the option's word: how containers call their children, and what layers become."""


@dataclass
class G10Importer(Importer):
    """A network of the G10 artifact, or a printed PyTorch module, with its kernel times.

    The result is a traced program: shapes for the batch, and one op per kernel of the artifact's schedule, in its order and with its
    order of operands. Rounding to pages is left to the machine.
    """

    name: ClassVar[str] = "g10"
    summary: ClassVar[str] = "a network and kernel times of the G10 artifact, or a printed PyTorch module"

    net: Path = field(
        metadata={"help": "network file: a list of operators, such as BERT_Base.txt, or a printed PyTorch module, such as ResNet152.txt"}
    )
    batch: int = field(metadata={"help": "batch size"})
    kernel_times: Path | None = field(
        default=None,
        metadata={"help": "table of kernel times with all data in GPU memory, such as cudnn256.txt; without one kernels have no times"},
    )
    all_fault_times: Path | None = field(default=None, metadata={"help": "table of kernel times when all pages fault (cudnn256PF.txt)"})
    output_fault_times: Path | None = field(
        default=None, metadata={"help": "table of kernel times when only pages written fault (cudnn256InputPF.txt)"}
    )
    workspace: Path | None = field(default=None, metadata={"help": "table of workspace bytes (cudnn256Workspace.txt)"})
    weights_below: int | None = field(
        default=None,
        metadata={"help": "of a list of operators: ids below are weights; by default from nets.json beside it, or from its operators"},
    )
    input_size: int | None = field(
        default=None, metadata={"help": "of a printed module: height and width of its images; by default 299 for Inception3, else 224"}
    )
    style: Literal["auto", "artifact", "pytorch"] = field(
        default="auto",
        metadata={
            "help": "of a printed module: what it becomes; as the artifact calls every module once, in the order printed, or as PyTorch"
            " runs it; by default the first for the classes of its networks (AlexNet, Inception3, ResNet, SENet)"
        },
    )

    def load(self) -> Program:
        """Read the files.

        Raises :class:`~g10c.ir.errors.UsageError` for options that make no sense, and :class:`~g10c.ir.errors.InputError` with
        all mistakes of the network file, or of all tables.
        """
        self._check_options()
        source = _source(self.net, "a network file")
        attrs: dict[str, Value] = {"batch": self.batch, "source": f"g10:{self.net.name}"}
        lowered = self._module(source, attrs) if is_printed_module(source.text) else self._operators(source, attrs)
        columns = self._tables(lowered)
        kernels, workspaces = _with_tables(lowered.kernels, columns)
        tensors = {tensor.name: tensor for tensor in (*lowered.tensors, *workspaces)}
        return Program(safe_name(f"{self.net.stem}_{self.batch}").lower(), tensors, tuple(kernels), attrs, source.line_span(1))

    def _operators(self, source: Source, attrs: dict[str, Value]) -> Lowered:
        self._refuse_options("a list of operators", {"input_size": None, "style": "auto"})
        net = parse_net(source, self.batch)
        border = weight_border(net, self.net, self.weights_below)
        attrs["weights_below"] = border
        return lower(calls_of_operators(net, border))

    def _module(self, source: Source, attrs: dict[str, Value]) -> Lowered:
        self._refuse_options("a printed module", {"weights_below": None})
        module = parse_module(source)
        own = "artifact" if module.kind in wiring.FAMILIES else "pytorch"
        style = own if self.style == "auto" else self.style
        wirings, rules = STYLES[style]
        layers = build_network(module, wirings, self.batch, self.input_size)
        attrs["style"] = style
        return lower(calls_of_layers(layers, rules))

    def _refuse_options(self, what: str, defaults: dict[str, object]) -> None:
        """Options of the other kind of network must not be given: they would change nothing."""
        given = [name for name, default in defaults.items() if getattr(self, name) != default]
        if given:
            message = f"means nothing for {self.net}, which is {what}"
            raise UsageError([Diagnostic(f"{_flag(name)} {message}", None, "leave it out") for name in given])

    def _check_options(self) -> None:
        diagnostics = []
        if self.batch <= 0:
            diagnostics.append(Diagnostic(f"--batch is {self.batch}", None, "expected a batch size of at least 1"))
        if self.weights_below is not None and self.weights_below < 0:
            diagnostics.append(Diagnostic(f"--weights-below is {self.weights_below}", None, "expected the lowest id that is not a weight"))
        if self.input_size is not None and self.input_size <= 0:
            diagnostics.append(Diagnostic(f"--input-size is {self.input_size}", None, "expected a size of at least 1"))
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
