"""Speed and memory of whole commands and of their stages: medians of several runs, and ratios to a reference in the same run.

``make bench`` runs it. Whole commands are processes of their own; the reference is ``python -c 'import json, argparse'``, so
that figures from different machines can be compared. With the published data at hand the stages of BERT_Base 256 are
measured too.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support import data_folder

G10C = [sys.executable, "-P", "-c", "import sys; from g10c.compiler.cli import main; sys.exit(main())"]
REFERENCE = [sys.executable, "-P", "-c", "import json, argparse"]


def run_once(command: Sequence[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of one process."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"exit status {child.returncode}: {' '.join(command[-6:])}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name: str, command: Sequence[str], runs: int, reference: float) -> dict[str, float | str]:
    """Medians over several runs after one that is not counted, and the ratio to the reference's median."""
    run_once(command)
    samples = [run_once(command) for _ in range(runs)]
    wall, cpu, memory = (statistics.median(column) for column in zip(*samples, strict=True))
    row: dict[str, float | str] = {
        "what": name,
        "wall_s": wall,
        "cpu_s": cpu,
        "peak_mib": memory,
        "ratio": wall / reference if reference else 1.0,
    }
    show(row)
    return row


def show(row: dict[str, float | str]) -> None:
    """Print one row."""
    wall, cpu, memory, ratio = (row.get(key, "") for key in ("wall_s", "cpu_s", "peak_mib", "ratio"))
    cells = [
        f"{wall:>9.3f}" if wall != "" else "",
        f"{cpu:>9.3f}" if cpu != "" else " " * 9,
        f"{memory:>9.0f}" if memory != "" else " " * 9,
    ]
    print(f"{row['what']:<44}" + "".join(cells) + (f"{ratio:>8.1f}" if ratio != "" else ""), flush=True)


def import_command(data: Path, output: Path) -> list[str]:
    """The command that imports BERT_Base with batch 256."""
    times = data / "g10" / "times" / "BERT_Base"
    return [
        *G10C, "import", "g10", "--net", str(data / "g10" / "nets" / "BERT_Base.txt"), "--batch", "256",
        "--kernel-times", str(times / "cudnn256.txt"), "--all-fault-times", str(times / "cudnn256PF.txt"),
        "--output-fault-times", str(times / "cudnn256InputPF.txt"), "--workspace", str(times / "cudnn256Workspace.txt"),
        "-o", str(output),
    ]  # fmt: skip


def whole_commands(folder: Path, runs: int) -> list[dict[str, float | str]]:
    """Commands as a user types them."""
    rows = [measure("python -c 'import json, argparse'", REFERENCE, runs, 0.0)]
    reference = float(rows[0]["wall_s"])
    plan = str(folder / "plan.json")
    pipeline = ["--pass", "vitality,migrate"]
    rows.append(measure("g10c --version", [*G10C, "--version"], runs, reference))
    rows.append(measure("g10c compile bert-base", [*G10C, "compile", "bert-base", *pipeline, "--emit", plan], runs, reference))
    rows.append(measure("g10c sim plan.json (bert-base)", [*G10C, "sim", plan], runs, reference))
    data = data_folder()
    if data is None:
        print("BERT_Base 256 is not measured: its data are not here; set G10C_DATA")
        return rows
    model, plan = str(folder / "bert.ir"), str(folder / "bert.json")
    machine = ["--machine", "g10-paper"]
    cases = [
        ("BERT_Base 256: g10c import g10", import_command(data, Path(model))),
        ("BERT_Base 256: g10c compile", [*G10C, "compile", model, *machine, *pipeline, "--emit", plan]),
        ("BERT_Base 256: g10c sim", [*G10C, "sim", plan]),
        ("BERT_Base 256: g10c sim, no plan (base-uvm)", [*G10C, "sim", model, *machine]),
    ]
    measured = [measure(name, command, runs, reference) for name, command in cases]
    three = measured[:3]
    total: dict[str, float | str] = {
        "what": "BERT_Base 256: the three together",
        "wall_s": sum(float(row["wall_s"]) for row in three),
        "cpu_s": sum(float(row["cpu_s"]) for row in three),
        "peak_mib": max(float(row["peak_mib"]) for row in three),
        "ratio": sum(float(row["ratio"]) for row in three),
    }
    show(total)
    return [*rows, *measured, total]


def timed(name: str, work: Callable[[], object], runs: int, size_bytes: int = 0) -> dict[str, float | str]:
    """Median seconds of a function in this process, and MB/s where a size is given."""
    work()
    samples = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        samples.append(time.perf_counter() - started)
    middle = statistics.median(samples)
    rate = f" ({size_bytes / middle / 1e6:.2f} MB/s)" if size_bytes else ""
    row: dict[str, float | str] = {"what": name + rate, "wall_s": middle}
    show(row)
    return row


def stages(folder: Path, runs: int) -> list[dict[str, float | str]]:
    """Each stage by itself, in one process."""
    from g10c.compiler import compile, load, simulate  # noqa: A004 - the API's verb
    from g10c.ir.parser import parse_program
    from g10c.ir.plan import parse_plan, plan_to_json
    from g10c.ir.printer import print_program
    from g10c.ir.verifier import verify

    path = folder / "bert.ir"
    program = load(path if path.is_file() else "bert-base")
    machine = "g10-paper" if path.is_file() else "a100-40gb"
    assert not hasattr(program, "pipeline")
    text = print_program(program)  # type: ignore[arg-type] # narrowed above
    plan = compile(program, "vitality,migrate", machine)
    written = plan_to_json(plan)
    return [
        timed("parse", lambda: parse_program(text), runs, len(text)),
        timed("verify", lambda: verify(plan.program), runs),
        timed("print", lambda: print_program(plan.program), runs),
        timed("vitality,migrate", lambda: compile(program, "vitality,migrate", machine), runs),
        timed("write plan.json", lambda: plan_to_json(plan), runs),
        timed("read plan.json", lambda: parse_plan(written, "plan.json"), runs, len(written)),
        timed("simulate", lambda: simulate(plan), runs),
        timed("simulate, no plan", lambda: simulate(program, machine), max(1, runs // 3)),
    ]


def rewriting(runs: int) -> list[dict[str, float | str]]:
    """Twenty rules to a fixpoint over encoders of growing depth: the time of an op should hardly grow."""
    from g10c.compiler.rewriting.engine import apply_rules
    from g10c.compiler.rules.reader import load_rules
    from g10c.models.transformer.builder import TransformerBuilder

    rules = load_rules(Path(__file__).with_name("twenty.rules"))
    shape = {"hidden": 256, "heads": 4, "ffn": 1024, "vocab": 1000, "positions": 512, "sequence": 128, "batch": 8}
    rows = []
    for layers in (39, 78, 155, 311):
        program = TransformerBuilder(kind="encoder", layers=layers, **shape).load()
        row = timed(f"{len(rules)} rules, {len(program.ops):,} ops", functools.partial(apply_rules, program, rules), runs)
        print(f"{'':<44}{float(row['wall_s']) / len(program.ops) * 1e6:>9.1f} us an op", flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Measure and print; ``--json FILE`` keeps the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}; medians of {arguments.runs} runs")
    print(f"{'':<44}{'wall s':>9}{'cpu s':>9}{'peak MiB':>9}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        rows = whole_commands(Path(name), arguments.runs)
        print("stages, in one process")
        rows += stages(Path(name), arguments.runs)
        print("rewriting, in one process")
        rows += rewriting(max(1, arguments.runs // 2))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of this process: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
