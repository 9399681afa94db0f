"""Says who waits for what when nothing can proceed."""

from __future__ import annotations

from g10c.backends.direct.actions import kernel_text, sizes
from g10c.backends.direct.copies import Task
from g10c.backends.direct.extents import Place
from g10c.backends.direct.memory import TIER_NAMES
from g10c.backends.direct.places import Places
from g10c.backends.direct.player import Player
from g10c.ir.errors import Diagnostic, InfeasibleError
from g10c.ir.values import format_time, human_size


def deadlock(player: Player, places: Places) -> InfeasibleError:
    """The error for a player that has stopped: the current kernel first, then every directive that waits, in order of issue."""
    step = player.step
    tasks = sorted((task for tasks in player.pending for task in tasks), key=lambda task: task.number)
    own = [task for task in tasks if task.blocks_kernel]
    waits = "; ".join(_text(player, task) for task in own)
    when = format_time(player.engine.now_ns - player.begin_ns)
    message = (
        f"nothing can proceed {when} after the beginning of step {player.step_number}: {kernel_text(step, player.kernel)} waits for {waits}"
    )
    first = Diagnostic(message, places.kernel(player.kernel), _use(player))
    return InfeasibleError([first, *(_waiting(player, places, task) for task in tasks)])


def _waiting(player: Player, places: Places, task: Task) -> Diagnostic:
    action = task.action
    location = places.kernel(action.slot) if action.number < 0 else places.move(action.number)
    return Diagnostic(f"{_text(player, task)} waits {_reason(player, task)}", location)


def _reason(player: Player, task: Task) -> str:
    """What a directive waits for: directives on the same bytes, GPU memory, its engine, or room on the tier it goes to."""
    action = task.action
    earlier = [other for other in player.pending[action.tensor] if task in other.dependents]
    if task in player.room:
        first = player.room[0]
        turn = "" if first is task else f", after {_text(player, first)}, which comes before it"
        return f"for {human_size(action.bytes)} of GPU memory, {_free(player, Place.GPU)}{turn}"
    if earlier:
        return f"for {' and '.join(_text(player, other) for other in earlier)}, on the same bytes"
    if action.kind in ("evict", "prefetch"):
        head = player.engines[action.kind, action.tier].queue[0]
        if head is not task:
            return f"for its turn after {_text(player, head)}"
    return f"for {human_size(action.bytes)} of {action.tier} memory, {_free(player, action.tier)}"


def _text(player: Player, task: Task) -> str:
    text = task.action.text(player.step)
    return text if task.step_number == player.step_number else f"{text} {task.step_number}"


def _free(player: Player, tier: Place) -> str:
    return f"{human_size(player.ledger.free(tier))} of {human_size(player.ledger.capacity[tier])} are free"


def _use(player: Player) -> str:
    """What fills the memory that directives may wait for."""
    uses = []
    for tier in (Place.GPU, Place.HOST):
        held = [(player.ledger.held(tensor, tier), tensor) for tensor in range(len(player.step.tensors))]
        held = [pair for pair in held if pair[0]]
        if held:
            uses.append(f"{TIER_NAMES[tier]} memory holds {sizes(player.step, held)}")
    return "; ".join(uses) + "; evict or free more before this kernel, or allocate and prefetch later"
