"""A control plane that cannot be reached, answers too late, or knows the worker no more."""

import pytest

from tests.sdk import misbehaving
from tests.sdk.conftest import Clock, Start
from tests.sdk.plane import Plane


def test_worker_registers_once_the_control_plane_comes_up(plane: Plane, start: Start) -> None:
    plane.down = True
    start()
    plane.wait_until(lambda: plane.calls.count("register") > 1)
    plane.down = False
    grant = plane.assign("echo")
    plane.wait_until(lambda: grant.task_id in plane.completed)


def test_result_is_kept_and_repeated_until_it_is_accepted(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("sleeper", 0.1)
    plane.wait_until(lambda: grant.token in plane.held)
    plane.down = True
    plane.wait_until(lambda: plane.calls.count("complete") > 2)
    assert not plane.completed
    plane.down = False
    plane.wait_until(lambda: grant.task_id in plane.completed)
    assert len(plane.registrations) == 1


def test_unreported_result_is_still_named(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("echo")
    plane.refuse_calls.add("complete")
    plane.wait_until(lambda: plane.calls.count("complete") > 1)
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 1)
    assert plane.last_named == (grant.token,)
    plane.refuse_calls.clear()
    plane.wait_until(lambda: plane.last_named == () and grant.task_id in plane.completed)


def test_repeat_of_an_accepted_report_is_stale_and_forgotten(plane: Plane, start: Start) -> None:
    start()
    plane.lose_answer = "complete"
    grant = plane.assign("echo")
    plane.wait_until(lambda: plane.late)
    assert plane.completed[grant.task_id]["payload"] is None
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 1)
    assert plane.last_named == ()


def test_claim_whose_answer_is_lost_is_never_named(plane: Plane, start: Start) -> None:
    plane.lose_answer = "claim"
    lost = plane.assign("stubborn")
    start()
    plane.wait_until(lambda: lost.token in plane.held)
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 2)
    assert all(lost.token not in tokens for _, tokens in plane.named)


def test_result_that_cannot_be_stored_fails_its_task_alone(plane: Plane, start: Start) -> None:
    plane.refuse_calls.add("complete")
    start()
    bad, good = plane.assign("echo", "bad"), plane.assign("echo", "good")
    plane.refused.add(bad.token)
    plane.wait_until(lambda: plane.calls.count("complete") > 1)
    plane.refuse_calls.clear()
    plane.wait_until(lambda: plane.completed and plane.failed)
    assert set(plane.completed) == {good.task_id}
    assert plane.failed[bad.task_id].error.type == "ResultRefused"


def test_worker_stops_its_work_before_a_lease_that_it_cannot_renew_ends(
    plane: Plane, start: Start, clock: Clock
) -> None:
    running = start(slots=2)
    plain, deaf = plane.assign("polite"), plane.assign("async_polite")
    plane.wait_until(lambda: len(plane.held) == 2)
    plane.refuse_calls.add("heartbeat")
    plane.wait_until(lambda: plane.calls[-1] == "heartbeat")
    clock.ahead += plane.stale_after * 0.89
    beats = plane.calls.count("heartbeat")
    plane.wait_until(lambda: plane.calls.count("heartbeat") > beats + 1)
    assert len(plane.registrations) == 1, "a tenth of the lease's life is left to stop in"
    clock.ahead += plane.stale_after * 0.03
    plane.wait_until(lambda: len(plane.registrations) == 2)
    assert {plain.token, deaf.token}.isdisjoint(plane.released)
    assert not plane.completed
    assert not plane.failed
    assert not running.exits


def test_nothing_is_claimed_after_trust_ran_out_until_registered_anew(
    plane: Plane, start: Start, clock: Clock
) -> None:
    start()
    plane.wait_until(lambda: plane.named)
    plane.down = True
    clock.ahead += plane.stale_after
    plane.wait_until(lambda: plane.calls.count("register") > 1)
    after = len(plane.calls)
    plane.assign("echo")
    plane.wait_until(lambda: plane.calls.count("register") > 3)
    assert "claim" not in plane.calls[after:]
    plane.down = False
    plane.wait_until(lambda: plane.completed)
    assert len(plane.registrations) == 2


def test_trust_counts_from_the_start_of_the_heartbeat_call(
    plane: Plane, start: Start, clock: Clock
) -> None:
    start()
    plane.wait_until(lambda: plane.named)

    def answer_late_and_never_again() -> None:
        clock.ahead += plane.stale_after
        plane.refuse_calls.add("heartbeat")

    plane.during["heartbeat"] = answer_late_and_never_again
    plane.wait_until(lambda: len(plane.registrations) > 1)


def test_worker_that_is_unknown_abandons_all_and_registers_anew(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("polite")
    plane.wait_until(lambda: grant.token in plane.held)
    plane.forget_worker()
    plane.wait_until(lambda: len(plane.registrations) == 2)
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    plane.wait_until(lambda: plane.named and plane.named[-1] == (plane.live, ()))
    assert not plane.released
    assert not plane.late


@pytest.mark.parametrize("kind", ["polite", "stubborn"])
def test_worker_whose_name_another_process_has_leaves_and_does_not_take_it_back(
    plane: Plane, start: Start, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    running = start()
    plane.assign(kind)
    plane.wait_until(lambda: plane.held)
    plane.forget_worker(name_taken=True)
    plane.wait_until(running.ended)
    assert len(plane.registrations) == 1
    assert "its name is in use elsewhere" in caplog.text
    assert running.code == 78 or running.exits == [78], "it is not to be started again"


def test_worker_that_is_replaced_while_it_drains_ends_as_asked(plane: Plane, start: Start) -> None:
    running = start(grace=30.0)
    plane.assign("polite")
    plane.wait_until(lambda: plane.held)
    running.worker.stop()
    plane.wait_until(lambda: "drain" in plane.calls)
    plane.forget_worker(name_taken=True)
    assert running.join() == 0, "its successor has the name, as it should"


def test_result_that_outlives_its_boot_is_reported_once_under_the_old_identity(
    plane: Plane, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    start(patience=10.0)
    grant = plane.assign("stubborn")
    plane.wait_until(misbehaving.BEGUN.is_set)
    plane.forget_worker()
    plane.wait_until(lambda: "it was lost" in caplog.text)
    assert len(plane.registrations) == 1, "the old boot's handler still runs"
    misbehaving.LET_GO.set()
    plane.wait_until(lambda: plane.late)
    assert [report.token for report in plane.late] == [grant.token]
    plane.wait_until(lambda: len(plane.registrations) == 2)


def test_worker_that_must_stop_and_cannot_ends_its_process(
    plane: Plane, start: Start, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    plane.assign("stubborn")
    plane.wait_until(misbehaving.BEGUN.is_set)
    plane.down = True
    clock.ahead += plane.stale_after * 0.95
    plane.wait_until(lambda: "no heartbeat was acknowledged" in caplog.text)
    assert not running.exits, "the lease has a twentieth of its life left"
    clock.ahead += plane.stale_after * 0.06
    plane.wait_until(running.ended)
    assert running.exits == [75]
