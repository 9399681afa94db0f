"""Machine files: what is read, what is refused and how it is said, and every way back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from g10c.ir.errors import InputError
from g10c.ir.machine import FAULT_MODELS, Gpu, Host, Link, Machine, Network, Uvm
from g10c.ir.machine_file import (
    load_machine,
    machine_changes,
    machine_from_dict,
    machine_text,
    machine_to_dict,
    override,
    parse_machine,
)

SMALL = """\
name = "box"
[gpu]
memory = "40GiB"
[host]
memory = "128GiB"
[pcie]
bandwidth = "15.754GB/s"
"""

FULL = """\
name = "box"
description = "a box"
source = "the label"

[gpu]
name = "A100"
count = 4
memory = "40GiB"
reserved = "512 MiB"
malloc_time_per_byte = "8.14e-7us"

[host]
memory = "0B"

[pcie]
bandwidth = "15.754GB/s"
latency = "1.5us"

[ssd]
bandwidth = "3_200MB/s"
latency = "20us"

[uvm]
fault_latency = "45us"
fault_model = "artifact"
batch_pages = 50
page = "64KiB"

[remote]
bandwidth = "1GiB/s"
latency = "2ns"

[network]
kind = "optical"
bandwidth = "64GB/s"
latency = "20ns"
rows = 2
cols = 2
"""


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_machine(text, "m.toml")
    return caught.value.render()


def test_full_file() -> None:
    assert parse_machine(FULL) == Machine(
        "box",
        Gpu("A100", 4, 40 << 30, 512 << 20, 8.14e-4),
        Host(0),
        Link(15_754_000_000, 1_500),
        Link(3_200_000_000, 20_000),
        Uvm(45_000, "artifact", 50, 65_536),
        Link(1 << 30, 2),
        Network("optical", 64_000_000_000, 20, 2, 2),
        "a box",
        ("the label",),
    )


def test_what_a_file_leaves_out() -> None:
    machine = parse_machine(SMALL)
    assert machine == Machine("box", Gpu(memory=40 << 30), Host(128 << 30), Link(15_754_000_000, 0))
    assert machine.ssd.bandwidth == 0
    assert machine.network.kind == "none"


def test_dotted_keys_inline_tables_and_windows_line_ends() -> None:
    text = 'name = "box"\r\nhost.memory = "128GiB"\r\ngpu = {memory = "40GiB"}\r\npcie.bandwidth = "15.754GB/s"\r\n'
    assert parse_machine(text) == parse_machine(SMALL)


def test_all_mistakes_at_once() -> None:
    text = (
        SMALL.replace('memory = "40GiB"', 'memroy = "40GiB"\ncount = 0')
        + 'latncy = "5us"\nlatency = 5\n[sdd]\n[uvm]\nfault_model = "artefact"\n'
    )
    assert refusal(text) == (
        "m.toml:2:1: error: gpu: missing key 'memory'\n"
        "    2 | [gpu]\n"
        "      | ^~~~~\n"
        '  help: it is a size with a unit in quotes, such as "40GiB"\n'
        "m.toml:3:1: error: extra key 'memroy' at gpu\n"
        '    3 | memroy = "40GiB"\n'
        "      | ^~~~~~\n"
        "  help: did you mean 'memory'?\n"
        "m.toml:4:9: error: gpu.count: must be more than 0, found 0\n"
        "    4 | count = 0\n"
        "      |         ^\n"
        "m.toml:9:1: error: extra key 'latncy' at pcie\n"
        '    9 | latncy = "5us"\n'
        "      | ^~~~~~\n"
        "  help: did you mean 'latency'?\n"
        'm.toml:10:11: error: pcie.latency: expected a time with a unit in quotes, such as "20us", found 5\n'
        "   10 | latency = 5\n"
        "      |           ^\n"
        "m.toml:11:1: error: extra key 'sdd'\n"
        "   11 | [sdd]\n"
        "      | ^~~~~\n"
        "  help: did you mean 'ssd'?\n"
        "m.toml:13:15: error: uvm.fault_model: expected one of profiled, artifact, found 'artefact'\n"
        '   13 | fault_model = "artefact"\n'
        "      |               ^~~~~~~~~~\n"
        "  help: did you mean 'artifact'?"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"40GiB"', '"40"', "gpu.memory: expected one of the units B, KiB, MiB, GiB, TiB, KB, MB, GB, TB, found no unit in '40'"),
        ('"40GiB"', '"40GB/s"', "found unit 'GB/s' in '40GB/s'"),
        ('"40GiB"', '"-40GiB"', "gpu.memory: must not be negative, found '-40GiB'"),
        ('"40GiB"', '"0B"', "gpu.memory: must be more than 0, found 0"),
        ('"40GiB"', '"0.3B"', "'0.3B' is not a whole number of B below 2^63"),
        ('"40GiB"', '"9e99GiB"', "below 2^63"),
        ('"40GiB"', '"1e9999999GiB"', "gpu.memory: '1e9999999GiB' is out of range"),
        ('"40GiB"', "40", 'gpu.memory: expected a size with a unit in quotes, such as "40GiB", found 40'),
        ('"40GiB"', "2020-01-01", "gpu.memory: expected a size with a unit in quotes"),
        ('"15.754GB/s"', '"15.754GB"', "pcie.bandwidth: expected one of the units B/s"),
        ('"15.754GB/s"', '"0GB/s"', "pcie.bandwidth: must be more than 0"),
        ('"box"', '""', "name: expected a name of one line that is not blank"),
        ('"box"', "3", "name: expected a text in quotes, found 3"),
        ('name = "box"', "", "missing key 'name'"),
        ("[gpu]", "[[gpu]]", "gpu: expected a table [gpu], found a list of 1"),
        ("[host]", "[hots]", "missing key 'host'"),
    ],
)
def test_wrong_values(old: str, new: str, message: str) -> None:
    assert message in refusal(SMALL.replace(old, new))


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('[uvm]\npage = "5KiB"', "uvm.page: expected a power of two, found 5120 bytes"),
        ('[network]\nkind = "electrical"', "network.kind: electrical needs a bandwidth"),
        ('[network]\nkind = "optical"\nbandwidth = "1GB/s"\nrows = 0\ncols = 4', "network.kind: optical: a mesh of 0 for 1 GPUs"),
        ('[network]\nbandwidth = "1GB/s"', "network: missing key 'kind'"),
        ("[ssd]", "ssd: missing key 'bandwidth'"),
        ("[uvm]\nbatch_pages = 2.0", "uvm.batch_pages: expected a whole number without a unit, such as 50, found 2.0"),
        ("[uvm]\nbatch_pages = true", "uvm.batch_pages: expected a whole number without a unit, such as 50, found true"),
    ],
)
def test_values_that_do_not_go_together(extra: str, message: str) -> None:
    assert message in refusal(SMALL + extra + "\n")


def test_reserved_memory_has_to_leave_some() -> None:
    text = SMALL.replace('memory = "40GiB"', 'memory = "40GiB"\nreserved = "40GiB"')
    assert "m.toml:4:12: error: gpu.reserved: leaves nothing of gpu.memory" in refusal(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gpu]\nmemory = 40GiB\n", "m.toml:2:12: error: not valid TOML"),
        ('[gpu]\nmemory = "40GiB', "m.toml:2:"),
        ("[gpu]\nx = 1\nx = 2\n", "m.toml:3:6: error: not valid TOML: cannot overwrite a value"),
        ("x = " + "[" * 100_000, "not valid TOML"),
        ("x = " + "9" * 10_000, "not valid TOML"),
        ("x = \x00", "m.toml:1:5: error: not valid TOML"),
    ],
)
def test_text_that_is_no_toml(text: str, message: str) -> None:
    assert message in refusal(text)


def test_caret_in_an_inline_table() -> None:
    text = 'name = "box"\nhost = { memory = "128GiB" }\npcie = {latency = "1us", bandwidth = "1GB"} # "\ngpu = {memory = "1GiB"}\n'
    message = refusal(text)
    assert message.startswith("m.toml:3:38: error: pcie.bandwidth")
    assert message.splitlines()[2] == "      |" + " " * 38 + "^~~~~"


def test_carets_behind_strings_that_look_like_toml() -> None:
    text = 'name = "box"\ndescription = """\n[gpu]\nmemory = "no"\n"""\nsource = [\'a]\', "b = {", # c = ]\n]\n' + SMALL[13:].replace(
        "GiB", "GxB", 1
    )
    assert refusal(text).startswith("m.toml:9:10: error: gpu.memory")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "box.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert load_machine(path) == parse_machine(SMALL)
    path.write_text(SMALL.replace("40GiB", "40Gib"))
    with pytest.raises(InputError, match=r"box\.toml:3:10: error: gpu\.memory"):
        load_machine(path)
    with pytest.raises(InputError, match=r"no such file\n.*did you mean 'box\.toml'"):
        load_machine(tmp_path / "bxo.toml")


def test_settings() -> None:
    machine = override(
        parse_machine(SMALL), "host.memory=32GiB", " gpu.count = 8 ", "uvm.fault_model=artifact", "gpu.malloc_time_per_byte=8.14e-7us"
    )
    assert machine.host.memory == 32 << 30
    assert machine.gpu == Gpu(memory=40 << 30, count=8, malloc_time_per_byte=8.14e-4)
    assert machine.uvm.fault_model == "artifact"
    assert machine_changes(parse_machine(SMALL), machine) == [
        "gpu.count: 1 -> 8",
        "gpu.malloc_time_per_byte: 0.0ns -> 0.000814ns",
        "host.memory: 128GiB -> 32GiB",
        "uvm.fault_model: profiled -> artifact",
    ]


def test_settings_are_compared_after_all_are_applied() -> None:
    mesh = ("network.kind=optical", "network.bandwidth=64GB/s", "network.rows=2", "network.cols=2", "gpu.count=4")
    assert override(parse_machine(SMALL), *mesh).network == Network("optical", 64_000_000_000, 0, 2, 2)
    with pytest.raises(InputError, match=r"--set gpu\.reserved=1TiB: error: gpu\.reserved: leaves nothing"):
        override(parse_machine(SMALL), "gpu.reserved=1TiB")


def test_wrong_settings_at_once() -> None:
    settings = (
        "host.memroy=1GiB",
        "host.memory",
        "host.memory=32",
        "gpu.count=2GiB",
        "gpu.count=0",
        "uvm.fault_model=none",
        "gpu=1",
        "gpu.name=",
    )
    with pytest.raises(InputError) as caught:
        override(parse_machine(SMALL), *settings)
    assert caught.value.exit_status == 1
    assert caught.value.render().splitlines() == [
        "--set host.memroy=1GiB: error: unknown key 'host.memroy'",
        "  help: did you mean 'host.memory'?",
        "--set host.memory: error: expected KEY=VALUE",
        "  help: such as --set host.memory=32GiB",
        "--set host.memory=32: error: host.memory: expected one of the units B, KiB, MiB, GiB, TiB, KB, MB, GB, TB, found no unit in '32'",
        "--set gpu.count=2GiB: error: gpu.count: expected a whole number without a unit, found '2GiB'",
        "--set gpu.count=0: error: gpu.count: must be more than 0, found 0",
        "--set uvm.fault_model=none: error: uvm.fault_model: expected one of profiled, artifact, found 'none'",
        "  help: known values: artifact, profiled",
        "--set gpu=1: error: unknown key 'gpu'",
        "  help: 'g10c machines NAME' shows all keys",
        "--set gpu.name=: error: gpu.name: expected a name of one line that is not blank",
    ]


def test_dict_is_in_base_units_and_complete() -> None:
    data = machine_to_dict(parse_machine(FULL))
    assert data["pcie"] == {"bandwidth": 15_754_000_000, "latency": 1_500}
    assert data["gpu"]["malloc_time_per_byte"] == 8.14e-4
    assert machine_from_dict(data) == parse_machine(FULL)
    del data["host"]["memory"]
    data["pcie"]["latncy"] = 3
    data["uvm"]["page"] = "4KiB"
    with pytest.raises(InputError) as caught:
        machine_from_dict(data, "plan.json")
    lines = caught.value.render().splitlines()
    assert "plan.json: error: host: missing key 'memory'" in lines
    assert "plan.json: error: extra key 'latncy' at pcie" in lines
    assert 'plan.json: error: uvm.page: expected a whole number above 0, found "4KiB"' in lines


INTEGERS = st.integers(0, (1 << 63) - 1)
NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LINKS = st.builds(Link, INTEGERS, INTEGERS)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    memory = draw(st.integers(1, (1 << 63) - 1))
    count, kind = draw(st.integers(1, 10_000)), draw(st.sampled_from(["none", "electrical", "optical"]))
    return Machine(
        draw(NAMES),
        Gpu(draw(NAMES), count, memory, draw(st.integers(0, memory - 1)), draw(st.floats(0, 1e18))),
        Host(draw(INTEGERS)),
        Link(draw(st.integers(1, (1 << 63) - 1)), draw(INTEGERS)),
        draw(LINKS),
        Uvm(
            draw(st.just(0) | st.integers(1_000, (1 << 63) - 1)),
            draw(st.sampled_from(FAULT_MODELS)),
            draw(INTEGERS),
            1 << draw(st.integers(0, 40)),
        ),
        draw(LINKS),
        Network(kind, draw(st.integers(1, 1 << 50)), draw(INTEGERS), draw(st.integers(count, 1 << 31)), draw(st.integers(1, 1 << 31))),
        draw(TEXTS),
        tuple(draw(st.lists(TEXTS, max_size=3))),
    )


@given(machines())
def test_text_and_dict_round_trip(machine: Machine) -> None:
    assert parse_machine(machine_text(machine)) == machine
    assert machine_from_dict(machine_to_dict(machine)) == machine


@given(st.text() | st.sampled_from([FULL, SMALL]), st.integers(0, 500), st.integers(0, 30), st.text(max_size=5))
def test_no_text_raises_anything_else(text: str, start: int, length: int, middle: str) -> None:
    changed = text[:start] + middle + text[start + length :]
    with suppress(InputError):
        parse_machine(changed, "m.toml")


@given(st.text(), st.text())
def test_no_setting_raises_anything_else(path: str, value: str) -> None:
    for setting in (f"{path}={value}", f"gpu.memory={value}", f"gpu.malloc_time_per_byte={value}", f"gpu.count={value}"):
        with suppress(InputError):
            override(parse_machine(SMALL), setting)


@pytest.mark.parametrize("text", ["0", "none", "0B/s"])
def test_a_setting_needs_no_unit_for_nothing(text):
    without = override(Machine("m", ssd=Link(1)), f"ssd.bandwidth={text}")
    assert without.ssd.bandwidth == 0
    with pytest.raises(InputError, match="must be more than 0"):
        override(without, "gpu.memory=0")


@pytest.mark.parametrize(("latency", "right"), [("0ns", True), ("1us", True), ("45us", True), ("1ns", False), ("999ns", False)])
def test_a_fault_latency_that_makes_faults_on_ssd_endless_is_refused(latency, right):
    machine = Machine("m", ssd=Link(10**9, 20_000))
    if right:
        assert override(machine, f"uvm.fault_latency={latency}")
        return
    with pytest.raises(InputError, match="expected 0ns, or at least 1us beside an SSD"):
        override(machine, f"uvm.fault_latency={latency}")
    assert override(machine, f"uvm.fault_latency={latency}", "ssd.bandwidth=none")
