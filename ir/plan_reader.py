"""Reads ``plan.json``: strict and fast where the plan is right, and complete in what it says where it is not.

The reader accepts exactly what ``plan.schema.json`` and the rules of :mod:`g10c.ir.plan_check` accept. It stops at the first thing it
cannot read and leaves the messages to those two.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import Any, cast

from g10c.ir.errors import InputError, InternalError
from g10c.ir.json_text import parse_json
from g10c.ir.machine_file import read_machine_dict
from g10c.ir.names import is_name, is_word
from g10c.ir.ops import declaration
from g10c.ir.plan import FORMAT, VERSION, Plan, Provenance
from g10c.ir.plan_values import (
    PlanShapeError,
    decode_count,
    decode_periods,
    decode_text,
    decode_value,
    op_keys,
    required_keys,
)
from g10c.ir.program import DTYPE_BYTES, Op, Program, Role, Tensor
from g10c.ir.source import Origin, Source, Span
from g10c.ir.values import Range, Size, Value

_PLAN_KEYS = frozenset(
    ("format", "version", "provenance", "pipeline", "estimate_ns", "bound_ns", "statistics", "machine", "program", "tensors", "ops")
)
_TENSOR_KEYS = ("index", "name", "dtype", "shape", "bytes", "role")
_ROLES = {str(role): role for role in Role}
_HEX = frozenset("0123456789abcdef")


def read_plan(text: str, name: str) -> Plan:
    """A plan from JSON text, its program not yet verified. Raises :class:`InputError` with every mistake."""
    source = Source(name, text)
    document = _document(source)
    try:
        try:
            return PlanReader(name).plan(document)
        except PlanShapeError:
            from g10c.ir.plan_check import plan_diagnostics

            diagnostics = plan_diagnostics(document, source)
    except RecursionError:
        raise InputError.at("lists are nested too deeply", Origin(name)) from None
    if not diagnostics:
        raise InternalError.at("a plan that its schema accepts could not be read", Origin(name))
    raise InputError(diagnostics)


def _document(source: Source) -> dict[str, object]:
    """The JSON object, where it says that it is a plan of the version known here."""
    beginning = source.text.lstrip()
    start = Span(source, 0, 1)
    if not beginning:
        raise InputError.at("the file is empty, expected a plan (JSON)", Origin(source.name))
    if beginning.startswith(("g10c.ir", "#")):
        hint = "a name that ends in .ir is read as a program; 'g10c compile' makes a plan of it"
        raise InputError.at("this is a program, not a plan (JSON)", start, hint)
    if not beginning.startswith(("{", "[")):
        raise InputError.at("expected a plan: JSON that begins with '{'", start, "'g10c compile MODEL --emit plan.json' makes one")
    document = parse_json(source)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        hint = 'a plan holds "format": "g10c.plan"; \'g10c compile MODEL --emit plan.json\' makes one'
        raise InputError.at("this is JSON, but not a plan", start, hint)
    version = document.get("version")
    if type(version) is int and version > VERSION:
        hint = "install a newer g10c, or compile the model again"
        raise InputError.at(f"version {version} of the plan format is newer than this g10c reads ({VERSION})", Origin(source.name), hint)
    return document


def _is(condition: bool) -> None:
    if not condition:
        raise PlanShapeError


def _entries(data: object) -> dict[str, Any]:
    _is(type(data) is dict)
    return cast("dict[str, Any]", data)


def _items(data: object) -> list[object]:
    _is(type(data) is list)
    return cast("list[object]", data)


class PlanReader:
    """Reads one document: tensors, then ops. Every method raises :class:`PlanShapeError` at anything unexpected."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: list[str] = []
        self.sizes: list[int] = []

    def plan(self, document: Mapping[str, object]) -> Plan:
        """The whole plan."""
        _is(document.keys() == _PLAN_KEYS and type(document["version"]) is int and document["version"] == VERSION)
        statistics = _entries(document["statistics"])
        machine = read_machine_dict(document["machine"])
        if machine is None:
            raise PlanShapeError
        return Plan(
            self.program(document),
            machine,
            decode_text(document["pipeline"]),
            self.provenance(document["provenance"]),
            _time_or_none(document["estimate_ns"]),
            _time_or_none(document["bound_ns"]),
            statistics,
        )

    def provenance(self, data: object) -> Provenance:
        """Where the plan comes from."""
        entries = _entries(data)
        _is(entries.keys() == {"version", "input_name", "input_sha256"})
        found = Provenance(**{key: decode_text(value) for key, value in entries.items()})
        _is(not found.input_sha256 or (len(found.input_sha256) == 64 and _HEX.issuperset(found.input_sha256)))
        return found

    def program(self, document: Mapping[str, object]) -> Program:
        """Tensors, ops and attributes."""
        entries = _entries(document["program"])
        _is(entries.keys() == {"name", "attributes"} and is_name(decode_text(entries["name"])))
        attributes = _entries(entries["attributes"])
        _is(all(map(is_word, attributes)))
        tensors = dict(starmap(self.tensor, enumerate(_items(document["tensors"]))))
        _is(len(tensors) == len(self.names))
        ops = tuple(starmap(self.op, enumerate(_items(document["ops"]))))
        values = {key: decode_value(value) for key, value in attributes.items()}
        return Program(entries["name"], tensors, ops, values, Origin(self.name))

    def tensor(self, number: int, data: object) -> tuple[str, Tensor]:
        """Element ``number`` of the tensors; ops may use it from now on."""
        entries = _entries(data)
        try:
            index, name, dtype, shape, size, role = (entries[key] for key in _TENSOR_KEYS)
            tensor = Tensor(
                name, dtype, tuple(map(decode_count, _items(shape))), _ROLES[role], {}, Origin(f"{self.name}: tensors[{number}]")
            )
            _is(dtype in DTYPE_BYTES and is_name(decode_text(name)) and decode_count(index) == number)
            _is(decode_count(size) == tensor.size_bytes)
        except (KeyError, TypeError):
            raise PlanShapeError from None
        attrs = cast("dict[str, Value]", tensor.attrs)
        if len(entries) > len(_TENSOR_KEYS):
            for key, value in entries.items():
                if key == "inactive":
                    attrs[key] = decode_periods(value)
                elif key not in _TENSOR_KEYS:
                    attrs[key] = _own_attribute(key, value)
        self.names.append(name)
        self.sizes.append(size)
        return name, tensor

    def op(self, number: int, data: object) -> Op:
        """Element ``number`` of the ops."""
        entries = _entries(data)
        name = entries.get("op")
        if type(name) is not str or declaration(name) is None or not required_keys(name) <= entries.keys():
            raise PlanShapeError
        keys = op_keys(name)
        attrs: dict[str, Value] = {}
        reads: tuple[str, ...] = ()
        writes: tuple[str, ...] = ()
        directive = "tensor" in required_keys(name)
        for key, value in entries.items():
            known = keys.get(key)
            if known is not None:
                attrs[known[0]] = known[1](value)
            elif directive and key in ("tensor", "range", "whole"):
                if key == "tensor":
                    reads = (self.tensor_name(value),)
                elif key == "range":
                    self._range(entries, attrs)
            elif not directive and key == "reads":
                reads = tuple(map(self.tensor_name, _items(value)))
            elif not directive and key == "writes":
                writes = tuple(map(self.tensor_name, _items(value)))
            elif key != "op":
                attrs[key] = _own_attribute(key, value)
        return Op(name, reads, writes, attrs, Origin(f"{self.name}: ops[{number}]"))

    def tensor_name(self, data: object) -> str:
        """The name of a tensor by its number."""
        if type(data) is not int or not 0 <= data < len(self.names):
            raise PlanShapeError
        return self.names[data]

    def _range(self, entries: Mapping[str, object], attrs: dict[str, Value]) -> None:
        """The bytes a directive is about: an attribute, unless they are given as the whole tensor's."""
        start, end = map(decode_count, _items(entries["range"])) if len(_items(entries["range"])) == 2 else (1, 0)
        self.tensor_name(entries["tensor"])
        size = self.sizes[cast("int", entries["tensor"])]
        if "whole" in entries:
            _is(entries["whole"] is True and start == 0 and end == size)
        else:
            _is(start <= end <= size)
            attrs["range"] = Range(Size(start), Size(end))


def _time_or_none(data: object) -> int | None:
    return None if data is None else decode_count(data)


def _own_attribute(key: str, value: object) -> Value:
    """An attribute that is not declared; its name has a dot."""
    _is("." in key and is_word(key))
    return decode_value(value)
