"""A row that somebody else holds keeps the leader from nothing else, and has its turn later."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import connection, transaction

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import BulkItem, Limit, SupervisorSettings, Task
from tasks_app.services.actions.bulks import begin
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tests.floor import Floor
from tests.jobs import JobFloor
from tests.races.conftest import Rival

OPERATOR = Actor("op")
AT_MOST = 5.0
"""Seconds: a round that waited for a stranger would never come back."""


@contextmanager
def held(statement: str, key: UUID | str) -> Iterator[None]:
    """Somebody has a row locked, as strongly as can be."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} FOR UPDATE", [key])
            assert cursor.fetchone() is not None
        yield


def beside(floor: Floor) -> None:
    """A round on another connection, which must come back while the row is held."""
    began = time.monotonic()
    Rival(floor.round).join()
    assert time.monotonic() - began < AT_MOST


TASK = "SELECT 1 FROM task WHERE id = %s"


def test_a_task_that_nobody_can_do(floor: Floor) -> None:
    SupervisorSettings.objects.update(unroutable_grace_seconds=0)
    one, other = floor.submit(2, kind="unknown")
    floor.lead()
    with held(TASK, one):
        beside(floor)
        assert floor.status(other) is Status.DEAD
    floor.round()
    assert floor.status(one) is Status.DEAD


def test_a_kind_that_somebody_saves(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    floor.kind("other")
    (task,) = floor.submit()
    floor.lead()
    with held("SELECT 1 FROM kind WHERE name = %s", "other"):
        beside(floor)
        assert floor.status(task) is Status.ASSIGNED


def test_a_task_of_a_bulk_action(floor: Floor) -> None:
    ids = floor.submit(3)
    bulk = begin(BulkOrder(BulkAction.PRIORITY, priority=7), ids, OPERATOR)
    assert bulk is not None
    floor.lead()
    floor.end_holds()
    with held(TASK, ids[0]):
        beside(floor)
        assert [floor.task(each).priority for each in ids] == [0, 7, 7]
    floor.work_off()
    assert [floor.task(each).priority for each in ids] == [7, 7, 7]
    assert BulkItem.objects.filter(state="moved").count() == 3


@pytest.fixture
def jobs_floor(record: None) -> Iterator[JobFloor]:
    floor = JobFloor()
    floor.hire("w1", slots=10)
    yield floor
    floor.assert_sound()


def test_a_job(jobs_floor: JobFloor) -> None:
    one, other = (jobs_floor.job([{"name": "only", "kind": "a"}]) for _ in range(2))
    for grant in jobs_floor.all_next():
        jobs_floor.complete("w1", grant)
    with held("SELECT 1 FROM job WHERE id = %s", one):
        for _ in range(2):
            beside(jobs_floor)
        assert jobs_floor.job_status(other) is JobStatus.COMPLETED
        assert jobs_floor.job_status(one) is JobStatus.RUNNING
    jobs_floor.until_still()
    assert jobs_floor.job_status(one) is JobStatus.COMPLETED


def test_a_step_that_is_to_be_prepared(jobs_floor: JobFloor) -> None:
    job = jobs_floor.job(
        [
            {"name": "one", "kind": "a"},
            {"name": "two", "kind": "b", "payload": {"n": {"$result": "one"}}},
            {"name": "three", "kind": "b", "payload": {"n": {"$result": "one"}}},
        ]
    )
    grant = jobs_floor.next()
    two, three = (Task.objects.get(job_id=job, step__place=place) for place in (1, 2))
    jobs_floor.complete("w1", grant, 1)
    with held(TASK, two.id):
        for _ in range(3):
            beside(jobs_floor)
        assert not jobs_floor.task(three.id).unprepared
        assert jobs_floor.task(two.id).unprepared
    jobs_floor.until_still()
    assert not jobs_floor.task(two.id).unprepared


@pytest.mark.parametrize("quorum", [1, 3])
def test_a_join_that_is_decided(jobs_floor: JobFloor, quorum: int) -> None:
    job = jobs_floor.job([{"name": "each", "kind": "a", "for_each": [1, 2, 3], "quorum": quorum}])
    grants = jobs_floor.all_next()
    join = Task.objects.get(job_id=job, kind="join")
    for number, grant in enumerate(grants):
        if number < quorum - 1 or quorum == 1:
            jobs_floor.complete("w1", grant)
        else:
            jobs_floor.fail("w1", grant, permanent=True)
    with held(TASK, join.id):
        for _ in range(2):
            beside(jobs_floor)
        assert jobs_floor.status(join.id) is Status.PENDING
    jobs_floor.until_still()
    expected = Status.COMPLETED if quorum == 1 else Status.DEAD
    assert jobs_floor.status(join.id) is expected


def test_a_task_of_a_job_that_is_cancelled(jobs_floor: JobFloor) -> None:
    job = jobs_floor.job([{"name": "one", "kind": "a"}, {"name": "two", "kind": "b"}])
    jobs_floor.until_still()
    one, two = (Task.objects.get(job_id=job, step__place=place) for place in (0, 1))
    jobs.cancel_job(job, jobs_floor.operator)
    with held(TASK, one.id):
        beside(jobs_floor)
        assert jobs_floor.status(two.id) is Status.CANCELLED
    jobs_floor.until_still()
    assert jobs_floor.job_status(job) is JobStatus.CANCELLED


def test_what_cannot_be_passed_over_is_left_after_half_a_second(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    Limit.objects.create(name="api", rate_per_second=1000, burst=1000)
    floor.kind("limited", limit_id="api")
    floor.kind("job", limit_id="api")
    floor.submit()
    floor.round()
    (task,) = floor.submit()
    with held("SELECT 1 FROM limit_state WHERE limit_id = %s", "api"):
        beside(floor)
        assert floor.status(task) is Status.PENDING
    floor.round()
    assert floor.status(task) is Status.ASSIGNED
