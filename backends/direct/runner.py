"""The entry to the ``direct`` runtime: checks a plan, lowers it, plays it, and reports the last step.

A step lasts from the end of the last kernel of the step before it to the end of its own last kernel; copies may go on in the next.
A kernel starts when the one before it has ended and every directive issued so far on its tensors has ended. Directives of a kernel are
issued, in order, when it becomes current; those of slot ``len(step.kernels)`` at the end of the step. Sizes are exact bytes.

* ``alloc`` takes GPU memory, ``evict`` copies to a tier and then leaves GPU memory, ``prefetch`` takes GPU memory, copies, and then
  leaves its tier, ``free`` drops bytes wherever they are. Bytes that are already where a directive wants them are left alone.
* Directives on the same bytes take effect in order of issue. GPU memory is granted in order of issue
  (:mod:`~g10c.backends.direct.player`). Each pair of direction and tier has an engine that copies one directive after another
  (:mod:`~g10c.backends.direct.copies`); both of a direction share PCIe max-min fairly (:mod:`~g10c.backends.direct.links`).
* Tensors that the plan does not allocate or free are allocated at their first kernel and freed after their last
  (:class:`~g10c.backends.direct.plan.Plan`). For where persistent tensors begin see
  :func:`~g10c.backends.direct.placement.place`.
"""

from __future__ import annotations

from collections.abc import Sequence

from g10c.backends.direct.checks import check_machine, check_moves
from g10c.backends.direct.deadlock import deadlock
from g10c.backends.direct.lower import Lowered, Lowering
from g10c.backends.direct.memory import TIER_NAMES
from g10c.backends.direct.placement import Placement, place
from g10c.backends.direct.places import Places
from g10c.backends.direct.plan import Plan
from g10c.backends.direct.player import Player
from g10c.ir.errors import InfeasibleError, UsageError
from g10c.ir.machine import Machine
from g10c.ir.result import Copy, MemorySample, SimResult
from g10c.ir.source import Location
from g10c.ir.step import Move, Step
from g10c.ir.values import human_size


def simulate_direct(
    step: Step,
    moves: Sequence[Move],
    machine: Machine,
    *,
    steps: int = 2,
    timeline: bool = False,
    on_demand: bool = False,
    kernel_locations: Sequence[Location | None] = (),
    move_locations: Sequence[Location | None] = (),
) -> SimResult:
    """Time of the last of ``steps`` training steps when only directives move data, as in G10-GDS and FlashNeuron, by the rules above.

    With ``on_demand`` a kernel that does not find data in GPU memory has them fetched when it becomes current, which otherwise is an error,
    and an eviction that has not begun is given up when its bytes are fetched again. The G10 artifact's explicit-copy runtime amounts to
    this (``analysis.cc``, ``FlashNeuron_simulator::run``); there, however, GPU memory is four times that of the machine.
    ``timeline`` keeps copies and memory samples. ``kernel_locations`` and ``move_locations``, by number, are where diagnostics point to.
    Of the machine, ``gpu`` (but not the cost of allocating, since a runtime of this kind has a pool), ``host``, ``pcie`` and ``ssd`` count.
    Raises :class:`InputError` for malformed moves, :class:`UsageError` for less than one step, and :class:`InfeasibleError` with every
    reason when a kernel does not fit, when the machine lacks a tier, when a directive or kernel does not find the bytes that it needs, and
    when nothing can proceed.
    """
    if steps < 1:
        raise UsageError.at(f"steps is {steps}: at least one step has to be simulated")
    places = Places(step, kernel_locations, move_locations)
    check_moves(places, moves)
    check_machine(places, moves, machine)
    begin = place(step, moves, machine)
    plan = _lower_all(Plan.of(places, moves), begin, steps, on_demand)
    player = Player(step, machine, begin.state, plan, timeline, on_demand)
    if not player.run():
        raise deadlock(player, places)
    return _result(player, machine, plan)


def _lower_all(plan: Plan, begin: Placement, steps: int, on_demand: bool) -> list[Lowered]:
    """Lower every step; one that begins as the step before it is the same."""
    lowered: list[Lowered] = []
    before, state = None, begin.state
    for number in range(1, steps + 1):
        if state == before:
            lowered.append(lowered[-1])
            continue
        lowering = Lowering(plan, state, number, begin.displaced(state), on_demand)
        lowered.append(lowering.lower())
        if lowering.problems:
            raise InfeasibleError(lowering.problems)
        before, state = state, lowered[-1].end
    return lowered


def _result(player: Player, machine: Machine, plan: Sequence[Lowered]) -> SimResult:
    step = player.step
    links = {engine.name: engine.use() for engine in player.engines.values()}
    return SimResult(
        program=step.name,
        machine=machine.name,
        runtime="direct",
        iteration_time_ns=player.engine.now_ns - player.begin_ns,
        ideal_time_ns=step.ideal_time_ns,
        step_times_ns=tuple(player.step_times_ns),
        links={name: links[name] for name in ("gpu_to_host", "host_to_gpu", "gpu_to_ssd", "ssd_to_gpu")},
        peak_bytes=dict(zip(TIER_NAMES, player.ledger.peak, strict=True)),
        kernels=tuple(player.kernels),
        copies=_copies(player),
        memory=_samples(player),
        notes=tuple(_notes(player, plan)),
    )


def _copies(player: Player) -> tuple[Copy, ...]:
    begin_ns = player.begin_ns
    copies = [
        Copy(copy.link, copy.tensor, copy.start_ns - begin_ns, copy.end_ns - begin_ns, copy.bytes, copy.cause)
        for engine in player.engines.values()
        for copy in engine.log or ()
    ]
    return tuple(sorted(copies, key=lambda copy: (copy.start_ns, copy.end_ns, copy.link)))


def _samples(player: Player) -> tuple[MemorySample, ...]:
    return tuple(MemorySample(at.time_ns - player.begin_ns, at.gpu, at.host, at.ssd) for at in player.ledger.samples or ())


def _notes(player: Player, plan: Sequence[Lowered]) -> list[str]:
    """What a reader of the numbers has to know."""
    step, notes = player.step, []
    backlog = player.pending_bytes()
    if backlog > player.backlog:
        notes.append(
            f"{human_size(backlog)} of copies were still to be made when the step ended, {human_size(player.backlog)} when it began: "
            "it took less time than a later one may"
        )
    if player.overtakings:
        notes.append(
            "the plan asks for more GPU memory than there is: directives of the current kernel had to overtake earlier ones "
            f"{player.overtakings} times"
        )
    fetched = [action for actions in plan[-1].slots for action in actions if action.cause == "policy" and action.kind == "prefetch"]
    if fetched:
        total = human_size(sum(action.bytes for action in fetched))
        notes.append(f"data that kernels did not find in GPU memory were fetched when they became current: {total}")
    if plan[-1].leftovers:
        names = ", ".join(f"%{step.tensors[tensor].name}" for tensor in plan[-1].leftovers[:5])
        more = len(plan[-1].leftovers) - 5
        notes.append(
            f"the plan leaves tensors unfreed, dropped at the end of the step: {names}" + (f" and {more} more" if more > 0 else "")
        )
    return notes
