"""``g10c machines``: what machines there are, and the values of one."""

from __future__ import annotations

from collections.abc import Sequence

from g10c.compiler.cli.common import Parser, say, table
from g10c.compiler.driver import find_machine
from g10c.compiler.registry import library
from g10c.ir.errors import UsageError
from g10c.ir.machine import Machine
from g10c.ir.values import human_size


def run(argv: Sequence[str]) -> int:
    """List machines, or print one as the TOML that makes it."""
    parser = Parser("machines", "List machines, or print the values of one as TOML.")
    parser.add_argument("name", metavar="NAME", nargs="?", help="a bundled machine, or a TOML file")
    parser.add_argument("--set", dest="settings", metavar="KEY=VALUE", action="append", default=[], help="change one value")
    arguments = parser.parse_all(argv)
    if arguments.name:
        from g10c.ir.machine_file import machine_text

        say(machine_text(find_machine(arguments.name, arguments.settings)).rstrip())
        return 0
    if arguments.settings:
        raise UsageError.at("--set needs the NAME of a machine", None, "g10c machines a100-40gb --set gpu.memory=24GiB")
    rows: list[tuple[str, ...]] = [("machine", "gpu", "memory", "host", "pcie", "ssd")]
    rows += [_row(name, find_machine(name)) for name in library("g10c.machines")]
    say(table(rows))
    return 0


def _row(name: str, machine: Machine) -> tuple[str, ...]:
    count = f"{machine.gpu.count} x " if machine.gpu.count > 1 else ""
    return (
        name,
        count + machine.gpu.name,
        human_size(machine.gpu.memory),
        human_size(machine.host.memory),
        _bandwidth(machine.pcie.bandwidth),
        _bandwidth(machine.ssd.bandwidth),
    )


def _bandwidth(value: int) -> str:
    return f"{value / 1e9:g} GB/s" if value else "none"
