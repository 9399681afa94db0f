"""The keys of a machine: one table from which files, ``--set`` and the command line's help are read.

Text carries a unit wherever a number has one: sizes in ``B KiB MiB GiB TiB KB MB GB TB`` (``GiB`` is 2^30 bytes, ``GB`` 10^9),
bandwidths the same with ``/s``, times in ``ns us ms s``. ``gpu.malloc_time_per_byte`` is the time that one byte takes, with the
unit of a time (``"8.14e-7us"``); it may be a fraction of a nanosecond. Counts have no unit and are plain integers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from g10c.ir.machine import FAULT_MODELS, NETWORK_KINDS
from g10c.ir.values import BANDWIDTH_UNITS, SIZE_UNITS, TIME_UNITS, format_size, format_time, parse_quantity

Figure = int | float | str | tuple[str, ...]
"""A machine's value in base units: bytes, bytes per second, nanoseconds."""

LIMIT = 1 << 63
"""Integers of a machine are below this."""


class Kind(StrEnum):
    """What a key's value is, and with it how it is written."""

    TEXT = "text"
    TEXTS = "texts"
    CHOICE = "choice"
    COUNT = "count"
    SIZE = "size"
    BANDWIDTH = "bandwidth"
    TIME = "time"
    TIME_PER_BYTE = "time per byte"


UNITS: dict[Kind, dict[str, int]] = {
    Kind.SIZE: SIZE_UNITS,
    Kind.BANDWIDTH: BANDWIDTH_UNITS,
    Kind.TIME: TIME_UNITS,
    Kind.TIME_PER_BYTE: TIME_UNITS,
}


@dataclass(frozen=True, slots=True)
class MachineKey:
    """One key: ``path`` is ``table.name`` or a name at the top; ``minimum`` is in base units.

    A required key has to be in its table; the tables of :data:`REQUIRED_TABLES` have to be in the file.
    """

    path: str
    kind: Kind
    doc: str
    required: bool = False
    minimum: int = 0
    choices: tuple[str, ...] = ()

    @property
    def table(self) -> str:
        """The table it is in, empty for the top."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The key inside its table."""
        return self.path.rpartition(".")[2]

    @property
    def field(self) -> str:
        """Name of the field of the dataclass in :mod:`g10c.ir.machine`."""
        return f"{self.name}_ns" if self.kind is Kind.TIME else self.name


_MACHINE_KEYS = (
    MachineKey("name", Kind.TEXT, "name of the machine", required=True),
    MachineKey("description", Kind.TEXT, "what it is, in a line"),
    MachineKey("source", Kind.TEXTS, "where the figures come from: a text or a list of texts"),
    MachineKey("gpu.name", Kind.TEXT, "product name of the GPU"),
    MachineKey("gpu.count", Kind.COUNT, "GPUs of the machine", minimum=1),
    MachineKey("gpu.memory", Kind.SIZE, "memory of one GPU", required=True, minimum=1),
    MachineKey("gpu.reserved", Kind.SIZE, "part of it that a program cannot have: driver, context, libraries"),
    MachineKey("gpu.malloc_time_per_byte", Kind.TIME_PER_BYTE, "cost of one byte of an allocation on demand"),
    MachineKey("host.memory", Kind.SIZE, "host memory that tensors of one GPU may move to; 0B: none", required=True),
    MachineKey(
        "pcie.bandwidth", Kind.BANDWIDTH, "link of one GPU to the host, each direction; SSD traffic shares it", required=True, minimum=1
    ),
    MachineKey("pcie.latency", Kind.TIME, "time before the first byte arrives"),
    MachineKey("ssd.bandwidth", Kind.BANDWIDTH, "SSD of one GPU, each direction; 0B/s: none", required=True),
    MachineKey("ssd.latency", Kind.TIME, "time of an access before the first byte"),
    MachineKey("uvm.fault_latency", Kind.TIME, "time to handle a page fault of the GPU"),
    MachineKey("uvm.fault_model", Kind.CHOICE, "how faults are priced", choices=FAULT_MODELS),
    MachineKey("uvm.batch_pages", Kind.COUNT, "pages served together in one PCIe period; 0: they flow without a period"),
    MachineKey("uvm.page", Kind.SIZE, "size of a page, a power of two", minimum=1),
    MachineKey("remote.bandwidth", Kind.BANDWIDTH, "link of one GPU to a memory outside the machine; 0B/s: none", required=True),
    MachineKey("remote.latency", Kind.TIME, "time before the first byte arrives"),
    MachineKey("network.kind", Kind.CHOICE, "links between GPUs", required=True, choices=NETWORK_KINDS),
    MachineKey("network.bandwidth", Kind.BANDWIDTH, "one link between GPUs, each direction"),
    MachineKey("network.latency", Kind.TIME, "time of one hop"),
    MachineKey("network.rows", Kind.COUNT, "rows of the mesh of an optical network"),
    MachineKey("network.cols", Kind.COUNT, "columns of the mesh of an optical network"),
)

KEYS: dict[str, MachineKey] = {key.path: key for key in _MACHINE_KEYS}
"""Every key by path, in the order in which they are written."""

REQUIRED_TABLES = ("gpu", "host", "pcie")
TABLES: dict[str, tuple[MachineKey, ...]] = {
    table: tuple(key for key in _MACHINE_KEYS if key.table == table) for table in dict.fromkeys(key.table for key in _MACHINE_KEYS)
}
"""Keys by table; the table ``""`` is the top."""

_RATE = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*([A-Za-z]+)\s*")
_COUNT = re.compile(r"\s*\+?([0-9]{1,20})\s*")


NOTHING = frozenset({"0", "none"})
"""What a setting needs no unit for: a machine without an SSD has ``ssd.bandwidth=none``."""


def read_setting(key: MachineKey, text: str) -> Figure:
    """The figure that the text of a setting gives a key: as :func:`read_text`, and nothing needs no unit."""
    if text.strip() in NOTHING and key.kind in UNITS:
        return check_figure(key, 0)
    return read_text(key, text)


def read_text(key: MachineKey, text: str) -> Figure:
    """The figure that text gives a key. Raises ``ValueError`` that says what was expected."""
    if key.kind is Kind.TEXTS:
        return (text,)
    if key.kind in (Kind.TEXT, Kind.CHOICE):
        return check_figure(key, text)
    if text.strip().startswith("-"):
        raise ValueError(f"must not be negative, found {text!r}")
    if key.kind is Kind.COUNT:
        match = _COUNT.fullmatch(text)
        if not match:
            raise ValueError(f"expected a whole number without a unit, found {text!r}")
        return check_figure(key, int(match.group(1)))
    if key.kind is Kind.TIME_PER_BYTE:
        return check_figure(key, _parse_time_per_byte(text))
    try:
        return check_figure(key, parse_quantity(text, UNITS[key.kind]))
    except ArithmeticError:
        raise ValueError(f"{text!r} is out of range") from None


def _parse_time_per_byte(text: str) -> float:
    """Nanoseconds, with a fraction."""
    match = _RATE.fullmatch(text)
    if not match or match.group(2) not in TIME_UNITS:
        raise ValueError(f"expected a number with a unit of time ({', '.join(TIME_UNITS)}), found {text!r}")
    value = float(Decimal(match.group(1).replace("_", "")) * TIME_UNITS[match.group(2)])
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is out of range")
    return value


def check_figure(key: MachineKey, value: Figure) -> Figure:
    """The value, where it is one that the key can have; ``ValueError`` otherwise."""
    if key.kind is Kind.CHOICE and value not in key.choices:
        raise ValueError(f"expected one of {', '.join(key.choices)}, found {value!r}")
    if key.name == "name" and isinstance(value, str) and not (value.strip() and value.isprintable()):
        raise ValueError("expected a name of one line that is not blank")
    if isinstance(value, int | float) and value < key.minimum:
        raise ValueError("must not be negative" if value < 0 else f"must be more than 0, found {value}")
    if isinstance(value, int) and value >= LIMIT:
        raise ValueError(f"{value} is too large")
    return value


def write_text(key: MachineKey, value: Figure) -> str:
    """Text with a unit that :func:`read_text` reads as the same figure."""
    if isinstance(value, int):
        if key.kind is Kind.SIZE:
            return format_size(value)
        if key.kind is Kind.TIME:
            return format_time(value)
        if key.kind is Kind.BANDWIDTH:
            return format_bandwidth(value)
    if key.kind is Kind.TIME_PER_BYTE and isinstance(value, int | float):
        return f"{float(value)!r}ns"
    return "; ".join(value) if isinstance(value, tuple) else str(value)


def format_bandwidth(value: int) -> str:
    """Bytes per second with the largest decimal unit of which there is at least one, exactly: ``15.754GB/s``."""
    for unit, digits in (("GB/s", 9), ("MB/s", 6), ("KB/s", 3)):
        if value >= 10**digits:
            whole, rest = divmod(value, 10**digits)
            fraction = f".{rest:0{digits}d}".rstrip("0") if rest else ""
            return f"{whole}{fraction}{unit}"
    return f"{value}B/s"
