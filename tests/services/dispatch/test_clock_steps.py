"""The database's clock is set back by an hour, or forward, or is another server's, 30 s behind."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from tasks_app.core.facts import Breaker
from tasks_app.core.states import Status
from tasks_app.models import Attempt, BreakerState, Heartbeat, Lease, LimitState, RetryCredit
from tasks_app.models.limits import Limit as SharedLimit
from tasks_app.store.dispatch import breakers, leader
from tasks_app.store.people import request_rates
from tasks_app.store.reads.dispatch.leader_status import read_duty
from tests.floor import Floor

HORIZON: Final = datetime(9999, 1, 1, tzinfo=UTC)
STEPS: Final = (30.0, 3600.0)

INSTANTS: Final = """
SELECT c.table_name, c.column_name
  FROM information_schema.columns c
  JOIN information_schema.tables t USING (table_schema, table_name)
 WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone'
   AND t.table_type = 'BASE TABLE' AND c.table_name NOT IN ('audit_entry', 'django_migrations')
"""


def clock_goes_back(seconds: float) -> None:
    """Have every instant on record lie ahead by as much: to the statements that is the same."""
    with connection.cursor() as cursor:
        cursor.execute(INSTANTS)
        for table, column in cursor.fetchall():
            cursor.execute(
                f"UPDATE {table} SET {column} = {column} + %s * interval '1 second'", [seconds]
            )


def restart(floor: Floor) -> None:
    """Let the leader take its lease again, as after a lost connection."""
    floor.lead()


@pytest.mark.parametrize("step", STEPS)
def test_a_leader_is_replaced_within_its_lease_after_the_clock_went_back(
    floor: Floor, step: float
) -> None:
    leader.acquire("a", 10)
    clock_goes_back(step)
    assert leader.acquire("b", 10) == 2


@pytest.mark.parametrize("step", [*STEPS, -3600.0])
def test_the_probe_does_not_take_a_dead_supervisor_for_ready(
    floor: Floor, step: float, client: Client
) -> None:
    floor.round()
    clock_goes_back(step)
    assert client.get("/readyz").status_code == 503
    floor.round()
    assert client.get("/readyz").status_code == 200
    assert (read_duty().last_round_age or 0) < 5


@pytest.mark.parametrize("step", STEPS)
def test_a_rate_goes_on_after_the_clock_went_back(floor: Floor, step: float) -> None:
    SharedLimit.objects.create(name="api", rate_per_second=0.001, burst=4)
    floor.kind(limit_id="api")
    floor.worker("w1", slots=20)
    floor.submit(10)
    assert floor.round().dispatched == 4
    clock_goes_back(step)
    restart(floor)
    floor.round()
    state = LimitState.objects.get()
    assert 0 <= state.tokens <= 4
    LimitState.objects.update(tokens=2.0, at=timezone.now() + timedelta(seconds=step))
    breakers.spend_tokens({"api": 1.0})
    assert 0 <= LimitState.objects.get().tokens <= 4
    assert LimitState.objects.get().at < timezone.now() + timedelta(seconds=1)


@pytest.mark.parametrize("step", STEPS)
def test_requests_are_counted_on_after_the_clock_went_back(record: None, step: float) -> None:
    for _ in range(3):
        request_rates.take("somebody", 3, 10.0)
    assert request_rates.take("somebody", 3, 10.0) is not None
    clock_goes_back(step)
    assert request_rates.take("somebody", 3, 10.0) is None


@pytest.mark.parametrize("step", STEPS)
def test_a_dead_worker_is_noticed_after_the_clock_went_back(floor: Floor, step: float) -> None:
    floor.worker("w1", slots=2)
    (task,) = floor.submit()
    floor.round()
    floor.claim("w1")
    clock_goes_back(step)
    restart(floor)
    floor.round()
    assert Heartbeat.objects.get().at < timezone.now() + timedelta(seconds=1)
    assert (Lease.objects.get().started_at or HORIZON) < timezone.now() + timedelta(seconds=1)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE leader SET served_since = served_since - interval '100 s'")
    floor.silence("w1", 95)
    floor.round()
    assert floor.status(task) is Status.PENDING
    floor.assert_invariants()


@pytest.mark.parametrize("step", STEPS)
def test_what_was_due_is_handed_out_though_the_clock_went_back(floor: Floor, step: float) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    (waiting,) = floor.submit()
    (scheduled,) = floor.submit(run_at=tomorrow)
    floor.round()
    clock_goes_back(step)
    restart(floor)
    floor.worker("w1", slots=2)
    floor.round()
    floor.round()
    assert floor.status(waiting) is Status.ASSIGNED
    assert floor.task(scheduled).run_at == tomorrow + timedelta(seconds=step), "by the clock"


@pytest.mark.parametrize("step", STEPS)
def test_a_retry_comes_when_its_backoff_is_over_though_the_clock_went_back(
    floor: Floor, step: float
) -> None:
    floor.kind(backoff_base_seconds=5.0)
    floor.worker("w1", slots=2)
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant)
    clock_goes_back(step)
    restart(floor)
    floor.round()
    assert floor.task(task).run_at < timezone.now() + timedelta(seconds=10)


def test_breakers_credits_and_pauses_go_on_after_the_clock_went_back(floor: Floor) -> None:
    SharedLimit.objects.create(name="api", rate_per_second=10, burst=4)
    floor.kind(limit_id="api", retry_budget=0.1, breaker_failures=2, breaker_open_seconds=30.0)
    breakers.pause_limit("api", 20.0)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO breaker_state (scope, name, state) VALUES ('kind','job','open')"
        )
        cursor.execute("INSERT INTO retry_credit (kind_id, credit) VALUES ('job', 0)")
    floor.round()
    clock_goes_back(3600.0)
    restart(floor)
    floor.round()
    soon = timezone.now() + timedelta(seconds=25)
    assert (LimitState.objects.get().paused_until or HORIZON) < soon
    assert BreakerState.objects.get().since < soon or BreakerState.objects.get().state == (
        Breaker.HALF_OPEN
    )
    assert RetryCredit.objects.get().at < soon


def test_a_clock_that_jumps_forward_takes_no_work_from_workers_that_live(floor: Floor) -> None:
    floor.kind(timeout_seconds=60.0)
    floor.worker("w1", slots=2)
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    clock_goes_back(-3600.0)
    restart(floor)
    report = floor.round()
    assert (report.reclaimed, list(report.lost_workers)) == (0, [])
    floor.beat("w1", grant)
    assert floor.round().reclaimed == 0
    assert floor.complete("w1", grant) == []
    assert floor.status(task) is Status.COMPLETED


def test_three_outages_use_up_no_attempt_and_are_no_poison(floor: Floor) -> None:
    (task,) = floor.submit()
    for n in range(3):
        floor.worker("w1", slots=1)
        floor.round()
        floor.claim("w1")
        clock_goes_back(-100.0)
        floor.round()
        assert floor.status(task) is Status.RUNNING, "its worker may come back"
        # It has stopped its work meanwhile, as it must, and registers again.
        floor.worker("w1", slots=1)
        floor.round()
        begun = Attempt.objects.filter(task_id=task, started_at__isnull=False)
        assert list(begun.values_list("outcome", flat=True)) == ["released"] * (n + 1)
    assert floor.task(task).attempts <= 1
    assert "was away" in (floor.task(task).error or {})["message"]


def test_a_worker_that_dies_while_rounds_are_run_is_a_casualty_as_ever(floor: Floor) -> None:
    floor.kind(max_attempts=10)
    (task,) = floor.submit()
    for _ in range(3):
        floor.worker("w1", slots=1)
        floor.round()
        floor.claim("w1")
        floor.silence("w1", 100)
        floor.round()
    assert floor.task(task).dead_reason == "poison"
