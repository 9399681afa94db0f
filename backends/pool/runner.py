"""The entry to the pool runtime: checks a plan, plays it under a copy policy, and reports the last step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from g10c.backends.direct.actions import move_text
from g10c.backends.direct.checks import check_moves
from g10c.backends.direct.places import Places
from g10c.backends.pool.player import Player
from g10c.compiler.protocols import CopyPolicy, CopyRules
from g10c.ir.errors import Diagnostic, InfeasibleError, InputError
from g10c.ir.machine import Machine
from g10c.ir.result import LINKS, Copy, SimResult
from g10c.ir.step import Move
from g10c.ir.values import human_size


def simulate_pool(
    places: Places, moves: Sequence[Move], machine: Machine, policy: CopyPolicy, *, steps: int = 2, timeline: bool = False
) -> SimResult:
    """Run ``steps`` steps, memory carried over from one to the next, and report the last; ``timeline`` keeps copies and memory samples.

    Raises :class:`InputError` for moves that are malformed or of parts of tensors, and :class:`InfeasibleError` where the machine lacks a
    tier, where a tensor finds no place in one piece, and when nothing can proceed. Latencies of links and the cost of allocating have no
    part.
    """
    check_moves(places, moves)
    parts = [number for number, move in enumerate(moves) if (move.start, move.end) != (0, places.step.tensors[move.tensor].size_bytes)]
    if parts:
        hint = "under a copy policy directives move whole tensors: take the range out"
        raise InputError(Diagnostic(f"{move_text(places.step, moves[n])} is of a part", places.move(n), hint) for n in parts)
    rules = policy.begin(places.step, moves, machine)
    problems = list(_without_link(places, moves, machine, rules))
    if problems:
        raise InfeasibleError(problems)
    player = Player(places, moves, machine, rules, policy)
    return _result(player, player.run(steps, timeline))


def _without_link(places: Places, moves: Sequence[Move], machine: Machine, rules: CopyRules) -> Iterator[Diagnostic]:
    bandwidths = {"host": rules.host_bandwidth, "ssd": rules.ssd_bandwidth}
    for number, move in enumerate(moves):
        if move.kind == "evict" and move.tier and bandwidths[move.tier] <= 0:
            why = "the SSD may use all of the PCIe link" if move.tier == "host" and machine.pcie.bandwidth > 0 else "there is no link"
            yield Diagnostic(f"{move_text(places.step, move)}: {machine.name} has no bandwidth for it: {why}", places.move(number))


def _result(player: Player, times_ns: Sequence[int]) -> SimResult:
    step, begin_ns = player.step, player.begin_ns
    uses = {engine.name: engine.use() for engine in player.engines}
    logs = [copy for engine in player.engines for copy in engine.log or ()]
    copies = [
        Copy(copy.link, copy.tensor, max(0, copy.start_ns - begin_ns), copy.end_ns - begin_ns, copy.bytes, copy.cause) for copy in logs
    ]
    notes = []
    if player.fetched_on_demand:
        notes.append(f"data that kernels did not find in GPU memory were fetched for them: {human_size(player.fetched_on_demand)}")
    return SimResult(
        program=step.name,
        machine=player.machine.name,
        runtime="direct",
        iteration_time_ns=times_ns[-1],
        ideal_time_ns=step.ideal_time_ns,
        step_times_ns=tuple(times_ns),
        links={name: uses[name] for name in LINKS},
        peak_bytes=dict(player.peak),
        kernels=tuple(player.kernels),
        copies=tuple(sorted(copies, key=lambda copy: (copy.start_ns, copy.end_ns, copy.link))),
        memory=tuple(player.samples or ()),
        notes=tuple(notes),
    )
