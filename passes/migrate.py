"""``migrate``: evictions and prefetches so that the step fits in GPU memory and runs fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from g10c.compiler.analyses import LIFETIMES, PERIODS, STEP
from g10c.compiler.options import OptionError
from g10c.compiler.pass_base import Pass, PassContext, option
from g10c.compiler.step_of import with_moves
from g10c.ir.errors import InfeasibleError, InputError
from g10c.ir.program import Level
from g10c.ir.step import Tier
from g10c.ir.values import Ident, Time, human_size, human_time
from g10c.passes.vitality import VitalityPass

if TYPE_CHECKING:
    from g10c.ir.program import Program
    from g10c.passes.greedy.options import GreedyOptions
    from g10c.passes.greedy.planner import GreedyStatistics


LIMIT = 1 << 60
"""Bytes of all tensors and nanoseconds of all kernels that can be planned."""


@dataclass(frozen=True)
class MigratePass(Pass):
    """Plans evictions to host memory and SSD and prefetches back, so that the step fits in GPU memory.

    `solver=greedy` is G10's smart tensor migration (MICRO'23, section 4.3). It takes the inactive period that relieves memory
    most, evicts the tensor to SSD or host where bandwidth allows, and prefetches as early as memory allows.
    Runs `vitality` first where that has not been done, and replaces the directives that are there.
    """

    name = "migrate"
    gives = Level.PLANNED
    preserves = frozenset({STEP, LIFETIMES, PERIODS})

    solver: Literal["greedy"] = option("greedy", "how to plan: greedy is G10's own algorithm")
    target: tuple[Tier, ...] = option(("host", "ssd"), "tiers that tensors may move to")
    runtime: Literal["uvm", "direct"] = option("uvm", "what executes the plan: unified memory, or explicit copies only")
    memory_line: float = option(1.0, "factor on the memory line (0.99 of GPU memory) below which memory use is brought")
    delta: float = option(0.5, "an inactive period is worth moving when longer than 2 + delta transfers")
    preallocate: Literal["always", "until-fits", "never"] = option(
        "always", "intermediates that get alloc and free; G10 stops when the step fits"
    )
    evict_at_peak: bool = option(
        False, "last, evict what is idle at the peak and stayed, to be fetched on demand, as G10-GDS and G10-Host do"
    )
    eager_prefetch: bool = option(True, "prefetch as early as memory allows, not just in time")
    estimate: bool = option(True, "simulate the plan, so that it holds the time of the step")
    tie_order: Literal["artifact", "stable"] = option(
        "artifact", "which of equal periods is first: as G10's artifact sorts, or in order (faster)"
    )
    first_tensor_is_input: bool = option(True, "the first tensor is G10's input batch: neither allocated nor freed, and counted twice")

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        if not 0 < self.memory_line <= 100:
            raise OptionError(
                f"memory_line: expected a factor above 0, at most 100, found {self.memory_line}", "1.0 plans for all of GPU memory"
            )
        if not 0 <= self.delta <= 1000:
            raise OptionError(f"delta: expected a margin from 0 to 1000, found {self.delta}", "G10 uses 0.5")
        if not self.target:
            raise OptionError("target: expected at least one tier, found none", "write target=[host,ssd], target=host or target=ssd")

    def run(self, program: Program, context: PassContext) -> Program:
        """Plan and insert; see the class."""
        from g10c.passes.greedy.planner import plan_greedy

        if program.level < Level.PLANNED:
            annotated = VitalityPass().run(program, context)
            context.analyses.preserve(program, annotated, VitalityPass.preserves)
            program = annotated
        _check_limits(program, context)
        plan = plan_greedy(context.analysis(STEP, program), context.machine, self.greedy_options())
        _report(plan.statistics, self.runtime, context)
        planned = with_moves(program, plan.moves).with_attrs(runtime=Ident(self.runtime))
        if program.attrs.get("runtime", "uvm") != self.runtime:
            planned = planned.with_attrs(policy=None)  # it decides for the other runtime
        return _estimated(planned, context) if self.estimate and context.find_evaluator else planned

    def greedy_options(self) -> GreedyOptions:
        """The options as the planner takes them."""
        from g10c.passes.greedy.options import GreedyOptions

        return GreedyOptions(
            memory_line=self.memory_line,
            delta=self.delta,
            targets=self.target,
            preallocate=self.preallocate,
            eager_prefetch=self.eager_prefetch,
            evict_at_peak=self.evict_at_peak,
            tie_order=self.tie_order,
            first_tensor_is_input=self.first_tensor_is_input and self.runtime == "uvm",  # explicit copies need room made for every tensor,
            eager_needs_room=self.runtime == "direct",  # and stop where there is none
        )


def _estimated(program: Program, context: PassContext) -> Program:
    """The program with the time of the step under this plan, where it can run and its kernels have times."""
    try:
        found = context.evaluator.evaluate(program, context.machine)
    except InfeasibleError as error:
        context.note(f"migrate: the plan does not run on {context.machine.name}: {error.diagnostics[0].message}")
        return program
    except InputError:
        return program  # without times of kernels there is none of the step
    return program.with_attrs(estimated_time=Time(found.iteration_time_ns))


def _check_limits(program: Program, context: PassContext) -> None:
    """Refuse programs whose bytes or times, added up, leave the planner's 64-bit integers."""
    step = context.analysis(STEP, program)
    size = sum(context.machine.pages(tensor.size_bytes) * context.machine.uvm.page for tensor in step.tensors)
    if size >= LIMIT:
        raise InfeasibleError.at(f"the tensors of {program.name} have {human_size(size)}: more than any machine's memory", program.location)
    if step.ideal_time_ns >= LIMIT:
        raise InputError.at(f"the kernels of {program.name} take {human_time(step.ideal_time_ns)}: more than 2^60 ns", program.location)


def _report(found: GreedyStatistics, runtime: str, context: PassContext) -> None:
    context.count("periods moved", found.taken)
    context.count("periods considered", found.considered)
    context.count("bytes evicted to host", found.evicted_to_host_bytes)
    context.count("bytes evicted to ssd", found.evicted_to_ssd_bytes)
    context.count("planned GPU peak bytes", found.peak_after_bytes)
    for reason, number in found.rejected.items():
        context.count(f"periods rejected: {reason}", number)
    if found.peak_after_bytes > context.machine.gpu.usable:
        consequence = "kernels will wait for demand paging" if runtime == "uvm" else "it may not run with explicit copies only"
        peak, usable = human_size(found.peak_after_bytes), human_size(context.machine.gpu.usable)
        context.note(f"migrate: the plan still needs up to {peak} of GPU memory, {usable} are there: {consequence}")
