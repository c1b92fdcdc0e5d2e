"""Cancel and deadline: unfinished tasks that shall not go on."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from tasks_app.core.states import OnDead, Status
from tasks_app.models import AuditEntry, NearMiss, Task
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.people.people import Actor
from tests.floor import Floor

OPERATOR = Actor("op", "127.0.0.1")


def test_waiting_and_assigned_tasks_are_cancelled_at_once(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.worker("w1")
    assigned, later = floor.submit(2)
    floor.round()
    (waiting,) = floor.submit(kind="other")
    result = cancel_tasks([assigned, later, waiting], OPERATOR, "double")
    assert result.done == {assigned, later, waiting}
    assert {floor.status(t) for t in (assigned, later, waiting)} == {Status.CANCELLED}
    assert floor.claim("w1") == []
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.count, entry.reason) == ("cancel", 3, "double")
    floor.assert_counts_are_true()


def test_a_running_task_is_cancelled_when_its_worker_lets_go(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    assert cancel_tasks([task], OPERATOR).asked == {task}
    assert floor.status(task) is Status.RUNNING
    assert floor.beat("w1", grant).cancel == [grant.token]
    worker_protocol.release(floor.workers["w1"], [grant.token])
    assert floor.status(task) is Status.CANCELLED
    floor.assert_counts_are_true()


def test_a_running_task_is_cancelled_when_its_lease_ends(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    floor.claim("w1")
    cancel_tasks([task], OPERATOR)
    floor.silence("w1", 100)
    floor.round()
    assert floor.status(task) is Status.CANCELLED


def test_a_cancelled_task_whose_attempt_fails_is_not_retried(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    cancel_tasks([task], OPERATOR)
    floor.fail("w1", grant)
    assert floor.status(task) is Status.CANCELLED


def test_work_that_was_done_before_the_cancel_was_heard_counts(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    cancel_tasks([task], OPERATOR)
    assert floor.complete("w1", grant, 1) == []
    assert floor.status(task) is Status.COMPLETED


def test_a_cancel_of_what_has_ended_says_why_not(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    unknown = uuid4()
    result = cancel_tasks([task, unknown], OPERATOR)
    assert result.refused == {
        task: "It is COMPLETED and has ended.",
        unknown: "There is no such task.",
    }
    assert not AuditEntry.objects.exists()


def test_a_dependent_of_a_cancelled_task_is_dead_or_goes_on_as_its_edge_says(
    floor: Floor,
) -> None:
    (first,) = floor.submit()
    (waits,) = floor.submit(needs=[(first, OnDead.WAIT)])
    (continues,) = floor.submit(needs=[(first, OnDead.CONTINUE)])
    cancel_tasks([first], OPERATOR)
    floor.worker("w1")
    floor.round()
    assert floor.task(waits).dead_reason == "dependency"
    assert floor.status(continues) is Status.ASSIGNED


def overdue(task: UUID) -> None:
    """Let a task's deadline pass."""
    Task.objects.filter(id=task).update(deadline_at=datetime.now(UTC) - timedelta(seconds=1))


def test_a_task_past_its_deadline_is_dead_wherever_it_stands(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.worker("w1")
    running, assigned = floor.submit(2)
    floor.round()
    (grant,) = floor.claim("w1", 1)
    (waiting,) = floor.submit(kind="other")
    for task in (running, assigned, waiting):
        overdue(task)
    floor.round()
    for task in (running, assigned, waiting):
        dead = floor.task(task)
        assert (dead.status, dead.dead_reason) == (Status.DEAD, "deadline")
    assert floor.complete("w1", grant) == [grant.token], "too late"
    assert floor.beat("w1", grant).lost == [grant.token]
    floor.assert_counts_are_true()


def test_a_deadline_ahead_changes_nothing(floor: Floor) -> None:
    (task,) = floor.submit()
    Task.objects.update(deadline_at=datetime.now(UTC) + timedelta(hours=1))
    floor.worker("w1")
    assert floor.round().dispatched == 1
    assert floor.status(task) is Status.ASSIGNED


def test_a_requeue_lifts_a_deadline_that_has_passed_and_keeps_one_that_has_not(
    floor: Floor,
) -> None:
    floor.worker("w1")
    (late,) = floor.submit()
    overdue(late)
    floor.round()
    operations.requeue([late], OPERATOR)
    assert floor.task(late).deadline_at is None
    assert floor.round().dispatched == 1
    (grant,) = floor.claim("w1")
    due = datetime.now(UTC) + timedelta(hours=1)
    Task.objects.filter(id=late).update(deadline_at=due)
    floor.fail("w1", grant, permanent=True)
    operations.requeue([late], OPERATOR)
    assert floor.task(late).deadline_at == due


def test_a_lease_renewed_with_less_than_a_fifth_of_its_time_left_is_a_near_miss(
    floor: Floor,
) -> None:
    floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.silence("w1", 70)
    floor.beat("w1", grant)
    assert not NearMiss.objects.exists()
    floor.silence("w1", 75)
    floor.beat("w1", grant)
    miss = NearMiss.objects.get()
    assert (miss.leases, miss.stale_after_seconds) == (1, 90)
    assert 75 <= miss.silent_seconds < 80


def test_a_completion_at_the_last_moment_is_a_near_miss(floor: Floor) -> None:
    floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.silence("w1", 80)
    floor.complete("w1", grant)
    assert NearMiss.objects.count() == 1
