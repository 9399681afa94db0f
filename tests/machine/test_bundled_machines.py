"""Bundled machines: each passes the schema, reads, cites its figures, and is found by its name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import jsonschema
import pytest

from g10c.ir.machine import Gpu, Host, Link, Machine, Network, Uvm
from g10c.ir.machine_file import load_machine, machine_from_dict, machine_text, machine_to_dict, parse_machine
from g10c.ir.schema_check import schema
from g10c.models.machine_library import BUNDLED, FOLDER

machine_names = pytest.mark.parametrize("name", BUNDLED)


def test_every_file_is_listed() -> None:
    assert sorted(BUNDLED) == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert {"g10-paper", "a100-40gb", "a100-80gb", "h100-80gb", "triosim-h100"} <= BUNDLED.keys()


def test_the_entry_point_leads_to_them() -> None:
    entries = [entry for entry in entry_points(group="g10c.machines") if entry.value == "g10c.models.machine_library:BUNDLED"]
    assert len(entries) == 1
    assert entries[0].load() is BUNDLED


@machine_names
def test_passes_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator(schema("machine")).validate(tomllib.loads(BUNDLED[name].read_text(encoding="utf-8")))


@machine_names
def test_reads_and_round_trips(name: str) -> None:
    machine = load_machine(BUNDLED[name])
    assert machine.name == name
    assert machine.description
    assert machine.source
    assert parse_machine(machine_text(machine)) == machine
    assert machine_from_dict(machine_to_dict(machine)) == machine


def test_the_machine_of_the_paper() -> None:
    machine = load_machine(BUNDLED["g10-paper"])
    assert machine == Machine(
        "g10-paper",
        Gpu("NVIDIA A100 40GB", 1, 40 << 30, 0, 8.14e-4),
        Host(128 << 30),
        Link(15_754_000_000, 0),
        Link(3_200_000_000, 20_000),
        Uvm(45_000, "artifact", 50, 4096),
        Link(0),
        Network(),
        machine.description,
        machine.source,
    )


def test_real_gpus_differ_from_one_another_as_they_should() -> None:
    a100, a100_80gb, h100 = (load_machine(BUNDLED[name]) for name in ("a100-40gb", "a100-80gb", "h100-80gb"))
    assert (a100.gpu.memory, a100_80gb.gpu.memory, h100.gpu.memory) == (40 << 30, 80 << 30, 80 << 30)
    assert a100.pcie == a100_80gb.pcie
    assert h100.pcie.bandwidth > 2 * a100.pcie.bandwidth
    assert all(machine.uvm == Uvm(45_000, "profiled", 0, 4096) for machine in (a100, a100_80gb, h100))
    assert all(0 < machine.gpu.reserved < machine.gpu.memory // 20 for machine in (a100, a100_80gb, h100))


def test_reading_loads_no_schema_library() -> None:
    """Start-up of the command line: the library takes longer to import than a plan to read."""
    code = "import sys; from g10c.ir.machine_file import load_machine; load_machine(sys.argv[1]); sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, str(BUNDLED["g10-paper"])], check=False).returncode == 0
