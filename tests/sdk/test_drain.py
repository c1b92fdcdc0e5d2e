"""The end of a worker in good order, and in the best order that is left."""

from tests.sdk import misbehaving
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane


def test_drained_worker_finishes_reports_and_deregisters(plane: Plane, start: Start) -> None:
    running = start(slots=2, grace=10.0)
    grants = [plane.assign("sleeper", 0.2) for _ in range(2)]
    plane.wait_until(lambda: len(plane.held) == 2)
    unstarted = plane.assign("echo")
    assert running.leave() == 0
    assert set(plane.completed) == {grant.task_id for grant in grants}
    assert unstarted.task_id not in plane.completed
    assert not plane.released
    assert [call for call in plane.calls if call in {"drain", "deregister"}] == [
        "drain",
        "deregister",
    ]
    assert not running.exits


def test_leases_are_renewed_while_draining(plane: Plane, start: Start) -> None:
    running = start(grace=10.0)
    grant = plane.assign("sleeper", 0.5)
    plane.wait_until(lambda: grant.token in plane.held)
    running.worker.stop()
    plane.wait_until(lambda: "drain" in plane.calls)
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 1)
    assert plane.last_named == (grant.token,)
    assert running.join() == 0


def test_work_left_after_the_grace_is_released_without_an_attempt(
    plane: Plane, start: Start
) -> None:
    running = start(slots=2, grace=0.1)
    grants = [plane.assign(kind) for kind in ("polite", "async_polite")]
    plane.wait_until(lambda: len(plane.held) == 2)
    assert running.leave() == 0
    assert sorted(plane.released) == sorted(grant.token for grant in grants)
    assert not plane.failed
    assert not running.exits, "both gave way, nothing had to be ended by force"


def test_handler_that_outlives_the_grace_is_released_and_the_process_ended(
    plane: Plane, start: Start
) -> None:
    running = start(grace=0.1)
    grant = plane.assign("stubborn")
    plane.wait_until(misbehaving.BEGUN.is_set)
    running.leave()
    assert plane.released == [grant.token]
    assert plane.calls[-1] == "deregister"
    assert running.exits == [0]


def test_results_wait_out_an_outage_within_the_grace(plane: Plane, start: Start) -> None:
    running = start(grace=10.0)
    grant = plane.assign("sleeper", 0.1)
    plane.wait_until(lambda: grant.token in plane.held)
    plane.down = True
    running.worker.stop()
    plane.wait_until(lambda: plane.calls.count("complete") > 1)
    plane.down = False
    assert running.join() == 0
    assert grant.task_id in plane.completed
    assert plane.calls[-1] == "deregister"


def test_worker_that_cannot_say_goodbye_still_ends(plane: Plane, start: Start) -> None:
    running = start(grace=0.0)
    plane.wait_until(lambda: plane.named)
    plane.down = True
    assert running.leave() == 75
    assert running.exits == [75]


def test_worker_that_never_registered_ends_at_once(plane: Plane, start: Start) -> None:
    plane.down = True
    running = start(grace=30.0)
    plane.wait_until(lambda: "register" in plane.calls)
    assert running.leave() == 0
