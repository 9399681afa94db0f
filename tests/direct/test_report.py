from __future__ import annotations

import csv
import dataclasses
import io
import json
from importlib.resources import files

import jsonschema
import pytest
from direct.build import Model, machine

from g10c.backends.report import SCHEMA, kernel_csv, result_json, result_json_text, result_table
from g10c.ir.result import LINKS, KernelTime, LinkUse, SimResult

PAIR = Model({"x": 40, "y": 40}, [(10, "", "x y"), (1000, "", ""), (10, "x y", "")])
RESULT = PAIR.run("1 evict x host\n1 evict y ssd\n2 prefetch x host\n2 prefetch y ssd")
SHARED = SimResult(
    "p",
    "m",
    "uvm",
    200,
    100,
    step_times_ns=(210, 200),
    bound_time_ns=160,
    links={"pcie_in": LinkUse(5, 50)},
    faults=3,
    fault_kernels=2,
    notes=("one", "two"),
)


@pytest.fixture(scope="module")
def schema():
    found = json.loads(files("g10c.backends").joinpath(SCHEMA).read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_json_has_every_number_under_a_stable_key():
    assert list(result_json(RESULT)) == list(result_json(SHARED))
    assert json.loads(result_json_text(RESULT)) == {
        "format": "g10c.result",
        "version": 1,
        "program": "model",
        "machine": "small",
        "runtime": "direct",
        "steps": 1,
        "step_times_ns": [1100],
        "iteration_time_ns": 1100,
        "ideal_time_ns": 1020,
        "stall_time_ns": 80,
        "bound_time_ns": None,
        "links": {link: {"bytes": 40, "busy_ns": 80} for link in LINKS},
        "tiers": {"gpu": {"peak_bytes": 80}, "host": {"peak_bytes": 40}, "ssd": {"peak_bytes": 40}},
        "faults": 0,
        "fault_kernels": 0,
        "notes": [],
    }


@pytest.mark.parametrize("result", [RESULT, SHARED])
def test_json_follows_its_schema(schema, result):
    schema.validate(result_json(result))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("iteration_time_ns",), -1),
        (("bound_time_ns",), "1us"),
        (("links", "gpu_to_ssd"), {"bytes": 1}),
        (("tiers", "disk"), {}),
        (("x",), 1),
    ],
)
def test_the_schema_refuses_what_no_result_has(schema, path, value):
    broken = json.loads(result_json_text(RESULT))
    inner = broken[path[0]] if len(path) == 2 else broken
    inner[path[-1]] = value
    assert not schema.is_valid(broken)


def test_the_schema_requires_every_key(schema):
    for key in result_json(RESULT):
        assert not schema.is_valid({name: value for name, value in result_json(RESULT).items() if name != key}), key


def test_the_table_sets_use_against_capacity():
    assert result_table(RESULT, machine()) == (
        "model on small, direct runtime, step 1\n"
        "\n"
        "step time  1.100 us\n"
        "ideal      1.020 us  92.7%\n"
        "stall         80 ns   7.3%\n"
        "limited by copies that come too late; kernel 2 (k2) waits longest\n"
        "\n"
        "link         bytes   busy  busy of step               rate\n"
        "gpu_to_host   40 B  80 ns          7.3%  0.04 GB/s of 1.00\n"
        "host_to_gpu   40 B  80 ns          7.3%  0.04 GB/s of 1.00\n"
        "gpu_to_ssd    40 B  80 ns          7.3%  0.04 GB/s of 0.50\n"
        "ssd_to_gpu    40 B  80 ns          7.3%  0.04 GB/s of 0.50\n"
        "\n"
        "memory  peak  capacity  share\n"
        "gpu     80 B     100 B  80.0%\n"
        "host    40 B    1000 B   4.0%\n"
        "ssd     40 B         -      -\n"
        "\n"
        "stalled most  name  stall  own time\n"
        "kernel 2        k2  80 ns     10 ns\n"
    )


def test_the_table_tells_of_bound_faults_and_notes():
    lines = result_table(SHARED).splitlines()
    assert lines[2:6] == [
        "step time    200 ns",
        "ideal        100 ns      50.0%",
        "stall        100 ns      50.0%",
        "lower bound  160 ns  gap 25.0%",
    ]
    assert [line.split() for line in lines if "pcie_in" in line] == [["pcie_in", "5", "B", "50", "ns", "25.0%", "0.03", "GB/s"]]
    assert "3 pages were missing when their kernel began; 2 kernels waited for pages" in lines
    assert lines[-2:] == ["note: one", "note: two"]
    assert "note" not in result_table(RESULT)


def test_the_table_names_the_five_kernels_that_stalled_most():
    kernels = tuple(KernelTime(f"k{n}", 0, 10, stall) for n, stall in enumerate((3, 0, 9, 9, 1, 2, 4)))
    lines = result_table(dataclasses.replace(SHARED, kernels=kernels, notes=())).splitlines()
    assert [line.split()[2] for line in lines[-5:]] == ["k2", "k3", "k6", "k0", "k5"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"iteration_time_ns": 101}, "limited by the kernels themselves: stalls are next to nothing"),
        ({"links": {"host_to_gpu": LinkUse(5, 190)}}, "limited by host_to_gpu: it is busy 95.0% of the step"),
        ({}, "limited by pages that fault on demand; kernel 1 (b) waits longest"),
        ({"faults": 0}, "limited by copies that come too late; kernel 1 (b) waits longest"),
    ],
)
def test_the_table_says_what_limits_the_step(changes, expected):
    kernels = (KernelTime("a", 0, 50, 10), KernelTime("b", 50, 200, 90))
    assert expected in result_table(dataclasses.replace(SHARED, **{"kernels": kernels, **changes})).splitlines()


def test_a_step_without_time_has_no_shares():
    assert "ideal      0 ns  -" in result_table(Model({}, []).run())


def test_csv_has_a_line_for_every_kernel():
    result = PAIR.run("1 evict x host\n1 evict y ssd\n2 prefetch x host\n2 prefetch y ssd", timeline=True)
    rows = list(csv.reader(io.StringIO(kernel_csv(result))))
    assert rows == [
        ["kernel", "name", "start_ns", "end_ns", "time_ns", "stall_ns", "overlap_ns"],
        ["0", "k0", "0", "10", "10", "0", "0"],
        ["1", "k1", "10", "1010", "1000", "0", "80"],
        ["2", "k2", "1010", "1100", "10", "80", "0"],
    ]
