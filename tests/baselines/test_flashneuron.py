"""FlashNeuron: what is evicted, what is fetched when, and what does not fit; against the artifact's results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from baselines.small import copies, machine, spans
from planner.structures import load_step, paper_machine

from g10c.backends.direct.places import Places
from g10c.backends.pool.policies import FlashNeuron, OnDemand
from g10c.backends.pool.runner import simulate_pool
from g10c.compiler import compile, simulate  # noqa: A004 - the API's verb
from g10c.compiler.vitality import inactive_periods, liveness
from g10c.ir.errors import InfeasibleError, InputError
from g10c.ir.parser import parse_program
from g10c.ir.step import Step
from g10c.passes.flashneuron import FlashNeuronPass, plan_evictions
from g10c.passes.greedy.emission import in_issue_order
from g10c.passes.greedy.options import GreedyOptions
from g10c.passes.greedy.planner import plan_greedy

GIGABYTE = 1.073741824

TEXT = """g10c.ir 1
program chain

tensor %w : u8[10]  weight
tensor %a : u8[30]  activation
tensor %b : u8[30]  activation
tensor %c : u8[30]  activation
tensor %g : u8[30]  gradient

%a = scale.forward(%w)       {time = 10ns, phase = forward}
%b = scale.forward(%a)       {time = 10ns, phase = forward}
%c = scale.forward(%b)       {time = 10ns, phase = forward}
%g = loss(%c)                {time = 10ns, phase = loss}
%g = scale.backward(%g, %b)  {time = 10ns, phase = backward}
%g = scale.backward(%g, %a)  {time = 10ns, phase = backward}
%w = apply_grad(%w, %g)      {time = 10ns, phase = update}
"""


def planned(memory: int = 150, text: str = TEXT, **options: object):
    return compile(parse_program(text), [FlashNeuronPass(**options)], dataclasses.replace(machine(gpu=memory)))


def evicted(plan) -> list[str]:
    return [op.reads[0] for op in plan.program.ops if op.name == "evict"]


def test_as_much_is_evicted_as_does_not_fit():
    # Beside w (10) and the largest kernel (60, or 70 with w): a, b and c hold 90 for backward.
    assert evicted(planned(180)) == []
    assert evicted(planned(160)) == ["a"]
    assert evicted(planned(130)) == ["a", "b"]
    assert planned(160).program.attrs["policy"] == "flashneuron{backward=3}"


def test_backward_waits_for_evictions_and_fetches_in_order():
    found = simulate(planned(130), options={"timeline": True})
    assert copies(found) == [
        ("a", "gpu_to_ssd", 20, 50),
        ("b", "gpu_to_ssd", 50, 80),
        ("b", "ssd_to_gpu", 90, 120),
        ("a", "ssd_to_gpu", 130, 160),
    ]
    assert spans(found) == [(0, 10), (10, 20), (20, 30), (80, 90), (120, 130), (160, 170), (170, 180)]


def test_the_bandwidth_is_an_option():
    plan = planned(130, bandwidth=2.0)
    assert plan.program.attrs["policy"] == "flashneuron{backward=3,bandwidth=2.0}"
    assert simulate(plan).iteration_time_ns < simulate(planned(130)).iteration_time_ns


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (70, r"kernel 1 \(scale.forward\) needs 60 B beside 10 B of weights; of 70 B of GPU memory 1 B are missing"),
        (80, r"when kernel 3 \(loss\) begins, 30 B that cannot be evicted are in GPU memory; there is room for 10 B .* 20 B are missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_kernel(memory, message):
    with pytest.raises(InfeasibleError, match=message) as caught:
        planned(memory)
    assert caught.value.diagnostics[0].location is not None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", phase = forward", "", "scale.forward has no phase: flashneuron has to know which kernels are of forward"),
        ("phase = loss", "phase = forward", ""),
    ],
)
def test_programs_without_forward_and_backward(old, new, message):
    if message:
        with pytest.raises(InputError, match=message):
            planned(text=TEXT.replace(old, new))
        return
    inference = "\n".join(line for line in TEXT.splitlines() if "phase = b" not in line and "phase = u" not in line)
    with pytest.raises(InputError, match="has no kernel of loss or backward"):
        planned(text=inference.replace(old, new))


def test_a_machine_without_ssd_is_refused():
    with pytest.raises(InfeasibleError, match="flashneuron evicts to SSD, and machine 'small' has none"):
        compile(parse_program(TEXT), "flashneuron", machine(ssd=0))


def rows(data: Path, *policies: str) -> list[dict]:
    return [row for row in json.loads((data / "published.json").read_text())["iteration_time"] if row["policy"] in policies]


def step_of_structure(data: Path, name: str) -> Step:
    """The tables list operands in order of number; the artifact inserts those that batch normalisation updates in place first."""
    step = load_step(data, name)
    kernels = tuple(
        dataclasses.replace(kernel, writes=tuple(sorted(kernel.writes, key=lambda tensor: tensor not in kernel.reads)))
        if kernel.name == "BatchNorm2d_Forward"
        else kernel
        for kernel in step.kernels
    )
    return dataclasses.replace(step, kernels=kernels)


def run_as_artifact(step: Step, line: float, ssd: float, pcie: float) -> int:
    """``flashneuron{memory_line=...,operand_order=artifact,bandwidth=1.073741824}`` on a step without phases."""
    on = paper_machine(ssd_gbps=ssd, pcie_gbps=pcie)
    loss = next(number for number, kernel in enumerate(step.kernels) if kernel.name == "makeLoss")
    sizes = [tensor.size_bytes for tensor in step.tensors]
    weights = sum(tensor.size_bytes for tensor in step.tensors if tensor.persistent)
    room = int(on.gpu.usable * line) - weights - max(sum(sizes[tensor] for tensor in kernel.operands) for kernel in step.kernels)
    lifetimes = liveness(step)
    chosen = plan_evictions(step, lifetimes, inactive_periods(step, lifetimes), on, loss, room, "artifact")
    assert chosen.left_bytes <= room
    policy = FlashNeuron(loss, GIGABYTE, "artifact")
    return simulate_pool(Places(step), in_issue_order(list(chosen.moves), "artifact"), on, policy, steps=1).iteration_time_ns


@pytest.mark.parametrize("name", ["BERT_Base-256", "BERT_Base-512", "VIT-1024", "ResNet152-1280"])
def test_published_times(name, g10_data):
    model, batch = name.split("-")
    step = step_of_structure(g10_data, name)
    cases = {
        (row["memory_line_factor"], row["ssd_gbps"], row["pcie_gbps"]): row["iteration_ns"]
        for row in rows(g10_data, "flashneuron")
        if (row["model"], row["batch"]) == (model, int(batch))
    }
    assert cases
    for settings, published in cases.items():
        assert abs(run_as_artifact(step, *settings) / published - 1) < 1e-3


@pytest.mark.parametrize("name", ["Inceptionv3-1536", "VIT-1280"])
def test_it_fails_at_the_kernel_at_which_the_artifact_fails(name, g10_data):
    """The artifact stops with "No enough space to allocate tensor" at these kernels."""
    kernel = {"Inceptionv3-1536": "kernel 911", "VIT-1280": "kernel 541"}[name]
    with pytest.raises(InfeasibleError, match=rf"{kernel} .* in one piece"):
        run_as_artifact(step_of_structure(g10_data, name), 1.0, 3.2, 15.754)


@pytest.mark.parametrize("policy", ["g10-gds", "g10-host"])
def test_the_published_times_of_g10_without_unified_memory(policy, g10_data):
    runtime = OnDemand(4.0, GIGABYTE, ("weights-return-free", "demand-from-ssd", "copies-again"))
    found = {}
    for row in rows(g10_data, policy):
        step = load_step(g10_data, f"{row['model']}-{row['batch']}")
        targets = ("ssd",) if policy == "g10-gds" else ("host", "ssd")
        options = GreedyOptions(targets=targets, preallocate="never", memory_line=row["memory_line_factor"], evict_at_peak=True)
        moves = plan_greedy(step, paper_machine(), options).moves
        result = simulate_pool(Places(step), moves, paper_machine(), runtime, steps=1)
        found[row["model"]] = result.iteration_time_ns / row["iteration_ns"] - 1
    assert len(found) == 5
    assert max(map(abs, found.values())) < 1e-5
