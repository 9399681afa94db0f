"""Results as text: a table for a terminal, JSON (``result.schema.json``), and kernels as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from g10c.ir.result import LINKS, KernelTime, LinkUse, SimResult
from g10c.ir.values import human_size, human_time

if TYPE_CHECKING:
    from g10c.ir.machine import Machine

SCHEMA = "result.schema.json"
"""Name of the schema of :func:`result_json`, beside this module."""
FORMAT_VERSION = 1
TIERS = ("gpu", "host", "ssd")
MOST_STALLED = 5


def result_json(result: SimResult) -> dict[str, Any]:
    """The result as a JSON object with keys in a fixed order: nanoseconds and bytes, ``bound_time_ns`` null where none is known.

    Kernels and the timeline are left out: :func:`kernel_csv` and :mod:`g10c.backends.trace` have them.
    """
    return {
        "format": "g10c.result",
        "version": FORMAT_VERSION,
        "program": result.program,
        "machine": result.machine,
        "runtime": result.runtime,
        "steps": result.steps,
        "step_times_ns": list(result.step_times_ns),
        "iteration_time_ns": result.iteration_time_ns,
        "ideal_time_ns": result.ideal_time_ns,
        "stall_time_ns": result.stall_time_ns,
        "bound_time_ns": result.bound_time_ns,
        "links": {name: {"bytes": use.bytes, "busy_ns": use.busy_ns} for name, use in _links(result)},
        "tiers": {tier: {"peak_bytes": result.peak_bytes.get(tier, 0)} for tier in TIERS},
        "faults": result.faults,
        "fault_kernels": result.fault_kernels,
        "notes": list(result.notes),
    }


def result_json_text(result: SimResult) -> str:
    """The result as JSON text."""
    return json.dumps(result_json(result), indent=2) + "\n"


def result_table(result: SimResult, machine: Machine | None = None) -> str:
    """The result for a reader. With the machine, memory is set against capacity and traffic against bandwidth."""
    lines = [f"{result.program} on {result.machine}, {result.runtime} runtime, step {result.steps}", ""]
    lines += [*_columns(list(_times(result))), *_limit(result)]
    lines += ["", *_columns([("link", "bytes", "busy", "busy of step", "rate"), *_link_rows(result, machine)])]
    lines += ["", *_columns([("memory", "peak", "capacity", "share", ""), *_memory_rows(result, machine)])]
    if result.faults:
        lines += ["", f"{result.faults:,} pages were missing when their kernel began; {result.fault_kernels:,} kernels waited for pages"]
    stalled = list(_most_stalled(result))
    if stalled:
        lines += ["", *_columns([("stalled most", "name", "stall", "own time", ""), *stalled])]
    lines += ["", *(f"note: {note}" for note in result.notes)] if result.notes else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def kernel_csv(result: SimResult) -> str:
    """Kernels in order as CSV: number, name, start, end, own time and stall (together the time from start to end), in nanoseconds.

    The last column is the part of the own time in which data move; the result has to hold its copies for it (``timeline``).
    """
    from g10c.compiler.kernel_parts import kernel_parts

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("kernel", "name", "start_ns", "end_ns", "time_ns", "stall_ns", "overlap_ns"))
    for number, (kernel, parts) in enumerate(zip(result.kernels, kernel_parts(result), strict=True)):
        times = (kernel.start_ns, kernel.end_ns, kernel.own_ns, kernel.stall_ns, parts.overlap_ns)
        writer.writerow((number, kernel.name, *times))
    return text.getvalue()


Row = tuple[str, str, str, str, str]

NO_STALL = 0.02
"""Share of stalls in a step below which they count as nothing."""
BUSY = 0.9
"""Share of a step for which a link that limits it is busy."""


def _times(result: SimResult) -> Iterator[Row]:
    iteration = result.iteration_time_ns
    yield "step time", human_time(iteration), "", "", ""
    yield "ideal", human_time(result.ideal_time_ns), _share(result.ideal_time_ns, iteration), "", ""
    yield "stall", human_time(result.stall_time_ns), _share(result.stall_time_ns, iteration), "", ""
    if result.bound_time_ns is not None:
        gap = f"gap {_share(iteration - result.bound_time_ns, result.bound_time_ns)}"
        yield "lower bound", human_time(result.bound_time_ns), gap, "", ""


def _limit(result: SimResult) -> Iterator[str]:
    """What the step waits for, in a sentence."""
    iteration = result.iteration_time_ns
    if not iteration:
        return
    if result.stall_time_ns < NO_STALL * iteration:
        yield "limited by the kernels themselves: stalls are next to nothing"
        return
    name, use = max(_links(result), key=lambda item: item[1].busy_ns)
    if use.busy_ns >= BUSY * iteration:
        yield f"limited by {name}: it is busy {_share(use.busy_ns, iteration)} of the step"
        return
    cause = "pages that fault on demand" if result.faults else "copies that come too late"
    worst = max(range(len(result.kernels)), key=lambda number: result.kernels[number].stall_ns, default=None)
    longest = f"; kernel {worst} ({result.kernels[worst].name}) waits longest" if worst is not None else ""
    yield f"limited by {cause}{longest}"


def _links(result: SimResult) -> Iterator[tuple[str, LinkUse]]:
    """The four directions first, then what else the runtime tells of."""
    for name in dict.fromkeys((*LINKS, *result.links)):
        yield name, result.links.get(name, LinkUse())


def _link_rows(result: SimResult, machine: Machine | None) -> Iterator[Row]:
    iteration = result.iteration_time_ns
    for name, use in _links(result):
        rate = f"{use.bytes / iteration:.2f} GB/s" if iteration else "-"
        bandwidth = _bandwidth(name, machine)
        if bandwidth and iteration:
            rate += f" of {bandwidth / 1e9:.2f}"
        yield name, human_size(use.bytes), human_time(use.busy_ns), _share(use.busy_ns, iteration), rate


def _bandwidth(link: str, machine: Machine | None) -> int:
    """Bytes per second that a direction can have; 0 where that is unknown."""
    if machine is None:
        return 0
    return min(machine.pcie.bandwidth, machine.ssd.bandwidth) if "ssd" in link else machine.pcie.bandwidth


def _memory_rows(result: SimResult, machine: Machine | None) -> Iterator[Row]:
    capacity = {"gpu": machine.gpu.usable, "host": machine.host.memory} if machine else {}
    for tier in TIERS:
        peak = result.peak_bytes.get(tier, 0)
        limit = capacity.get(tier)
        yield tier, human_size(peak), human_size(limit) if limit else "-", _share(peak, limit) if limit else "-", ""


def _most_stalled(result: SimResult) -> Iterator[Row]:
    def stall(pair: tuple[int, KernelTime]) -> tuple[int, int]:
        return -pair[1].stall_ns, pair[0]

    for number, kernel in sorted(enumerate(result.kernels), key=stall)[:MOST_STALLED]:
        if kernel.stall_ns > 0:
            yield f"kernel {number}", kernel.name, human_time(kernel.stall_ns), human_time(kernel.own_ns), ""


def _share(part: int, of: int) -> str:
    return f"{100 * part / of:.1f}%" if of else "-"


def _columns(rows: list[Row]) -> list[str]:
    """Rows with columns aligned: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True) if width)])
        for row in rows
    ]
