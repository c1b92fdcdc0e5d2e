"""Ends are carried over in portions, each bounded in rows and begun where the last one stopped."""

import pytest
from django.db import connection

from tasks_app.core.states import OnDead, Status
from tasks_app.models import Dependency, Settled, Task
from tasks_app.sdk.link import Grant
from tasks_app.services.actions import operations
from tasks_app.services.dispatch import settling
from tasks_app.services.dispatch.rounds import Deposed
from tasks_app.services.people.people import Actor
from tasks_app.store.dispatch import leader
from tests.cpu_time import Work
from tests.floor import Floor

OPERATOR = Actor("op", "127.0.0.1")
PORTION = 10
MILLION = 1_000_000

# Written past the door: through it this takes minutes.
MANY = """
WITH made AS (
    INSERT INTO task (id, kind, payload, max_attempts, estimate_seconds, run_at, queue_at,
                      waiting_on, dependency_count)
    SELECT gen_random_uuid(), 'job', '{}', 3, 1, now() + interval '1 day',
           now() + interval '1 day', 1, 1
      FROM generate_series(1, %(count)s)
    RETURNING id
), edges AS (
    INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)
    SELECT id, %(on)s, 'input', 'wait', 'waiting' FROM made
)
INSERT INTO status_delta (kind, status, change) VALUES ('job', 'PENDING', %(count)s)
"""


def begun(floor: Floor) -> Grant:
    """A task that w1 has begun."""
    floor.worker("w1", slots=4)
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    return grant


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "EDGES_AT_ONCE", PORTION)


@pytest.mark.usefixtures("small")
def test_the_end_of_a_task_with_many_dependents_is_carried_over_in_portions(floor: Floor) -> None:
    grant = begun(floor)
    floor.kind("later")
    floor.submit(3 * PORTION + 5, kind="later", needs=[(grant.task_id, OnDead.WAIT)])
    floor.complete("w1", grant)
    assert [floor.round().settled for _ in range(5)] == [PORTION, PORTION, PORTION, 5, 0]
    assert not Task.objects.filter(waiting_on__gt=0).exists()
    assert not Settled.objects.exists()


@pytest.mark.usefixtures("small")
def test_a_successor_goes_on_where_the_leader_stopped(floor: Floor) -> None:
    grant = begun(floor)
    floor.submit(2 * PORTION, needs=[(grant.task_id, OnDead.FAIL)])
    floor.fail("w1", grant, permanent=True)
    assert floor.round().settled == PORTION
    leader.free(floor.epoch)
    old = floor.epoch
    now = floor.lead()
    floor.epoch = old
    with pytest.raises(Deposed):
        floor.round()
    floor.epoch = now
    assert floor.round().settled == PORTION
    assert Task.objects.filter(dead_reason="dependency").count() == 2 * PORTION


@pytest.mark.usefixtures("small")
def test_small_ends_are_not_held_up_by_one_with_many_dependents(floor: Floor) -> None:
    grant = begun(floor)
    floor.submit(10 * PORTION, kind="later", needs=[(grant.task_id, OnDead.WAIT)])
    (small,) = floor.submit()
    (after,) = floor.submit(needs=[(small, OnDead.WAIT)])
    floor.complete("w1", grant)
    floor.round()
    (next_grant,) = floor.claim("w1")
    floor.complete("w1", next_grant)
    floor.round()
    floor.round()
    assert floor.status(after) is Status.ASSIGNED


@pytest.mark.usefixtures("small")
def test_a_requeue_of_a_task_with_many_dependents_touches_none_of_them_itself(floor: Floor) -> None:
    grant = begun(floor)
    floor.submit(2 * PORTION, needs=[(grant.task_id, OnDead.WAIT)])
    floor.fail("w1", grant, permanent=True)
    assert [floor.round().settled for _ in range(3)] == [PORTION, PORTION, 0]
    operations.requeue([grant.task_id], OPERATOR)
    assert Dependency.objects.filter(state="blocked").count() == 2 * PORTION
    assert [floor.round().settled for _ in range(3)] == [PORTION, PORTION, 0]
    assert Dependency.objects.filter(state="waiting").count() == 2 * PORTION


@pytest.mark.usefixtures("small")
def test_a_requeued_task_with_many_dependencies_is_judged_in_portions(floor: Floor) -> None:
    floor.worker("w1", slots=100)
    needs = floor.submit(2 * PORTION + 1)
    (task,) = floor.submit(needs=[(each, OnDead.WAIT) for each in needs], kind="later")
    floor.kind("later")
    Task.objects.filter(id=task).update(deadline_at="2020-01-01T00:00:00Z")
    floor.round()
    for grant in floor.claim("w1"):
        floor.complete("w1", grant)
    while floor.round().settled:
        pass
    assert operations.requeue([task], OPERATOR).done == {task}
    assert [floor.round().settled for _ in range(4)] == [PORTION, PORTION, 1, 0]
    assert floor.task(task).waiting_on == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_portion_of_a_million_dependents_takes_a_second(record: None) -> None:
    floor = Floor()
    grant = begun(floor)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(MANY, {"count": MILLION, "on": grant.task_id})
        cursor.execute("RESET session_replication_role")
        cursor.execute("UPDATE task SET has_dependents = true WHERE id = %s", [grant.task_id])
    floor.complete("w1", grant)
    work, settled = Work(), 0
    while settled < MILLION:
        settled += work.of(lambda: floor.round(sweeping=False).settled)
    assert work.longest < 1.0
    assert not Task.objects.filter(waiting_on__gt=0).exists()
