"""Machine files: TOML to :class:`~g10c.ir.machine.Machine` and back, and changes of single values.

What a file holds is said by :mod:`g10c.ir.machine_keys` and, for editors and other tools, by ``machine.schema.json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from g10c.ir.errors import Diagnostic, InputError, near_hint
from g10c.ir.input_text import read_text as read_file
from g10c.ir.machine import Gpu, Host, Link, Machine, Network, Uvm
from g10c.ir.machine_keys import (
    KEYS,
    LIMIT,
    REQUIRED_TABLES,
    TABLES,
    Figure,
    Kind,
    MachineKey,
    check_figure,
    read_setting,
    read_text,
    write_text,
)
from g10c.ir.mistakes import Mistake, diagnostics_of
from g10c.ir.source import Origin, Source

_PARTS: dict[str, type] = {"gpu": Gpu, "host": Host, "pcie": Link, "ssd": Link, "uvm": Uvm, "remote": Link, "network": Network}


def load_machine(path: str | Path) -> Machine:
    """Read a machine file. Raises :class:`InputError` with every mistake of it, each with line and caret."""
    return parse_machine(read_file(path, "a machine file (TOML)"), str(path))


def parse_machine(text: str, name: str = "<string>") -> Machine:
    """Read a machine from TOML text; ``name`` stands for it in messages. Raises :class:`InputError` with every mistake."""
    from g10c.ir.toml_text import parse_toml, toml_places

    source = Source(name, text.replace("\r\n", "\n"))
    document = parse_toml(source)
    reading = _read(document, _figure_of_file)
    mistakes = reading.mistakes
    if not reading.regular:
        from g10c.ir.schema_check import schema_mistakes

        told = {mistake.path for mistake in mistakes}
        mistakes += [mistake for mistake in schema_mistakes(document, "machine") if mistake.path not in told]
    mistakes += _disagreements(reading.figures, mistakes)
    if mistakes or not reading.regular:
        raise InputError(diagnostics_of(mistakes, source, toml_places(source)))
    return _build(reading.figures)


@dataclass
class _Reading:
    """What a document gives: figures by key, mistakes in their values, and whether it is shaped as the schema says."""

    figures: dict[str, Figure] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    regular: bool = True


class _WrongTypeError(Exception):
    """A value of a type that the schema refuses."""


def _read(document: Mapping[str, object], figure: Callable[[MachineKey, object], Figure]) -> _Reading:
    reading = _Reading(regular=all(table in document for table in REQUIRED_TABLES))
    for table, keys in TABLES.items():
        content = document if not table else document.get(table, {})
        if not isinstance(content, dict):
            reading.regular = False
            continue
        known = {key.name: key for key in keys}
        for name, value in content.items():
            if name in known:
                _read_value(reading, known[name], value, figure)
            elif table or name not in _PARTS:
                reading.regular = False
        if not table or table in document:
            reading.regular &= all(key.name in content for key in keys if key.required)
    return reading


def _read_value(reading: _Reading, key: MachineKey, value: object, figure: Callable[[MachineKey, object], Figure]) -> None:
    try:
        reading.figures[key.path] = figure(key, value)
    except _WrongTypeError:
        reading.regular = False
    except ValueError as error:
        hint = near_hint(value, key.choices, "values") if isinstance(value, str) else ""
        reading.mistakes.append(Mistake(tuple(key.path.split(".")), str(error), hint))


def _figure_of_file(key: MachineKey, value: object) -> Figure:
    """A value of a TOML file: text with a unit, except for counts and lists of texts."""
    if key.kind is Kind.COUNT:
        if type(value) is int:
            return check_figure(key, value)
    elif isinstance(value, str):
        return read_text(key, value)
    elif key.kind is Kind.TEXTS and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _WrongTypeError


def _figure_of_dict(key: MachineKey, value: object) -> Figure:
    """A value in base units."""
    if key.kind in (Kind.TEXT, Kind.CHOICE):
        if isinstance(value, str):
            return check_figure(key, value)
    elif key.kind is Kind.TEXTS:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
    elif key.kind is Kind.TIME_PER_BYTE:
        if type(value) in (int, float) and 0 <= cast("float", value) < LIMIT:
            return float(cast("float", value))
    elif type(value) is int:
        return check_figure(key, value)
    raise _WrongTypeError


def _build(figures: Mapping[str, Figure]) -> Machine:
    """A machine of these figures. What a file leaves out has the default of its field; a table left out is a missing part."""
    values: dict[str, Any] = {}
    for table, part in _PARTS.items():
        given = {key.field: figures[key.path] for key in TABLES[table] if key.path in figures}
        if given:
            values[table] = part(**given)
    values.update({key.field: figures[key.path] for key in TABLES[""] if key.path in figures})
    return Machine(**values)


def _figures(machine: Machine) -> dict[str, Figure]:
    """Every figure of a machine by key; the reverse of :func:`_build`."""
    return {key.path: getattr(getattr(machine, key.table) if key.table else machine, key.field) for key in KEYS.values()}


LEAST_FAULT_NS = 1_000
"""No far fault takes less, and the cost of a fault on SSD grows without limit below (``backends/uvm/faults.py``)."""


def _disagreements(figures: Mapping[str, Figure], known: Sequence[Mistake] = ()) -> list[Mistake]:
    """Values that are fine by themselves and do not go together; nothing about tables of which mistakes are ``known``."""
    found = []

    def number(path: str) -> int:
        value = figures.get(path, 0)
        return value if isinstance(value, int) else 0

    if "gpu.memory" in figures and number("gpu.reserved") >= number("gpu.memory"):
        found.append(Mistake(("gpu", "reserved"), "leaves nothing of gpu.memory", "it is the part that programs cannot have"))
    page = number("uvm.page")
    if page & (page - 1):
        found.append(Mistake(("uvm", "page"), f"expected a power of two, found {page} bytes"))
    fault_ns = number("uvm.fault_latency")
    if 0 < fault_ns < LEAST_FAULT_NS and number("ssd.latency") and number("ssd.bandwidth"):
        hint = "faults on SSD cost more by the ratio of the two latencies; 0ns leaves that out"
        found.append(Mistake(("uvm", "fault_latency"), f"expected 0ns, or at least 1us beside an SSD, found {fault_ns}ns", hint))
    kind = figures.get("network.kind", "none")
    if kind != "none" and not number("network.bandwidth"):
        found.append(Mistake(("network", "kind"), f"{kind} needs a bandwidth", 'give network.bandwidth, such as "300GB/s"'))
    cells, count = number("network.rows") * number("network.cols"), figures.get("gpu.count", 1)
    if kind == "optical" and isinstance(count, int) and cells < count:
        hint = "network.rows times network.cols has to be at least gpu.count"
        found.append(Mistake(("network", "kind"), f"optical: a mesh of {cells} for {count} GPUs", hint))
    return [mistake for mistake in found if all(mistake.path[:1] != other.path[:1] for other in known)]


def override(machine: Machine, *settings: str) -> Machine:
    """The machine with values changed as ``--set key=value`` says, such as ``host.memory=32GiB``.

    All settings are applied before values are compared with one another. Raises :class:`InputError` with every mistake.
    """
    figures = _figures(machine)
    places: dict[str, Origin] = {}
    wrong = []
    for setting in settings:
        at = Origin(f"--set {setting}")
        path, equals, text = (part.strip() for part in setting.partition("="))
        key = KEYS.get(path)
        if not equals:
            wrong.append(Diagnostic("expected KEY=VALUE", at, "such as --set host.memory=32GiB"))
        elif key is None:
            wrong.append(Diagnostic(f"unknown key {path!r}", at, near_hint(path, KEYS, "keys") or "'g10c machines NAME' shows all keys"))
        else:
            places[path] = at
            try:
                figures[path] = read_setting(key, text)
            except ValueError as error:
                wrong.append(Diagnostic(f"{path}: {error}", at, near_hint(text, key.choices, "values")))
    if not wrong:
        for mistake in _disagreements(figures):
            path = ".".join(map(str, mistake.path))
            last = next(reversed(places.values()), None)
            wrong.append(Diagnostic(f"{path}: {mistake.message}", places.get(path, last), mistake.hint))
    if wrong:
        raise InputError(wrong)
    return _build(figures)


def machine_changes(before: Machine, after: Machine) -> list[str]:
    """What differs between two machines, a line a key: ``host.memory: 128GiB -> 32GiB``. Descriptions and sources do not count."""
    old, new = _figures(before), _figures(after)
    ignored = ("description", "source")
    return [
        f"{path}: {write_text(key, old[path])} -> {write_text(key, new[path])}"
        for path, key in KEYS.items()
        if old[path] != new[path] and path not in ignored
    ]


def machine_to_dict(machine: Machine) -> dict[str, Any]:
    """All figures in base units (bytes, bytes per second, nanoseconds) under the keys of machine files."""
    result: dict[str, Any] = {}
    for path, value in _figures(machine).items():
        table, _, name = path.rpartition(".")
        target = result.setdefault(table, {}) if table else result
        target[name] = list(value) if isinstance(value, tuple) else value
    return result


def machine_from_dict(data: object, name: str = "machine") -> Machine:
    """The reverse of :func:`machine_to_dict`; every key has to be there. Raises :class:`InputError` with every mistake by path."""
    machine = read_machine_dict(data)
    if machine is None:
        raise InputError(diagnostics_of(machine_dict_mistakes(data), Source(name, ""), {}))
    return machine


def read_machine_dict(data: object) -> Machine | None:
    """A machine in base units, or ``None`` where :func:`machine_dict_mistakes` has something to say."""
    if not isinstance(data, dict):
        return None
    reading = _read(data, _figure_of_dict)
    complete = reading.regular and not reading.mistakes and len(reading.figures) == len(KEYS)
    return _build(reading.figures) if complete and not _disagreements(reading.figures) else None


def machine_dict_mistakes(data: object) -> list[Mistake]:
    """What is wrong with a machine in base units, by path inside it."""
    from g10c.ir.schema_check import schema_mistakes

    mistakes = schema_mistakes(data, "plan", "machine")
    if isinstance(data, dict):
        reading = _read(data, _figure_of_dict)
        told = {mistake.path for mistake in mistakes}
        mistakes += [mistake for mistake in reading.mistakes if mistake.path not in told]
        mistakes += _disagreements(reading.figures, mistakes)
    return mistakes


def machine_text(machine: Machine) -> str:
    """The machine as TOML that reads back equal."""
    figures = _figures(machine)
    lines = []
    for table, keys in TABLES.items():
        if table:
            lines += ["", f"[{table}]"]
        lines += [f"{key.name} = {_toml(key, figures[key.path])}" for key in keys]
    return "\n".join(lines) + "\n"


def _toml(key: MachineKey, value: Figure) -> str:
    if key.kind is Kind.COUNT:
        return str(value)
    if isinstance(value, tuple):
        return "[" + "".join(f"\n    {_toml_string(item)}," for item in value) + ("\n]" if value else "]")
    return _toml_string(write_text(key, value))


def _toml_string(text: str) -> str:
    """A basic string of TOML: JSON's escapes, and one for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
