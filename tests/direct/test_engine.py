from __future__ import annotations

import pytest

from g10c.backends.engine import Engine
from g10c.ir.errors import InternalError


def test_events_run_by_time_then_priority_then_order_of_scheduling():
    engine, seen = Engine(), []
    for time_ns, priority, name in ((5, 1, "kernel"), (5, 0, "late copy"), (3, 1, "first"), (5, 0, "later copy")):
        engine.schedule(time_ns, priority, lambda name=name: seen.append((engine.now_ns, name)))
    assert not engine.run()
    assert seen == [(3, "first"), (5, "late copy"), (5, "later copy"), (5, "kernel")]


def test_a_cancelled_event_neither_runs_nor_moves_the_clock():
    engine, seen = Engine(), []
    engine.schedule(2, 0, lambda: seen.append("kept"))
    engine.schedule(9, 0, lambda: seen.append("cancelled")).cancel()
    assert not engine.run()
    assert (seen, engine.now_ns) == (["kept"], 2)


def test_an_action_may_schedule_at_its_own_time_and_stop():
    engine, seen = Engine(), []

    def first():
        engine.schedule(engine.now_ns, 0, lambda: (seen.append("second"), engine.stop()))
        engine.schedule(engine.now_ns, 1, lambda: seen.append("third"))

    engine.schedule(4, 0, first)
    assert engine.run()
    assert seen == ["second"]
    assert not engine.run()
    assert seen == ["second", "third"]


def test_the_past_is_refused():
    engine = Engine()
    engine.schedule(4, 0, lambda: engine.schedule(3, 0, lambda: None))
    with pytest.raises(InternalError, match="scheduled at 3 ns, but it is 4 ns"):
        engine.run()
