"""Attempts that run too long, and slots that a handler will not give back."""

from tests.sdk import misbehaving
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane


def test_attempt_is_reported_as_timed_out_at_its_timeout(plane: Plane, start: Start) -> None:
    start()
    grants = [plane.assign(kind, timeout=0.1) for kind in ("polite", "async_polite")]
    plane.wait_until(lambda: len(plane.failed) == 2)
    for grant in grants:
        failure = plane.failed[grant.task_id]
        assert failure.timed_out
        assert failure.error.type == "HandlerTimeout"
        assert "0.1 s" in failure.error.message


def test_handlers_own_shorter_timeout_wins_over_the_kinds(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("quick_timeout", timeout=60.0)
    plane.wait_until(lambda: plane.failed)
    assert plane.failed[grant.task_id].timed_out


def test_slot_of_a_timed_out_handler_is_free_once_it_gives_way(plane: Plane, start: Start) -> None:
    running = start(slots=1)
    plane.assign("polite", timeout=0.1)
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    assert not running.ended()


def test_zombie_keeps_its_slot_and_its_late_result_is_dropped(plane: Plane, start: Start) -> None:
    start(slots=2)
    grant = plane.assign("stubborn", timeout=0.1)
    plane.wait_until(lambda: plane.failed)
    claims = len(plane.claims)
    others = [plane.assign("echo") for _ in range(3)]
    plane.wait_until(lambda: len(plane.completed) == 3)
    assert set(plane.claims[claims:]) == {1}, "one of the two slots is taken"
    misbehaving.LET_GO.set()
    plane.wait_until(lambda: 2 in plane.claims[claims:])
    assert set(plane.completed) == {other.task_id for other in others}
    assert not plane.late
    assert plane.failed[grant.task_id].timed_out


def test_worker_with_nothing_but_zombies_reports_and_ends_its_process(
    plane: Plane, start: Start
) -> None:
    running = start(slots=2)
    grants = [plane.assign("stubborn", timeout=0.1) for _ in range(2)]
    assert running.join() == 75
    assert running.exits == [75]
    assert set(plane.failed) == {grant.task_id for grant in grants}
    assert plane.calls[-1] == "deregister"


def test_task_behind_a_blocked_loop_is_let_go_without_an_attempt(
    plane: Plane, start: Start
) -> None:
    running = start(slots=3, patience=60.0)
    blocking = plane.assign("async_blocking")
    plane.wait_until(lambda: blocking.token in plane.held)
    behind, plain = plane.assign("async_echo", timeout=0.2), plane.assign("echo")
    plane.wait_until(lambda: plane.released == [behind.token])
    plane.wait_until(lambda: plain.task_id in plane.completed)
    misbehaving.LET_GO.set()
    plane.wait_until(lambda: blocking.task_id in plane.completed)
    assert not plane.failed
    assert not plane.late
    assert not running.ended()
