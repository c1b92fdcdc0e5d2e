"""The way of a task through a worker, from the claim to the accepted report."""

import pytest

from tests.sdk import misbehaving
from tests.sdk.conftest import Start
from tests.sdk.plane import Plane


def test_worker_declares_its_kinds_with_their_skill(plane: Plane, start: Start) -> None:
    start(name="w7", slots=3)
    plane.wait_until(lambda: plane.registrations)
    registration = plane.registrations[0]
    assert (registration.name, registration.slots) == ("w7", 3)
    assert registration.skills["polite"] == 2.0
    assert registration.skills["echo"] == 1.0
    assert registration.pid > 0


def test_handler_gets_payload_attempt_key_and_inputs(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("echo", {"a": 1}, attempt=2, inputs={"before": [1, 2]})
    plane.wait_until(lambda: plane.completed)
    assert plane.completed[grant.task_id] == {
        "payload": {"a": 1},
        "attempt": 2,
        "key": grant.key,
        "inputs": {"before": [1, 2]},
    }


def test_async_handlers_share_one_loop_thread(plane: Plane, start: Start) -> None:
    start(slots=4)
    grants = [plane.assign("async_echo", number) for number in range(10)]
    plane.wait_until(lambda: len(plane.completed) == 10)
    results = [plane.completed[grant.task_id] for grant in grants]
    assert [result["payload"] for result in results] == list(range(10))
    assert {result["thread"] for result in results} == {"async-handlers"}


def test_given_function_is_called_before_each_task_in_its_thread(
    plane: Plane, start: Start
) -> None:
    misbehaving.CALLS_BEFORE.clear()
    start(slots=1, before_task=misbehaving.note_call)
    for kind in ("noop", "async_echo"):
        plane.assign(kind)
    plane.wait_until(lambda: len(plane.completed) == 2)
    assert sorted(misbehaving.CALLS_BEFORE) == ["async-handlers", "slot-1"]


def test_only_free_slots_are_claimed(plane: Plane, start: Start) -> None:
    for _ in range(5):
        plane.assign("stubborn")
    running = start(slots=2)
    plane.wait_until(lambda: len(plane.held) == 2)
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 2)
    assert len(plane.held) == 2
    assert len(plane.assigned) == 3
    assert plane.claims == [2]
    assert not running.ended()


def test_many_tasks_are_all_done_once_and_reported_in_batches(plane: Plane, start: Start) -> None:
    grants = [plane.assign("echo", number) for number in range(500)]
    start(slots=8)
    plane.wait_until(lambda: len(plane.completed) == 500)
    assert set(plane.completed) == {grant.task_id for grant in grants}
    assert not plane.late
    assert plane.calls.count("complete") < 250


def test_results_are_sanitised_before_they_travel(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("strange")
    plane.wait_until(lambda: plane.completed)
    result = plane.completed[grant.task_id]
    assert result["nan"] == "NaN"
    assert result["nul"] == "a\ufffdb"
    assert result["set"] == [1]
    assert isinstance(result["object"], str)


def test_system_exit_fails_only_its_attempt(plane: Plane, start: Start) -> None:
    running = start()
    grants = [plane.assign(kind) for kind in ("exiting", "async_exiting")]
    after = [plane.assign(kind, 1) for kind in ("echo", "async_echo")]
    plane.wait_until(lambda: len(plane.completed) == 2 and len(plane.failed) == 2)
    assert {plane.failed[grant.task_id].error.type for grant in grants} == {"SystemExit"}
    assert set(plane.completed) == {grant.task_id for grant in after}
    assert not running.ended()


def test_cancelled_error_of_the_handlers_own_is_a_failure(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("async_cancels_itself")
    plane.wait_until(lambda: plane.failed)
    assert plane.failed[grant.task_id].error.type == "asyncio.exceptions.CancelledError"


def test_kind_without_a_handler_here_fails_retryably(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("unheard_of")
    plane.wait_until(lambda: plane.failed)
    error = plane.failed[grant.task_id].error
    assert error.retryable
    assert "unheard_of" in error.message


def test_heartbeat_names_running_and_unreported_tasks_only(plane: Plane, start: Start) -> None:
    start()
    held, done = plane.assign("stubborn"), plane.assign("echo")
    plane.wait_until(lambda: done.task_id in plane.completed)
    plane.wait_until(lambda: plane.last_named == (held.token,))


def test_progress_travels_with_the_heartbeat(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("progressing")
    plane.wait_until(lambda: grant.token in plane.progress)
    word = plane.progress[grant.token]
    assert (word.fraction, word.note) == (0.25, "a quarter\ufffd")


def test_operators_drain_pauses_claims_and_its_end_resumes_them(plane: Plane, start: Start) -> None:
    start()
    plane.orders_drain = True
    plane.wait_until(lambda: len(plane.named) > 1)
    grant = plane.assign("echo")
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 3)
    assert grant in plane.assigned
    assert "drain" not in plane.calls
    assert len(plane.registrations) == 1
    plane.orders_drain = False
    plane.wait_until(lambda: grant.task_id in plane.completed)


def test_cancel_order_stops_a_plain_handler_and_lets_its_task_go(
    plane: Plane, start: Start
) -> None:
    start()
    grant = plane.assign("polite")
    plane.wait_until(lambda: grant.token in plane.held)
    plane.orders_cancel.add(grant.token)
    plane.wait_until(lambda: plane.released == [grant.token])
    assert not plane.failed


def test_cancel_order_cancels_an_async_handler(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("async_polite")
    plane.wait_until(lambda: grant.token in plane.held)
    plane.orders_cancel.add(grant.token)
    plane.wait_until(lambda: plane.released == [grant.token])


def test_lost_task_is_stopped_and_named_no_more(plane: Plane, start: Start) -> None:
    start()
    grant, other = plane.assign("polite"), plane.assign("polite")
    plane.wait_until(lambda: len(plane.held) == 2)
    plane.revoke(grant)
    plane.wait_until(lambda: plane.last_named == (other.token,))
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    assert not plane.late
    assert not plane.released


def test_late_result_of_a_lost_task_is_reported_for_the_ledger(plane: Plane, start: Start) -> None:
    start()
    grant = plane.assign("sleeper", 0.3)
    plane.wait_until(lambda: grant.token in plane.held)
    plane.revoke(grant)
    plane.wait_until(lambda: plane.late)
    assert plane.late[0].token == grant.token


@pytest.mark.parametrize("processes", [False, True])
def test_an_abandoned_attempt_says_nothing_and_is_named_no_more(
    plane: Plane, start: Start, processes: bool
) -> None:
    start(slots=1, processes=processes)
    grant = plane.assign("abandoning")
    # The slot is free again.
    after = plane.assign("echo")
    plane.wait_until(lambda: after.task_id in plane.completed)
    beats = len(plane.named)
    plane.wait_until(lambda: len(plane.named) > beats + 1)
    assert grant.token not in plane.last_named
    assert grant.task_id not in plane.completed
    assert not plane.failed
