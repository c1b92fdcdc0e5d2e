"""Every wait for a worker begins when the task is ready, whatever came before."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from tasks_app.core.states import OnDead, Status
from tasks_app.models import Task
from tasks_app.sdk.link import Grant
from tasks_app.services.actions import operations
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tasks_app.store.actions import priority_changes
from tasks_app.store.reads.dispatch.kind_times import kind_times
from tasks_app.store.reads.dispatch.series import read_oldest
from tests.floor import Floor

OPERATOR = Actor("op", "127.0.0.1")
DAY = 86_400.0


def older(seconds: float) -> None:
    """Let so many seconds pass for every task, as the record tells it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE task SET created_at = created_at - i, run_at = run_at - i,"
            " ready_at = ready_at - i, queue_at = queue_at - i, finished_at = finished_at - i"
            " FROM (SELECT %s * interval '1 second' AS i) i",
            [seconds],
        )


def need_and_dependent(floor: Floor, kind: str = "job") -> tuple[Grant, UUID]:
    """A need that is running and its dependent, both submitted two days ago."""
    floor.worker("w1", slots=4)
    (need,) = floor.submit()
    (dependent,) = floor.submit(kind=kind, needs=[(need, OnDead.WAIT)])
    floor.round()
    (grant,) = floor.claim("w1")
    older(2 * DAY)
    return grant, dependent


def test_a_task_with_a_start_time_in_the_past_has_the_whole_grace_before_it(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit(kind="new", run_at=timezone.now() - timedelta(days=300))
    floor.round()
    assert floor.status(task) is Status.PENDING
    older(DAY + 60)
    floor.round()
    assert floor.task(task).dead_reason == "unroutable"


def test_a_dependent_has_the_whole_grace_from_the_end_of_its_need(floor: Floor) -> None:
    grant, dependent = need_and_dependent(floor, kind="new")
    floor.complete("w1", grant)
    floor.round()
    floor.round()
    assert floor.status(dependent) is Status.PENDING
    older(DAY + 60)
    floor.round()
    assert floor.task(dependent).dead_reason == "unroutable"


def test_what_a_pause_of_its_job_held_has_the_whole_grace_after_it(floor: Floor) -> None:
    floor.worker("w1")
    floor.kind("new")
    job = jobs.submit_job({"steps": [{"name": "s", "kind": "new"}]})
    for _ in range(3):
        floor.round()
    assert jobs.pause_job(job.id, OPERATOR)
    older(2 * DAY)
    assert jobs.resume_job(job.id, OPERATOR)
    floor.round()
    assert Task.objects.get(job_id=job.id).status == Status.PENDING


def test_a_requeued_task_has_the_whole_grace_again(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit(kind="new")
    older(DAY + 60)
    floor.round()
    assert operations.requeue([task], OPERATOR).done == {task}
    floor.round()
    assert floor.status(task) is Status.PENDING


def test_a_scheduled_task_has_the_whole_grace_from_its_start_time(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit(kind="new", run_at=timezone.now() + timedelta(days=2))
    older(2 * DAY + 60)
    floor.round()
    assert floor.status(task) is Status.PENDING


def test_a_start_time_in_the_past_is_no_head_start_in_the_queue(floor: Floor) -> None:
    floor.settings(backlog=0.0)
    floor.worker("w1", slots=1)
    (first,) = floor.submit()
    (backdated,) = floor.submit(run_at=timezone.now() - timedelta(days=300))
    floor.round()
    assert floor.status(first) is Status.ASSIGNED
    assert floor.status(backdated) is Status.PENDING


def test_the_wait_for_a_need_is_no_head_start_in_the_queue(floor: Floor) -> None:
    floor.settings(backlog=0.0)
    grant, dependent = need_and_dependent(floor)
    floor.submit(4)
    floor.complete("w1", grant)
    floor.round()
    assert floor.status(dependent) is Status.PENDING, "four have been ready for longer"


@pytest.mark.parametrize("case", ["dependent", "scheduled", "backdated", "requeued"])
def test_the_oldest_task_is_as_old_as_its_wait(floor: Floor, case: str) -> None:
    floor.settings(unroutable_grace_seconds=10 * DAY)
    if case == "dependent":
        grant, _ = need_and_dependent(floor, kind="new")
        floor.complete("w1", grant)
        floor.round()
    elif case == "scheduled":
        floor.submit(run_at=timezone.now() + timedelta(days=2))
        older(2 * DAY)
    elif case == "backdated":
        floor.submit(run_at=timezone.now() - timedelta(days=300))
    else:
        floor.worker("w1")
        (task,) = floor.submit()
        floor.round()
        (failing,) = floor.claim("w1")
        floor.fail("w1", failing, permanent=True)
        older(2 * DAY)
        operations.requeue([task], OPERATOR)
    age = read_oldest().age
    assert age is not None
    assert age < 60


def test_a_task_whose_start_time_is_ahead_has_no_age(floor: Floor) -> None:
    floor.submit(run_at=timezone.now() + timedelta(days=2))
    older(DAY)
    assert read_oldest().age is None
    floor.lead()
    Sampler().sample(floor.epoch, 60)


def test_a_task_that_keeps_failing_grows_old(floor: Floor) -> None:
    floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    older(DAY)
    floor.fail("w1", grant)
    age = read_oldest().age
    assert age is not None
    assert age > DAY - 60


def test_waits_are_told_since_ready_where_the_start_time_lay_in_the_past(floor: Floor) -> None:
    floor.worker("w1")
    floor.submit(run_at=timezone.now() - timedelta(days=300))
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    (job,) = [each for each in kind_times() if each.kind == "job"]
    assert job.wait is not None
    assert job.wait < 60


def test_a_priority_that_is_changed_after_the_head_start_was_gives_its_place_in_the_queue(
    floor: Floor,
) -> None:
    floor.settings(priority_head_start_seconds=60.0)
    (task,) = floor.submit(priority=5)
    floor.settings(priority_head_start_seconds=10.0)
    priority_changes.set_priority([task], 5)
    found = floor.task(task)
    assert (found.created_at - found.queue_at).total_seconds() == 50
    priority_changes.set_priority([task], 0)
    found = floor.task(task)
    assert found.queue_at == found.created_at
