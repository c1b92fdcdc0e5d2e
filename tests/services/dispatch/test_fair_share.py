"""Jobs of one kind take turns on the real record, however large one of them is."""

from uuid import UUID

import pytest
from django.db import connection

from tasks_app.models import Job, JobTurn, Kind, Task
from tasks_app.models.ids import new_id
from tasks_app.store import sql
from tasks_app.store.dispatch import dispatch
from tests.floor import Floor

FILL = """
INSERT INTO task (id, kind, payload, estimate_seconds, max_attempts, job_id, run_at, queue_at)
SELECT gen_random_uuid(), 'job', '{}', 1, 3, %(job)s, now() - interval '1 hour',
       now() - interval '1 hour' + n * interval '1 microsecond'
  FROM generate_series(1, %(count)s) n
"""


def a_job(count: int) -> UUID:
    """A job of so many ready tasks, an hour old."""
    Kind.objects.get_or_create(name="job")
    job = Job.objects.create(id=new_id(), plan={"steps": []})
    sql.execute(FILL, {"job": job.id, "count": count})
    return job.id


def taken(job: UUID | None) -> int:
    of_job = (
        Task.objects.filter(job__isnull=True) if job is None else Task.objects.filter(job_id=job)
    )
    return of_job.exclude(status="PENDING").count()


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.kind("job")
    return floor


def test_a_job_of_a_hundred_thousand_does_not_hold_up_a_job_of_ten(floor: Floor) -> None:
    large = a_job(100_000)
    small = Job.objects.create(id=new_id(), plan={"steps": []}).id
    floor.worker("w1", slots=20)
    floor.settings(backlog=0)
    tasks = floor.submit(10, job_id=small)
    assert floor.round().dispatched == 20
    assert (taken(large), taken(small)) == (10, 10)
    assert {floor.status(task) for task in tasks} == {"ASSIGNED"}


def test_a_job_is_not_held_up_by_tasks_of_no_job(floor: Floor) -> None:
    floor.submit(3000)
    small = a_job(3)
    Task.objects.filter(job_id=small).update(queue_at=Task.objects.latest("queue_at").queue_at)
    floor.worker("w1", slots=6)
    floor.settings(backlog=0)
    floor.round()
    assert (taken(None), taken(small)) == (3, 3)


def test_rounds_with_room_for_one_go_round_all_jobs(floor: Floor) -> None:
    jobs = [a_job(count) for count in (500, 2, 300)]
    floor.worker("w1")
    floor.settings(backlog=0)
    order = []
    for _ in range(9):
        floor.round()
        (grant,) = floor.claim("w1")
        order += [n for n, job in enumerate(jobs) if floor.task(grant.task_id).job_id == job]
        floor.complete("w1", grant)
    assert order == [0, 1, 2, 0, 1, 2, 0, 2, 0]


def test_more_jobs_than_one_round_looks_at_are_all_served(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.dispatch.waiting_jobs.MOST_JOBS", 3)
    floor.settings(backlog=0, window=5)
    large = a_job(200)
    small = [a_job(2) for _ in range(12)]
    floor.worker("w1", slots=2)
    for _ in range(14):
        floor.round()
        for grant in floor.claim("w1"):
            floor.complete("w1", grant)
    assert [taken(job) for job in small] == [2] * 12
    assert taken(large) == 28 - 24


def test_tasks_that_share_with_no_other_job_leave_no_turn(floor: Floor) -> None:
    a_job(5)
    floor.worker("w1", slots=2)
    floor.round()
    assert not JobTurn.objects.exists()


def test_turns_of_an_hour_ago_are_forgotten(floor: Floor) -> None:
    a_job(5)
    a_job(5)
    floor.worker("w1", slots=4)
    floor.round()
    assert JobTurn.objects.count() == 2
    assert dispatch.forget_turns() == 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE job_turn SET at = at - interval '61 minutes'")
    assert dispatch.forget_turns() == 2
