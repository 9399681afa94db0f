"""Reads a plan in issue order, without time: what each directive moves, and whether each kernel finds what it needs.

Directives of one tensor take effect in issue order, however long copies take (the player sees to it). So the place of every byte after
every directive is known beforehand, and whether a plan is valid depends neither on links nor, displaced tensors apart, on memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from g10c.backends.direct.actions import Action, Cause, kernel_text, move_text, tier_of
from g10c.backends.direct.extents import Place, State, count, move
from g10c.backends.direct.plan import Plan
from g10c.ir.errors import Diagnostic
from g10c.ir.step import Move
from g10c.ir.values import human_size

_OFF_GPU = (Place.HOST, Place.SSD)
_UNWRITTEN = "have not been written since they were allocated"
_DROP = dict.fromkeys((Place.GPU, Place.UNSET, Place.HOST, Place.SSD), Place.ABSENT)


@dataclass(frozen=True)
class Lowered:
    """One step: actions by slot, in order of issue, and the state it leaves."""

    slots: tuple[tuple[Action, ...], ...]
    end: State
    leftovers: tuple[int, ...]
    """Tensors that are dropped at the end of the step because the plan does not free them after its last allocation or copy."""


@dataclass
class Lowering:
    """Lowers one step from the state ``begin``; ``problems`` holds all mistakes of the plan, with ``lower`` going on after each."""

    plan: Plan
    begin: State
    number: int
    """Number of the step, from 1."""
    displaced: frozenset[int] = frozenset()
    """Tensors that are fetched from where they are, at their first use if not before, and that an eviction leaves where they are."""
    on_demand: bool = False
    """Whether any tensor is fetched by a kernel that does not find it."""
    problems: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._step = self.plan.places.step
        self._state = list(self.begin)
        self._actions: list[Action] = []
        self._number = -1

    def lower(self) -> Lowered:
        """Actions of the step, and its end. Meaningless where :attr:`problems` is not empty."""
        slots = []
        apply = {"alloc": self._alloc, "free": self._free, "evict": self._evict, "prefetch": self._prefetch}
        leftovers: tuple[int, ...] = ()
        for slot, moves in enumerate(self.plan.moves):
            self._actions = []
            for tensor in self.plan.deaths.get(slot, ()):
                self._free_whole(tensor, slot)
            for self._number, directive in moves:
                if directive.start < directive.end:
                    apply[directive.kind](directive)
            for tensor in self.plan.births.get(slot, ()):
                self._alloc(Move(slot, "alloc", tensor, None, 0, self._step.tensors[tensor].size_bytes), implicit=True)
            if slot < len(self._step.kernels):
                self._kernel(slot)
            else:
                leftovers = self._drop_leftovers(slot)
            slots.append(tuple(self._actions))
        return Lowered(tuple(slots), tuple(self._state), leftovers)

    def _alloc(self, directive: Move, implicit: bool = False) -> None:
        found = count(self._state[directive.tensor], directive.start, directive.end)
        for place in _OFF_GPU:
            if place in found:
                hint = f"prefetch(%name) {{from = {place}}} brings them back"
                self._refuse(directive, f"{human_size(found[place])} of it are on {place}", hint, Place.GPU)
        filled = directive.slot <= self.plan.filled_until.get(directive.tensor, -1)
        self._emit(directive, found.get(Place.ABSENT, 0), {Place.ABSENT: Place.GPU if filled else Place.UNSET}, implicit)

    def _free(self, directive: Move, implicit: bool = False) -> None:
        found = count(self._state[directive.tensor], directive.start, directive.end)
        dropped = (found.get(Place.GPU, 0) + found.get(Place.UNSET, 0), found.get(Place.HOST, 0), found.get(Place.SSD, 0))
        self._emit(directive, sum(dropped), _DROP, implicit, dropped=dropped)

    def _evict(self, directive: Move) -> None:
        found = count(self._state[directive.tensor], directive.start, directive.end)
        tier = tier_of(directive)
        for place, size in found.items():
            if place is Place.UNSET:
                self._refuse(directive, f"{human_size(size)} of it {_UNWRITTEN}", "free them instead", tier)
            elif place not in (Place.GPU, tier) and directive.tensor not in self.displaced:
                where = f"on {place}" if place in _OFF_GPU else "nowhere"
                self._refuse(directive, f"{human_size(size)} of it are {where}", "evict what is on the GPU", tier)
        self._emit(directive, found.get(Place.GPU, 0), {Place.GPU: tier}, tier=tier)

    def _prefetch(self, directive: Move) -> None:
        found = count(self._state[directive.tensor], directive.start, directive.end)
        tier = tier_of(directive)
        displaced = directive.tensor in self.displaced
        for place, size in found.items():
            if place is Place.ABSENT:
                hint = "alloc makes room for a tensor that is yet to be written"
                self._refuse(directive, f"{human_size(size)} of it are nowhere", hint, Place.GPU)
            elif place in _OFF_GPU and place is not tier and displaced:
                self._emit(directive, size, {place: Place.GPU}, tier=place)
            elif place in _OFF_GPU and place is not tier:
                self._refuse(directive, f"{human_size(size)} of it are on {place}", f"write {{from = {place}}}", Place.GPU)
        self._emit(directive, found.get(tier, 0), {tier: Place.GPU}, tier=tier)

    def _kernel(self, number: int) -> None:
        kernel = self._step.kernels[number]
        for tensor in dict.fromkeys(kernel.reads + kernel.writes):
            for _, _, place in self._state[tensor]:
                if place is not Place.GPU:
                    self._bring(number, tensor, tensor in kernel.reads)
                    break
        for tensor in kernel.writes:
            self._move_whole(tensor, {Place.UNSET: Place.GPU})

    def _bring(self, kernel: int, tensor: int, reads: bool) -> None:
        """See to a tensor that is not all in GPU memory with data: it may be about to be written, or displaced; else it is missing."""
        storage = self._step.tensors[tensor]
        found = count(self._state[tensor], 0, storage.size_bytes)
        for place, size in found.items():
            if place in _OFF_GPU and (self.on_demand or tensor in self.displaced):
                first_use = Move(kernel, "prefetch", tensor, None, 0, storage.size_bytes)
                self._emit(first_use, size, {place: Place.GPU}, implicit=True, tier=place)
            elif place is Place.UNSET and reads:
                self._missing(kernel, tensor, f"{human_size(size)} of it {_UNWRITTEN}", "was it freed too early?")
            elif place in _OFF_GPU:
                hint = f"there are no faults in this runtime: prefetch(%{storage.name}) {{from = {place}}} has to come before"
                self._missing(kernel, tensor, f"{human_size(size)} of it are on {place}", hint)
            elif place is Place.ABSENT:
                hint = f"alloc(%{storage.name}) has to come before its first kernel, free(%{storage.name}) after its last"
                self._missing(kernel, tensor, f"{human_size(size)} of it are not allocated", hint)
        self._move_whole(tensor, dict.fromkeys(Place, Place.GPU) if reads else dict.fromkeys((*_OFF_GPU, Place.ABSENT), Place.GPU))

    def _missing(self, kernel: int, tensor: int, why: str, hint: str) -> None:
        verb = "reads" if tensor in self._step.kernels[kernel].reads else "writes"
        message = f"{kernel_text(self._step, kernel)} {verb} %{self._step.tensors[tensor].name}, but {why}"
        self.problems.append(Diagnostic(message + self._when(), self.plan.places.kernel(kernel), hint))

    def _refuse(self, directive: Move, why: str, hint: str, assumed: Place) -> None:
        """Note a mistake, and go on as if all bytes of the directive were in the place where they should be afterwards."""
        self._state[directive.tensor] = move(self._state[directive.tensor], directive.start, directive.end, dict.fromkeys(Place, assumed))
        name = self._step.tensors[directive.tensor].name
        message = f"{move_text(self._step, directive)}: {why}"
        self.problems.append(Diagnostic(message + self._when(), self.plan.places.move(self._number), hint.replace("%name", f"%{name}")))

    def _when(self) -> str:
        return "" if self.number == 1 else f" (in step {self.number})"

    def _emit(
        self,
        directive: Move,
        size_bytes: int,
        to: Mapping[Place, Place],
        implicit: bool = False,
        tier: Place = Place.ABSENT,
        dropped: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        if not size_bytes:
            return
        kind, tensor, start, end = directive.kind, directive.tensor, directive.start, directive.end
        cause: Cause = "policy" if implicit else "directive"
        number = -1 if implicit else self._number
        self._actions.append(Action(kind, tensor, start, end, size_bytes, directive.slot, tier, dropped, number, cause))
        self._state[tensor] = move(self._state[tensor], start, end, to)

    def _move_whole(self, tensor: int, to: Mapping[Place, Place]) -> None:
        self._state[tensor] = move(self._state[tensor], 0, self._step.tensors[tensor].size_bytes, to)

    def _free_whole(self, tensor: int, slot: int) -> None:
        self._free(Move(slot, "free", tensor, None, 0, self._step.tensors[tensor].size_bytes), implicit=True)

    def _drop_leftovers(self, slot: int) -> tuple[int, ...]:
        left = []
        for tensor, storage in enumerate(self._step.tensors):
            if not storage.persistent and any(place is not Place.ABSENT for _, _, place in self._state[tensor]):
                self._free_whole(tensor, slot)
                left.append(tensor)
        return tuple(left)
