"""Leases that are lost, late, refused or given back."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection

from tasks_app.core.states import Status
from tasks_app.models import LateResult, Lease, Task, Worker
from tasks_app.sdk.link import Grant, WorkerReplaced, WorkerUnknown
from tasks_app.services.actions import operations
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.fleet.live_workers import count_lost
from tests.floor import Floor


def running(floor: Floor, name: str = "w1") -> Grant:
    """One task that a fresh worker has begun."""
    floor.worker(name)
    floor.submit()
    floor.round()
    (grant,) = floor.claim(name)
    return grant


def test_late_worker_cannot_complete_after_reclaim(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    assert floor.round().reclaimed == 1
    floor.worker("w2")
    floor.round()
    (second,) = floor.claim("w2")
    assert second.task_id == grant.task_id
    assert second.token > grant.token
    assert floor.complete("w1", grant, {"by": "w1"}) == [grant.token]
    assert floor.status(grant.task_id) is Status.RUNNING
    assert floor.complete("w2", second, {"by": "w2"}) == []
    assert floor.task(grant.task_id).result == {"by": "w2"}
    late = LateResult.objects.get()
    assert (late.token_held, late.token_now, late.result) == (
        grant.token,
        second.token,
        {"by": "w1"},
    )
    assert late.overlap_seconds is not None
    assert 0 <= late.overlap_seconds < 60
    floor.assert_counts_are_true()


def test_a_repeated_report_changes_nothing_and_is_not_late(floor: Floor) -> None:
    grant = running(floor)
    floor.complete("w1", grant, 1)
    assert floor.complete("w1", grant, 2) == [grant.token]
    assert floor.task(grant.task_id).result == 1
    assert LateResult.objects.count() == 0


def test_a_silent_worker_is_lost_and_a_started_task_pays_one_attempt(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 89)
    assert floor.round().reclaimed == 0
    floor.silence("w1", 2)
    report = floor.round()
    assert (report.reclaimed, report.lost_workers) == (1, ["w1"])
    task = floor.task(grant.task_id)
    assert (task.status, task.attempts, task.free_reclaims) == (Status.PENDING, 1, 0)
    assert floor.attempts(task.id) == [("worker_lost", "w1")]
    assert Worker.objects.get(name="w1").state == "lost"
    floor.assert_counts_are_true()


def test_what_a_dead_worker_had_not_started_goes_back_free_of_charge(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.worker("w1")
    tasks = floor.submit(3)
    floor.round()
    floor.silence("w1", 100)
    assert floor.round().reclaimed == 3
    assert {(t.attempts, t.free_reclaims) for t in Task.objects.filter(id__in=tasks)} == {(0, 1)}
    assert Lease.objects.count() == 0


def test_a_lost_worker_is_told_to_register_anew(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 100)
    floor.round()
    with pytest.raises(WorkerUnknown):
        floor.beat("w1", grant)


def test_a_worker_whose_name_another_process_has_is_told_to_leave(floor: Floor) -> None:
    grant = running(floor)
    older = floor.workers["w1"]
    newer = floor.worker("w1")
    with pytest.raises(WorkerReplaced):
        worker_protocol.heartbeat(older, [grant.token], [])
    worker_protocol.heartbeat(newer, [], [])
    worker_protocol.deregister(newer)
    with pytest.raises(WorkerUnknown) as found:
        worker_protocol.heartbeat(older, [grant.token], [])
    assert not isinstance(found.value, WorkerReplaced), "nobody has the name any more"


def test_a_task_that_its_worker_no_longer_names_is_reclaimed(floor: Floor) -> None:
    grant = running(floor)
    floor.beat("w1")
    floor.beat("w1")
    assert floor.round().reclaimed == 0, "the answer to the claim may be on its way"
    floor.started_ago(grant, 25)
    assert floor.round().reclaimed == 1
    assert floor.attempts(grant.task_id) == [("not_named", "w1")]


def test_signs_of_life_that_follow_each_other_at_once_do_not_reclaim_what_was_just_claimed(
    floor: Floor,
) -> None:
    grant = running(floor)
    for _ in range(5):
        floor.beat("w1")
    assert floor.round().reclaimed == 0
    floor.started_ago(grant, 15)
    floor.beat("w1")
    assert floor.round().reclaimed == 0, "two heartbeat intervals have not passed"
    floor.beat("w1", grant)
    assert floor.attempts(grant.task_id) == []


def test_the_time_that_a_worker_has_to_name_a_task_follows_the_heartbeat_interval(
    floor: Floor,
) -> None:
    floor.settings(heartbeat_seconds=2.0)
    grant = running(floor)
    floor.started_ago(grant, 5)
    floor.beat("w1")
    assert floor.round().reclaimed == 1
    assert floor.attempts(grant.task_id) == [("not_named", "w1")]


def test_a_named_task_is_kept_however_long_it_runs_below_its_timeout(floor: Floor) -> None:
    floor.kind(timeout_seconds=900)
    grant = running(floor)
    floor.started_ago(grant, 880)
    floor.beat("w1", grant)
    floor.beat("w1", grant)
    assert floor.round().reclaimed == 0


def test_the_supervisor_enforces_the_timeout_that_the_worker_does_not(floor: Floor) -> None:
    floor.kind(timeout_seconds=5)
    grant = running(floor)
    floor.beat("w1", grant)
    floor.started_ago(grant, 14)
    assert floor.round().reclaimed == 0, "within the grace it is the worker's to stop it"
    floor.started_ago(grant, 2)
    assert floor.round().reclaimed == 1
    assert floor.attempts(grant.task_id) == [("timeout", "w1")]
    assert floor.beat("w1", grant).lost == [grant.token]


def test_a_name_that_registers_again_replaces_its_older_boot_at_once(floor: Floor) -> None:
    grant = running(floor)
    floor.worker("w1")
    assert floor.round().reclaimed == 1
    (again,) = floor.claim("w1")
    assert again.task_id == grant.task_id
    assert [w.state for w in Worker.objects.order_by("registered_at")] == ["lost", "active"]


def ended(floor: Floor, task: UUID) -> tuple[str, str]:
    """The latest attempt's outcome and the type of its error."""
    attempt = floor.task(task).history.order_by("-token")[0]
    return attempt.outcome, (attempt.error or {}).get("type", "")


def test_a_worker_that_is_killed_while_it_drains_costs_no_attempt_and_is_no_casualty(
    floor: Floor,
) -> None:
    floor.kind(max_attempts=3, poison_after=3)
    (task,) = floor.submit()
    for name in ("w1", "w2", "w3", "w4"):
        floor.worker(name)
        floor.round()
        floor.claim(name)
        worker_protocol.drain(floor.workers[name])
        floor.silence(name, 100)
        floor.round()
        assert ended(floor, task) == ("stopped", "WorkerStopped")
        assert Worker.objects.get(name=name).ending == "draining"
    assert (floor.status(task), floor.task(task).attempts) == (Status.PENDING, 0)
    assert count_lost() == 0, "a stop that took too long is no loss of a worker"


def test_a_draining_worker_that_its_successor_replaces_costs_no_attempt(floor: Floor) -> None:
    floor.kind(max_attempts=3, poison_after=3)
    (task,) = floor.submit()
    for _ in range(5):
        floor.worker("w1")
        floor.round()
        floor.claim("w1")
        worker_protocol.drain(floor.workers["w1"])
    floor.worker("w1")
    floor.round()
    assert {outcome for outcome, _ in floor.attempts(task)} == {"stopped"}
    assert floor.task(task).attempts == 0
    assert floor.status(task) is not Status.DEAD


def test_two_living_processes_with_one_name_cost_their_tasks_nothing(floor: Floor) -> None:
    floor.kind(max_attempts=3, poison_after=3)
    (task,) = floor.submit()
    for _ in range(8):
        older = floor.workers.get("w1")
        floor.worker("w1")
        if older is not None:
            with pytest.raises(WorkerReplaced):
                worker_protocol.heartbeat(older, [], [])
        floor.round()
        floor.claim("w1")
    assert ended(floor, task) == ("replaced", "WorkerReplaced")
    assert (floor.status(task), floor.task(task).attempts) == (Status.RUNNING, 1)
    assert count_lost() == 0


def test_a_task_that_kills_a_worker_started_again_under_its_name_is_poison(floor: Floor) -> None:
    floor.kind(max_attempts=10, poison_after=3)
    (task,) = floor.submit()
    for _ in range(5):
        floor.worker("w1")
        floor.round()
        floor.claim("w1")
    assert floor.status(task) is Status.DEAD, "nothing was heard of any of them again"
    dead = floor.task(task)
    assert dead.dead_reason == "poison"
    assert len(floor.attempts(task)) == 4


def test_a_worker_that_had_been_silent_before_it_was_replaced_is_a_casualty(floor: Floor) -> None:
    grant = running(floor)
    floor.silence("w1", 60)
    floor.worker("w1")
    floor.round()
    assert ended(floor, grant.task_id) == ("worker_lost", "WorkerLost")
    assert floor.task(grant.task_id).attempts == 1


def test_an_evicted_worker_costs_nothing_and_the_attempt_says_why(floor: Floor) -> None:
    grant = running(floor)
    operations.evict_worker(floor.workers["w1"], Actor("op"), "its disk is full")
    assert ended(floor, grant.task_id) == ("released", "WorkerEvicted")
    assert "its disk is full" in (floor.task(grant.task_id).error or {})["message"]
    assert floor.task(grant.task_id).attempts == 0
    assert count_lost() == 0


def test_the_leases_of_a_silent_worker_are_lost_with_it_and_not_timed_out(floor: Floor) -> None:
    floor.kind(timeout_seconds=60)
    floor.worker("w1", slots=8)
    tasks = floor.submit(8)
    floor.round()
    grants = floor.claim("w1")
    for grant in grants:
        floor.started_ago(grant, 75)
    floor.silence("w1", 74)
    report = floor.round()
    assert (report.reclaimed, report.dispatched) == (0, 0), "it may be unable to stop anything"
    floor.silence("w1", 20)
    assert floor.round().reclaimed == 8
    assert {outcome for task in tasks for outcome, _ in floor.attempts(task)} == {"worker_lost"}


def test_a_worker_that_lives_past_a_timeout_and_does_not_stop_it_pays_it(floor: Floor) -> None:
    floor.kind(timeout_seconds=60)
    grant = running(floor)
    floor.started_ago(grant, 75)
    floor.silence("w1", 74)
    assert floor.round().reclaimed == 0
    floor.beat("w1", grant)
    assert floor.round().reclaimed == 1
    assert floor.attempts(grant.task_id) == [("timeout", "w1")]


def test_a_silent_worker_gets_nothing_new_until_it_speaks(floor: Floor) -> None:
    floor.worker("w1", slots=2)
    floor.silence("w1", 46)
    floor.submit()
    assert floor.round().dispatched == 0
    floor.beat("w1")
    assert floor.round().dispatched == 1


def test_a_task_that_took_down_three_workers_is_poison(floor: Floor) -> None:
    floor.kind(max_attempts=5, poison_after=3)
    (task,) = floor.submit()
    for name in ("w1", "w2", "w3"):
        floor.worker(name)
        floor.round()
        floor.claim(name)
        floor.silence(name, 100)
        floor.round()
    dead = floor.task(task)
    assert (dead.status, dead.dead_reason, dead.attempts) == (Status.DEAD, "poison", 3)
    assert [name for _, name in floor.attempts(task)] == ["w1", "w2", "w3"]
    assert dead.error is not None
    assert dead.error["casualties"] == ["w1", "w2", "w3"]
    floor.assert_counts_are_true()


def test_retryable_errors_wait_two_four_and_then_the_task_is_dead(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    for attempt, delay in ((1, 2.0), (2, 4.0)):
        floor.round()
        (grant,) = floor.claim("w1")
        floor.fail("w1", grant)
        failed = floor.task(task)
        assert (failed.status, failed.attempts) == (Status.FAILED, attempt)
        history = failed.history.order_by("-token")[0]
        assert history.next_run_at is not None
        waits = history.next_run_at - history.ended_at
        assert timedelta(seconds=delay * 0.74) < waits < timedelta(seconds=delay * 1.26)
        assert floor.round().dispatched == 0, "it backs off"
        floor.backoff_over(task)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant)
    dead = floor.task(task)
    assert (dead.status, dead.dead_reason, dead.attempts) == (Status.DEAD, "exhausted", 3)
    assert dead.error == {
        "type": "builtins.TimeoutError",
        "message": "no answer",
        "traceback": "",
        "status": None,
        "retry_after": None,
    }
    floor.assert_counts_are_true()


def test_a_permanent_error_is_dead_at_the_first_attempt(floor: Floor) -> None:
    grant = running(floor)
    floor.fail("w1", grant, type="jsonschema.exceptions.ValidationError", message="text missing")
    dead = floor.task(grant.task_id)
    assert (dead.status, dead.dead_reason, dead.attempts) == (Status.DEAD, "permanent", 1)


def test_retry_after_is_honoured(floor: Floor) -> None:
    grant = running(floor)
    floor.fail("w1", grant, status=429, retry_after=30.0)
    task = floor.task(grant.task_id)
    history = task.history.get()
    assert history.next_run_at is not None
    assert history.next_run_at - history.ended_at >= timedelta(seconds=29.9)


def test_a_drained_worker_keeps_what_it_began_and_gives_back_the_rest(floor: Floor) -> None:
    floor.settings(backlog=2)
    worker = floor.worker("w1")
    floor.submit(3)
    floor.round()
    (begun,) = floor.claim("w1", 1)
    assert operations.drain_worker(worker, Actor("op"))
    assert Lease.objects.count() == 1
    assert floor.round().dispatched == 0
    assert floor.claim("w1") == []
    assert floor.beat("w1", begun).drain
    assert floor.complete("w1", begun) == []
    assert operations.resume_worker(worker, Actor("op"))
    assert floor.round().dispatched == 2


def test_a_release_does_not_use_up_the_attempt(floor: Floor) -> None:
    grant = running(floor)
    worker_protocol.release(floor.workers["w1"], [grant.token])
    task = floor.task(grant.task_id)
    assert (task.status, task.attempts, task.total_attempts) == (Status.PENDING, 0, 1)
    floor.assert_counts_are_true()


def test_a_worker_that_leaves_gives_everything_back(floor: Floor) -> None:
    grant = running(floor)
    worker_protocol.deregister(floor.workers["w1"])
    assert floor.status(grant.task_id) is Status.PENDING
    assert Worker.objects.get(name="w1").state == "stopped"
    assert floor.round().dispatched == 0


def test_another_worker_cannot_report_under_a_token_that_it_does_not_hold(floor: Floor) -> None:
    grant = running(floor)
    floor.worker("w2")
    assert floor.complete("w2", grant, "stolen") == [grant.token]
    assert floor.fail("w2", grant) == [grant.token]
    assert floor.status(grant.task_id) is Status.RUNNING


def test_results_that_were_sanitised_are_stored_as_they_are(floor: Floor) -> None:
    grant = running(floor)
    result = {"text": "ünïcödé \u2028", "list": [1, None, {"deep": [True]}]}
    floor.complete("w1", grant, result)
    assert floor.task(grant.task_id).result == result


def test_the_database_refuses_an_active_task_without_a_worker(floor: Floor) -> None:
    (task,) = floor.submit()
    with pytest.raises(Exception, match="task_active_has_worker"), connection.cursor() as cursor:
        cursor.execute("UPDATE task SET status = 'RUNNING' WHERE id = %s", [task])


def test_a_worker_cannot_report_under_an_older_token_of_its_own(floor: Floor) -> None:
    first = running(floor)
    worker_protocol.release(floor.workers["w1"], [first.token])
    floor.round()
    (second,) = floor.claim("w1")
    assert second.task_id == first.task_id
    assert floor.complete("w1", first, "old") == [first.token]
    assert floor.status(first.task_id) is Status.RUNNING
    assert floor.fail("w1", first, permanent=True) == [first.token]
    assert floor.status(first.task_id) is Status.RUNNING
    assert floor.complete("w1", second, "new") == []
    assert floor.task(first.task_id).result == "new"
