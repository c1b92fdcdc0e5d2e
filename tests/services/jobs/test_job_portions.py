"""Whatever a job has, each look at it is bounded in rows, and the next goes on where it stopped."""

from uuid import UUID

import pytest
from django.db import connection

from tasks_app.core.jobs.job_states import JobStatus, Role
from tasks_app.core.states import Status
from tasks_app.models import Job, JobNews, StepTask, Task
from tasks_app.services.dispatch import rounds
from tasks_app.services.jobs import job_compensation, job_joins, job_settling, job_steps, jobs
from tests.cpu_time import Work
from tests.jobs import JobFloor

EACH = {"name": "each", "kind": "b", "payload": {"n": {"$item": ""}}}


@pytest.fixture
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.settings(backlog=0.0)
    made.hire("w1", slots=100)
    return made


def open_items(job: UUID) -> int:
    """How many items of a job may still move."""
    going = ("PENDING", "FAILED", "ASSIGNED", "RUNNING")
    return Task.objects.filter(job_id=job, step__role=Role.ITEM, status__in=going).count()


def test_a_cancelled_job_lets_go_some_tasks_at_a_time(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_settling, "STOPPED_AT_ONCE", 10)
    floor.kind("never")
    job = floor.job([{**EACH, "kind": "never", "for_each": [*range(25)]}])
    floor.round()
    assert open_items(job) == 25
    jobs.cancel_job(job, floor.operator)
    left = []
    while floor.job_status(job) is JobStatus.RUNNING:
        floor.round(sweeping=False)
        left.append(Task.objects.filter(job_id=job, status=Status.PENDING).count())
    assert left == [16, 6, 0, 0], "the last look finds that nothing is left"
    assert floor.job_status(job) is JobStatus.CANCELLED
    floor.assert_sound()


def test_the_items_of_a_fan_out_are_made_some_at_a_time(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_steps, "ROWS_AT_ONCE", 20)
    job = floor.job([{"name": "one", "kind": "a"}, {**EACH, "for_each": [*range(25)],
                     "depends_on": ["one"]}])  # fmt: skip
    floor.complete("w1", floor.next())
    made: list[int] = []
    while not made or made[-1] < 25:
        floor.round(sweeping=False)
        # What is there is worked on, and no part of it makes the join complete.
        for grant in floor.claim("w1"):
            floor.complete("w1", grant, grant.payload["n"])
        made.append(StepTask.objects.filter(role=Role.ITEM).count())
    assert made == [10, 20, 25]
    floor.until_still()
    for grant in floor.all_next():
        floor.complete("w1", grant, grant.payload["n"])
    floor.until_still()
    assert Job.objects.get(id=job).result == {"each": [*range(25)]}
    floor.assert_sound()


def test_items_that_nobody_needs_any_more_are_let_go_some_at_a_time(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_joins, "ENDED_AT_ONCE", 10)
    job = floor.job([{**EACH, "for_each": [*range(26)], "quorum": 1}])
    floor.until_still()
    (first,) = floor.claim("w1", 1)
    floor.complete("w1", first)
    floor.round(sweeping=False)
    assert floor.steps(job)["each"] is Status.COMPLETED
    floor.until_still()
    assert open_items(job) == 0
    assert floor.job_status(job) is JobStatus.COMPLETED
    floor.assert_sound()


def test_the_next_to_undo_is_sought_some_tasks_at_a_time(
    floor: JobFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_compensation, "DONE_AT_ONCE", 3)
    job = floor.job(
        [
            {"name": "one", "kind": "a", "compensation": "undo_a"},
            {**EACH, "for_each": [*range(10)], "depends_on": ["one"]},
            {"name": "two", "kind": "a", "compensation": "undo_b", "depends_on": ["each"]},
            {"name": "last", "kind": "a", "depends_on": ["two"]},
        ],
        on_dead="compensate",
    )
    floor.complete("w1", floor.next())
    for grant in floor.all_next():
        floor.complete("w1", grant)
    floor.complete("w1", floor.next())
    floor.fail("w1", floor.next(), permanent=True)
    kinds = []
    while floor.job_status(job) is not JobStatus.COMPENSATED:
        for grant in floor.all_next():
            kinds.append(grant.kind)
            floor.complete("w1", grant)
    assert kinds == ["undo_b", "undo_a"]
    floor.assert_sound()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_look_at_twenty_jobs_of_ten_thousand_items_takes_a_second(floor: JobFloor) -> None:
    floor.kind("never")
    twenty = [
        floor.job([{**EACH, "kind": "never", "for_each": [*range(10_000)]}]) for _ in range(20)
    ]
    work = Work()
    look_until_still(floor, work)
    assert Task.objects.filter(kind="never").count() == 200_000
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for job in twenty:
        jobs.cancel_job(job, floor.operator)
    look_until_still(floor, work)
    assert not Task.objects.filter(status=Status.PENDING).exists()
    assert work.longest < 1.0


def look_until_still(floor: JobFloor, work: Work) -> None:
    """Have the supervisor look at jobs until none moves, and measure each transaction."""
    floor.round()
    while JobNews.objects.exists():
        work.of(lambda: rounds._job_round(floor.epoch, rounds.JOBS_AT_ONCE))
        floor.round(sweeping=False)
