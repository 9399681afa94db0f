"""The event engine: a heap of ``(time_ns, priority, sequence)``, deterministic by construction.

The form is that of SimPy's core (``simpy/core.py``): time is an integer, and the order of two events at one time follows from their
priorities, then from the order in which they were scheduled, never from an address or a hash.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from g10c.ir.errors import InternalError

Action = Callable[[], None]


class Event:
    """A scheduled action; :meth:`cancel` makes the engine pass over it."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        """Do nothing when the time comes. Cancelling twice, or after the event, changes nothing."""
        self.action = None


class Engine:
    """Runs actions in order of time. ``now_ns`` is the time of the action that runs, nanoseconds from the start."""

    __slots__ = ("_heap", "_sequence", "_stopped", "now_ns")

    def __init__(self) -> None:
        self.now_ns = 0
        self._heap: list[tuple[int, int, int, Event]] = []
        self._sequence = 0
        self._stopped = False

    def schedule(self, time_ns: int, priority: int, action: Action) -> Event:
        """Run ``action`` at a time, lower priorities first. Raises :class:`InternalError` for a time that has passed."""
        if time_ns < self.now_ns:
            raise InternalError.at(f"an event was scheduled at {time_ns} ns, but it is {self.now_ns} ns already")
        event = Event(action)
        self._sequence += 1
        heappush(self._heap, (time_ns, priority, self._sequence, event))
        return event

    def stop(self) -> None:
        """Return from :meth:`run` after the action that runs now."""
        self._stopped = True

    def run(self) -> bool:
        """Run events until :meth:`stop` (true), or until none is left (false: whoever still waits, waits for ever)."""
        self._stopped = False
        while not self._stopped and self.step():
            pass
        return self._stopped

    def step(self) -> bool:
        """Run the next event; false when none is left."""
        heap = self._heap
        while heap:
            time_ns, _, _, event = heappop(heap)
            if event.action is not None:
                self.now_ns = time_ns
                event.action()
                return True
        return False
