"""A result as a trace that Perfetto and ``chrome://tracing`` open.

The format is the Trace Event Format (Google, "Trace Event Format", JSON object form): complete events ``X``, counters ``C``, metadata
``M``. Times are microseconds with at most three decimals, so that a nanosecond is kept exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from g10c.ir.result import LINKS, Copy, SimResult

PROCESS = 1
COMPUTE = "compute"

TraceEvent = dict[str, Any]


def chrome_trace(result: SimResult) -> dict[str, Any]:
    """The trace as a JSON object.

    Kernels are on one track, each after its stall, the copies of each direction on tracks of their own; memory of each tier is a counter.

    Events that are not metadata are in order of time. Copies that overlap in one direction go to further tracks of it, so that no two
    events of a track overlap. Copies and counters are there where the simulation kept a timeline.
    """
    lanes = [(COMPUTE, list(_kernels(result)))]
    links = dict.fromkeys((*LINKS, *(copy.link for copy in result.copies)))
    for link in links:
        lanes += _lanes(link, [copy for copy in result.copies if copy.link == link])
    metadata = [_metadata("process_name", None, {"name": f"{result.program} on {result.machine}"})]
    events: list[TraceEvent] = list(_counters(result))
    for number, (name, lane) in enumerate(lanes, start=1):
        metadata += [_metadata("thread_name", number, {"name": name}), _metadata("thread_sort_index", number, {"sort_index": number})]
        events += [{**event, "pid": PROCESS, "tid": number} for event in lane]
    events.sort(key=lambda event: (event["ts"], event.get("tid", 0), event["name"]))
    facts = {"program": result.program, "machine": result.machine, "runtime": result.runtime, "iteration_time_ns": result.iteration_time_ns}
    return {"traceEvents": metadata + events, "displayTimeUnit": "ms", "otherData": facts}


def chrome_trace_text(result: SimResult) -> str:
    """The trace as JSON text."""
    return json.dumps(chrome_trace(result), separators=(",", ":")) + "\n"


def _kernels(result: SimResult) -> Iterator[TraceEvent]:
    for number, kernel in enumerate(result.kernels):
        facts = {"kernel": number, "stall_ns": kernel.stall_ns}
        begin_ns = kernel.start_ns + kernel.stall_ns
        if kernel.stall_ns:
            yield _complete("stall", "stall", kernel.start_ns, begin_ns, facts)
        yield _complete(kernel.name, "kernel", begin_ns, kernel.end_ns, facts)


def _lanes(link: str, copies: Iterable[Copy]) -> list[tuple[str, list[TraceEvent]]]:
    """Distribute the copies of a link over as few tracks as hold them without overlap."""
    lanes: list[list[TraceEvent]] = []
    ends: list[int] = []
    for copy in sorted(copies, key=lambda copy: (copy.start_ns, copy.end_ns)):
        lane = next((number for number, end_ns in enumerate(ends) if end_ns <= copy.start_ns), len(ends))
        if lane == len(ends):
            lanes.append([])
            ends.append(0)
        ends[lane] = copy.end_ns
        lanes[lane].append(_complete(copy.tensor, copy.cause, copy.start_ns, copy.end_ns, {"bytes": copy.bytes}))
    return [(link if number == 0 else f"{link} ({number + 1})", lane) for number, lane in enumerate(lanes)]


def _counters(result: SimResult) -> Iterator[TraceEvent]:
    for sample in result.memory:
        for tier, size_bytes in (("gpu", sample.gpu), ("host", sample.host), ("ssd", sample.ssd)):
            yield {"name": f"{tier} memory", "ph": "C", "ts": _us(sample.time_ns), "pid": PROCESS, "args": {"bytes": size_bytes}}


def _complete(name: str, category: str, start_ns: int, end_ns: int, facts: dict[str, int]) -> TraceEvent:
    return {"name": name, "cat": category, "ph": "X", "ts": _us(start_ns), "dur": _us(end_ns - start_ns), "args": facts}


def _metadata(name: str, thread: int | None, facts: dict[str, str | int]) -> TraceEvent:
    event: TraceEvent = {"name": name, "ph": "M", "pid": PROCESS, "args": facts}
    return event if thread is None else {**event, "tid": thread}


def _us(time_ns: int) -> float:
    return time_ns / 1000
