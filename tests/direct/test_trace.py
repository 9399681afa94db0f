from __future__ import annotations

import json
from itertools import pairwise

from direct.build import Model, machine
from direct.plans import plans, read, sized
from hypothesis import given, settings

from g10c.backends.direct import simulate_direct
from g10c.backends.trace import chrome_trace, chrome_trace_text
from g10c.ir.result import Copy, KernelTime, SimResult

PAIR = Model({"x": 40, "y": 40}, [(10, "", "x y"), (1000, "", ""), (10, "x y", "")])


def tracks(trace) -> dict[str, list[dict]]:
    """Complete events by the name of their track."""
    names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    found = {name: [] for name in names.values()}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found[names[event["tid"]]].append(event)
    return found


def test_kernels_copies_and_memory_are_on_tracks_of_their_own():
    trace = chrome_trace(PAIR.run("1 evict x host\n1 evict y ssd\n2 prefetch x host\n2 prefetch y ssd", timeline=True))
    shown = {name: [(event["name"], event["ts"], event["dur"]) for event in events] for name, events in tracks(trace).items()}
    assert shown == {
        "compute": [("k0", 0.0, 0.01), ("k1", 0.01, 1.0), ("stall", 1.01, 0.08), ("k2", 1.09, 0.01)],
        "gpu_to_host": [("x", 0.01, 0.08)],
        "host_to_gpu": [("x", 1.01, 0.08)],
        "gpu_to_ssd": [("y", 0.01, 0.08)],
        "ssd_to_gpu": [("y", 1.01, 0.08)],
    }
    assert tracks(trace)["compute"][3]["args"] == {"kernel": 2, "stall_ns": 80}
    assert tracks(trace)["gpu_to_ssd"][0]["args"] == {"bytes": 40}
    counters = [(event["name"], event["ts"], event["args"]["bytes"]) for event in trace["traceEvents"] if event["ph"] == "C"]
    assert counters[:6] == [
        ("gpu memory", 0.0, 80),
        ("host memory", 0.0, 0),
        ("ssd memory", 0.0, 0),
        ("gpu memory", 0.01, 80),
        ("host memory", 0.01, 40),
        ("ssd memory", 0.01, 40),
    ]
    (process,) = [event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"]
    assert process == "model on small"
    assert trace["otherData"] == {"program": "model", "machine": "small", "runtime": "direct", "iteration_time_ns": 1100}


@settings(max_examples=50, deadline=None)
@given(plans())
def test_events_are_complete_sorted_and_do_not_overlap_on_a_track(plan):
    step, moves = plan
    result = simulate_direct(step, moves, sized(machine(), read(step, moves, 2)), timeline=True)
    trace = json.loads(chrome_trace_text(result))
    events = trace["traceEvents"]
    stamps = [event["ts"] for event in events if event["ph"] != "M"]
    assert stamps == sorted(stamps)
    assert {event["ph"] for event in events} <= {"M", "X", "C"}
    stalls = sum(kernel.stall_ns > 0 for kernel in result.kernels)
    assert len([event for event in events if event["ph"] == "X"]) == len(result.kernels) + stalls + len(result.copies)
    for of in tracks(trace).values():
        ns = [(round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)) for event in of]
        assert all(0 <= start <= end for start, end in ns)
        assert all(one[1] <= two[0] for one, two in pairwise(ns))
    ends = [round((event["ts"] + event["dur"]) * 1000) for event in tracks(trace)["compute"] if event["cat"] == "kernel"]
    assert ends == [kernel.end_ns for kernel in result.kernels]


def test_copies_that_overlap_in_one_direction_go_to_further_tracks():
    copies = tuple(Copy("host_to_gpu", name, start, end, 1, "fault") for name, start, end in (("a", 0, 10), ("b", 5, 15), ("c", 10, 20)))
    shown = tracks(chrome_trace(SimResult("p", "m", "uvm", 20, 20, copies=copies)))
    assert {name: [event["name"] for event in events] for name, events in shown.items() if events} == {
        "host_to_gpu": ["a", "c"],
        "host_to_gpu (2)": ["b"],
    }


def test_a_nanosecond_is_kept_in_a_long_run():
    late = 10**13 + 1
    (event,) = tracks(chrome_trace(SimResult("p", "m", "uvm", late + 1, 1, kernels=(KernelTime("k", late, late + 1, 0),))))["compute"]
    assert json.dumps(event["ts"]) == "10000000000.001"
