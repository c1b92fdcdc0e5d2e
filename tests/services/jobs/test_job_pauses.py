"""A pause of a job holds at once, and reaches the job's tasks in portions of a bounded size."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connection, transaction

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Job, JobNews, Lease, Task
from tasks_app.services.jobs import job_settling, jobs
from tests.jobs import JobFloor

PORTION = 10
EACH = {"name": "each", "kind": "b", "payload": {"n": {"$item": ""}}, "for_each": [*range(25)]}


@pytest.fixture
def floor(record: None, monkeypatch: pytest.MonkeyPatch) -> JobFloor:
    monkeypatch.setattr(jobs, "HELD_AT_ONCE", PORTION)
    monkeypatch.setattr(job_settling, "HELD_AT_ONCE", PORTION)
    made = JobFloor()
    made.settings(backlog=0.0)
    made.hire("w1", slots=100)
    return made


def job_of_items(floor: JobFloor) -> UUID:
    """A job of a join and 25 items, none of which has been handed out."""
    floor.kind("b", paused=True)
    job = floor.job([EACH])
    floor.until_still()
    floor.kind("b", paused=False)
    assert Task.objects.filter(job_id=job).count() == 26
    return job


def held(job: UUID) -> int:
    return Task.objects.filter(job_id=job, kind="b", holds=1).count()


def pause_and_look(floor: JobFloor, job: UUID) -> None:
    assert jobs.pause_job(job, floor.operator)
    floor.round(sweeping=False)
    assert floor.claim("w1") == []


def in_own_connection(call: Callable[[], object]) -> None:
    try:
        call()
    finally:
        connection.close()


def test_a_pause_reaches_the_tasks_of_a_job_in_portions_and_nothing_begins_meanwhile(
    floor: JobFloor,
) -> None:
    job = job_of_items(floor)
    assert jobs.pause_job(job, floor.operator)
    reached = [held(job)]
    while JobNews.objects.exists():
        floor.round(sweeping=False)
        assert floor.claim("w1") == []
        reached.append(held(job))
    # The join comes first; no portion is larger than that of the first transaction.
    assert reached == [9, 19, 25]
    assert not Lease.objects.exists()
    floor.assert_sound()


def test_a_resumed_job_goes_on_in_portions_too(floor: JobFloor) -> None:
    job = job_of_items(floor)
    jobs.pause_job(job, floor.operator)
    floor.until_still()
    assert jobs.resume_job(job, floor.operator)
    left = [held(job)]
    while JobNews.objects.exists():
        floor.round(sweeping=False)
        left.append(held(job))
    assert left == [16, 6, 0]
    for grant in floor.all_next():
        floor.complete("w1", grant, grant.payload["n"])
    floor.until_still()
    assert Job.objects.get(id=job).result == {"each": [*range(25)]}
    floor.assert_sound()


def test_a_job_resumed_while_its_pause_is_under_way_keeps_no_hold(floor: JobFloor) -> None:
    job = job_of_items(floor)
    jobs.pause_job(job, floor.operator)
    floor.round(sweeping=False)
    assert jobs.resume_job(job, floor.operator)
    assert not jobs.resume_job(job, floor.operator)
    floor.until_still()
    assert held(job) == 0
    assert len(floor.claim("w1", 100)) == 25
    jobs.pause_job(job, floor.operator)
    floor.assert_sound()


def test_what_was_assigned_does_not_begin_before_the_pause_has_reached_it(floor: JobFloor) -> None:
    job = job_of_items(floor)
    while not Lease.objects.exists():
        floor.round()
    assert Task.objects.filter(status=Status.ASSIGNED).count() == 25
    jobs.pause_job(job, floor.operator)
    assert Task.objects.filter(status=Status.ASSIGNED, waiting_on=0).count() == 16
    assert floor.claim("w1", 100) == []
    floor.until_still()
    assert not Lease.objects.exists()


def test_a_task_that_somebody_else_has_locked_is_reached_later(floor: JobFloor) -> None:
    job = job_of_items(floor)
    locked = Task.objects.filter(job_id=job, kind="b").order_by("id")[4]
    with ThreadPoolExecutor(1) as beside, transaction.atomic():
        Task.objects.select_for_update(no_key=True).get(id=locked.id)
        beside.submit(in_own_connection, lambda: pause_and_look(floor, job)).result()
        assert floor.task(locked.id).holds == 0
        assert held(job) > PORTION, "the others are not held up"
    floor.until_still()
    assert held(job) == 25
    floor.assert_sound()


def test_a_job_that_ends_while_its_pause_is_under_way_is_not_looked_at_for_it_again(
    floor: JobFloor,
) -> None:
    job = job_of_items(floor)
    jobs.pause_job(job, floor.operator)
    jobs.cancel_job(job, floor.operator)
    floor.until_still()
    assert floor.job_status(job) is JobStatus.CANCELLED
    with connection.cursor() as cursor:
        cursor.execute("SELECT held_to FROM job WHERE id = %s", [job])
        assert cursor.fetchone() == (None,)
    floor.assert_sound()
