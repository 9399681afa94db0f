"""What the runtime refuses, and in which words."""

from __future__ import annotations

import pytest
from direct.build import Model, machine

from g10c.backends.direct import simulate_direct
from g10c.backends.direct.extents import Place, whole
from g10c.backends.direct.memory import Ledger
from g10c.backends.engine import Engine
from g10c.ir.errors import InfeasibleError, InputError, InternalError, UsageError
from g10c.ir.source import Source
from g10c.ir.step import Move

PAIR = Model({"x": 40, "y": 40}, [(10, "", "x y"), (1000, "", ""), (10, "x y", "")])
WEIGHTS = Model({"w": (60,), "v": (60,)}, [(10, "w", ""), (10, "v", "")])


def refused(model, moves="", error=InfeasibleError, **options) -> list[str]:
    """Messages of all diagnostics, each with its hint after ``|``."""
    with pytest.raises(error) as caught:
        model.run(moves, **options)
    return [f"{one.message} | {one.hint}" if one.hint else one.message for one in caught.value.diagnostics]


def test_malformed_moves_are_all_named():
    moves = [
        Move(9, "alloc", 0, None, 0, 40),
        Move(0, "alloc", 7, None, 0, 1),
        Move(0, "evict", 0, None, 0, 50),
        Move(0, "free", 0, "host", 0, 1),
        Move(0, "drop", 0, None, 0, 1),
        Move(0, "prefetch", 1, "disk", 0, 1),
    ]
    with pytest.raises(InputError) as caught:
        simulate_direct(PAIR.step, moves, machine())
    assert caught.value.exit_status == 1
    assert [one.message for one in caught.value.diagnostics] == [
        "move 0: slot 9 is not one of 0 to 3 (3 kernels, and the end of the step)",
        "move 1: tensor 7 is not one of 0 to 1",
        "move 2: range 0B..50B does not lie in %x, which has 40 bytes",
        "move 2: evict(%x) names the tier None: expected host or ssd",
        "move 3: free(%x) names the tier 'host': expected none",
        "move 4: 'drop' is no directive: expected alloc, free, evict or prefetch",
        "move 5: prefetch(%y) names the tier 'disk': expected host or ssd",
    ]


def test_a_step_at_least_has_to_be_simulated():
    assert refused(PAIR, error=UsageError, steps=0) == ["steps is 0: at least one step has to be simulated"]


def test_a_kernel_that_alone_does_not_fit_is_found_at_once():
    assert refused(PAIR, on=machine(gpu=90, reserved=20)) == [
        "kernel 0 (k0) alone needs 80 B of GPU memory, small has 70 B | its tensors: %x 40 B, %y 40 B",
        "kernel 2 (k2) alone needs 80 B of GPU memory, small has 70 B | its tensors: %x 40 B, %y 40 B",
    ]


def test_tiers_that_the_machine_lacks_are_refused():
    assert refused(PAIR, "1 evict x ssd\n1 evict y host", on=machine(ssd=0, host=30)) == [
        "evict(%x) {to = ssd} at kernel 1 (k1): small has no SSD (ssd.bandwidth is 0)",
        "evict(%y) {to = host} at kernel 1 (k1): 40 B do not fit in host memory, small has 30 B",
    ]
    assert refused(PAIR, "1 evict x host", on=machine(pcie=0)) == [
        "evict(%x) {to = host} at kernel 1 (k1): small has no PCIe link (pcie.bandwidth is 0)"
    ]
    assert PAIR.run(on=machine(pcie=0, ssd=0, host=0)).iteration_time_ns == 1020, "without moves nothing of this is needed"


def test_persistent_tensors_need_a_place_and_must_not_be_lost():
    assert refused(WEIGHTS, on=machine(gpu=70, host=30, ssd=0)) == [
        "persistent tensors of 120 B do not fit: small has 70 B of GPU memory, 30 B of host memory and no SSD | without a place: %v 60 B"
    ]
    assert refused(WEIGHTS, "2 free w") == ["free(%w) at the end of the step: a persistent tensor would be lost"]


def test_a_prefetch_from_the_wrong_tier_is_refused():
    assert refused(PAIR, "1 evict x host\n2 prefetch x ssd") == [
        "prefetch(%x) {from = ssd} at kernel 2 (k2): 40 B of it are on host | write {from = host}"
    ]
    weight = "1 evict w ssd\n0 prefetch w host"
    assert refused(WEIGHTS, weight, steps=1) == [
        "prefetch(%w) {from = host} at kernel 0 (k0): 60 B of it are on ssd | write {from = ssd}"
    ], "in the first step too"


def test_data_that_a_kernel_does_not_find_are_named_with_their_place():
    fault = "there are no faults in this runtime: prefetch(%{}) {{from = {}}} has to come before"
    assert refused(PAIR, "1 evict x host\n1 evict y ssd 0..10") == [
        f"kernel 2 (k2) reads %x, but 40 B of it are on host | {fault.format('x', 'host')}",
        f"kernel 2 (k2) reads %y, but 10 B of it are on ssd | {fault.format('y', 'ssd')}",
    ]
    assert refused(WEIGHTS, "2 evict w host") == [f"kernel 0 (k0) reads %w, but 60 B of it are on host | {fault.format('w', 'host')}"]
    assert refused(PAIR, "2 evict x host\n2 prefetch x host\n2 evict x host 0..1") == [
        f"kernel 2 (k2) reads %x, but 1 B of it are on host | {fault.format('x', 'host')}"
    ], "even if the copy of a directive before it has no time to end"


def test_data_that_were_dropped_are_not_read():
    late = "alloc(%{0}) has to come before its first kernel, free(%{0}) after its last"
    assert refused(PAIR, "0 alloc x\n1 free x\n1 alloc x\n2 free y") == [
        "kernel 2 (k2) reads %x, but 40 B of it have not been written since they were allocated | was it freed too early?",
        f"kernel 2 (k2) reads %y, but 40 B of it are not allocated | {late.format('y')}",
    ]
    assert refused(PAIR, "1 alloc x") == [f"kernel 0 (k0) writes %x, but 40 B of it are not allocated | {late.format('x')}"]


def test_directives_that_do_not_find_their_bytes_are_refused():
    model = Model({"x": 40}, [(10, "", ""), (10, "", "x"), (10, "", ""), (10, "x", "")])
    assert refused(model, "0 prefetch x host 3..5") == [
        "prefetch(%x) {from = host, range = 3B..5B} at kernel 0 (k0): 2 B of it are nowhere"
        " | alloc makes room for a tensor that is yet to be written"
    ]
    assert refused(model, "0 evict x host\n3 free x")[0] == (
        "evict(%x) {to = host} at kernel 0 (k0): 40 B of it are nowhere | evict what is on the GPU"
    )
    assert refused(model, "1 alloc x\n1 evict x host")[0] == (
        "evict(%x) {to = host} at kernel 1 (k1): 40 B of it have not been written since they were allocated | free them instead"
    )
    assert refused(model, "2 evict x host\n2 evict x ssd\n3 prefetch x ssd") == [
        "evict(%x) {to = ssd} at kernel 2 (k2): 40 B of it are on host | evict what is on the GPU"
    ]
    assert refused(model, "0 alloc x\n2 evict x host\n3 alloc x") == [
        "alloc(%x) at kernel 3 (k3): 40 B of it are on host | prefetch(%x) {from = host} brings them back"
    ]


def test_what_is_wrong_only_in_the_second_step_says_so():
    model = Model({"w": (60,), "v": (60,)}, [(10, "w", ""), (10, "v", ""), (10, "", ""), (10, "v", "")])
    plan = "1 evict w host\n2 evict v ssd\n3 prefetch v host\n4 prefetch w host"
    assert model.run(plan).iteration_time_ns == 10 + 60 + 60 + 10 + 120 + 120 + 10, "v has no room at first: it is fetched from where it is"
    assert refused(model, plan, steps=2) == [
        "prefetch(%v) {from = host} at kernel 3 (k3): 60 B of it are on ssd (in step 2) | write {from = ssd}"
    ]


def test_errors_point_to_the_lines_they_are_given():
    text = Source("plan.ir", "evict(%x) {to = host}\nprefetch(%x) {from = ssd}\n%z = add(%x, %y)\n")
    moves = [PAIR.move("1 evict x host"), PAIR.move("2 prefetch x ssd")]
    with pytest.raises(InfeasibleError) as caught:
        simulate_direct(PAIR.step, moves, machine(), move_locations=[text.line_span(1), text.line_span(2)])
    assert str(caught.value).startswith("plan.ir:2:1: error: prefetch(%x) {from = ssd} at kernel 2 (k2)")
    with pytest.raises(InfeasibleError, match=r"plan.ir:3:1: error: kernel 2 \(k2\) reads %x"):
        simulate_direct(PAIR.step, moves[:1], machine(), kernel_locations=[None, None, text.line_span(3)])


def test_who_waits_for_what_when_nothing_can_proceed():
    model = Model({"a": 60, "b": 60}, [(10, "", "a"), (10, "", "b"), (10, "a", "")])
    assert refused(model) == [
        "nothing can proceed 10ns after the beginning of step 1: kernel 1 (k1) waits for implicit alloc(%b) at kernel 1 (k1)"
        " | gpu memory holds %a 60 B; evict or free more before this kernel, or allocate and prefetch later",
        "implicit alloc(%b) at kernel 1 (k1) waits for 60 B of GPU memory, 40 B of 100 B are free",
    ]


def test_a_directive_of_the_step_before_is_told_apart():
    messages = refused(WEIGHTS, "1 evict w host\n2 prefetch w host", steps=2)
    assert messages[1] == "prefetch(%w) {from = host} at the end of the step 1 waits for 60 B of GPU memory, 40 B of 100 B are free"


def test_a_chain_of_waiting_directives_is_told_in_order():
    model = Model({"x": 40, "y": 40, "z": 50}, [(10, "", "x y"), (10, "", "z"), (10, "z", ""), (10, "x y", "")])
    messages = refused(model, "1 evict x host\n1 evict y host\n1 prefetch y host\n3 prefetch x host", on=machine(host=40, gpu=90))
    assert messages == [
        "nothing can proceed 50ns after the beginning of step 1: kernel 1 (k1) waits for implicit alloc(%z) at kernel 1 (k1)"
        " | gpu memory holds %y 40 B; host memory holds %x 40 B; evict or free more before this kernel, or allocate and prefetch later",
        "evict(%y) {to = host} at kernel 1 (k1) waits for 40 B of host memory, 0 B of 40 B are free",
        "prefetch(%y) {from = host} at kernel 1 (k1) waits for evict(%y) {to = host} at kernel 1 (k1), on the same bytes",
        "implicit alloc(%z) at kernel 1 (k1) waits for 50 B of GPU memory, 10 B of 90 B are free",
    ]


def test_a_ledger_forgets_a_peak():
    ledger = Ledger(Engine(), PAIR.step, machine(), (whole(40, Place.GPU), whole(40, Place.ABSENT)))
    ledger.claim(Place.GPU, 40)
    ledger.settle(1, Place.ABSENT, Place.GPU, 40)
    ledger.settle(0, Place.GPU, Place.ABSENT, 40)
    assert (ledger.used, ledger.peak) == ([40, 0, 0], [80, 0, 0])
    ledger.restart_peak()
    assert ledger.peak == [40, 0, 0]


def test_a_ledger_refuses_what_cannot_be():
    def ledger():
        return Ledger(Engine(), PAIR.step, machine(gpu=50), (whole(40, Place.GPU), whole(40, Place.ABSENT)))

    with pytest.raises(InternalError, match="gpu memory is overfull: 51 of 50 bytes in use"):
        ledger().claim(Place.GPU, 11)
    with pytest.raises(InternalError, match="bytes of %x are not conserved"):
        ledger().settle(0, Place.HOST, Place.GPU, 1)
    with pytest.raises(InternalError, match="bytes of %x are not conserved"):
        ledger().settle(0, Place.GPU, Place.HOST, 1)  # no room was claimed
    with pytest.raises(InternalError, match="gpu memory: 80 bytes found"):
        Ledger(Engine(), PAIR.step, machine(gpu=50), (whole(40, Place.GPU), whole(40, Place.GPU)))
    with pytest.raises(InternalError, match="39 bytes of %x found, it has 40"):
        Ledger(Engine(), PAIR.step, machine(), (whole(39, Place.GPU), whole(40, Place.GPU)))
