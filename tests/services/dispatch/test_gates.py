"""Limits, locks, breakers, budgets and quarantine on the real record."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.db.utils import IntegrityError

from tasks_app.core.facts import Left
from tasks_app.core.states import Status
from tasks_app.models import BreakerState, Kind, Lease, Limit, LimitState, RetryCredit, Task
from tasks_app.sdk.link import Grant
from tasks_app.store.dispatch import breakers
from tests.floor import Floor


def age(table: str, column: str, seconds: float) -> None:
    """Make an instant older, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {column} = {column} - %s * interval '1 second'", [seconds]
        )


def test_a_limit_holds_across_kinds_and_frees_with_each_end(floor: Floor) -> None:
    limit = Limit.objects.create(name="api", max_concurrent=2)
    floor.kind("a", limit=limit)
    floor.kind("b", limit=limit)
    floor.worker("w1", slots=8, skills={"a": 1, "b": 1})
    floor.submit(3, kind="a")
    floor.submit(3, kind="b")
    report = floor.round()
    assert report.dispatched == 2
    assert dict(report.left) == {"limit_full": 4}
    grant, _ = floor.claim("w1")
    floor.complete("w1", grant)
    assert floor.round().dispatched == 1
    assert Lease.objects.count() == 2


def test_a_heavy_task_takes_more_of_its_limit(floor: Floor) -> None:
    floor.kind(limit=Limit.objects.create(name="api", max_concurrent=3))
    floor.worker("w1", slots=8)
    floor.submit(3, weight=2.0)
    assert floor.round().dispatched == 1


def test_a_task_heavier_than_its_limit_goes_alone_instead_of_never(floor: Floor) -> None:
    floor.kind(limit=Limit.objects.create(name="api", max_concurrent=3))
    floor.worker("w1", slots=8)
    floor.submit()
    (heavy,) = floor.submit(weight=5.0)
    assert dict(floor.round().left) == {"limit_full": 1}
    (light,) = floor.claim("w1")
    floor.complete("w1", light)
    floor.submit()
    report = floor.round()
    assert (report.dispatched, dict(report.left)) == (1, {"limit_full": 1})
    assert floor.status(heavy) is Status.ASSIGNED
    floor.assert_invariants()


def test_a_heavy_task_is_not_kept_out_by_a_stream_of_light_ones(floor: Floor) -> None:
    limit = Limit.objects.create(name="api", max_concurrent=3)
    floor.kind("heavy", limit=limit)
    floor.kind("light", limit=limit)
    floor.worker("w1", slots=8, skills={"heavy": 1, "light": 1})
    floor.submit(2, kind="light")
    (heavy,) = floor.submit(kind="heavy", weight=3.0)
    running: list[Grant] = []
    for _ in range(4):
        floor.submit(kind="light")
        floor.round()
        if floor.status(heavy) is Status.ASSIGNED:
            break
        running += floor.claim("w1")
        floor.complete("w1", running.pop(0))
    assert floor.status(heavy) is Status.ASSIGNED
    assert Lease.objects.count() == 1
    floor.assert_invariants()


def test_a_heavy_task_has_its_turn_at_a_rate_too(floor: Floor) -> None:
    floor.kind(limit=Limit.objects.create(name="api", rate_per_second=1, burst=3))
    floor.worker("w1", slots=50)
    floor.submit(1)
    (heavy,) = floor.submit(weight=3.0)
    floor.round()
    floor.submit(9)
    assert dict(floor.round().left) == {"rate_limited": 10}
    age("limit_state", "at", 2)
    assert floor.round().dispatched == 1
    assert floor.status(heavy) is Status.ASSIGNED


def test_a_rate_lets_its_burst_through_and_then_its_rate(floor: Floor) -> None:
    floor.kind(limit=Limit.objects.create(name="api", rate_per_second=2, burst=3))
    floor.worker("w1", slots=50)
    floor.submit(20)
    assert floor.round().dispatched == 3
    assert dict(floor.round().left) == {"rate_limited": 17}
    age("limit_state", "at", 1)
    assert floor.round().dispatched == 2
    age("limit_state", "at", 60)
    assert floor.round().dispatched == 3, "a long pause saves up no more than the burst"


def test_a_429_with_retry_after_pauses_everything_behind_the_limit(floor: Floor) -> None:
    limit = Limit.objects.create(name="api", max_concurrent=8)
    floor.kind("a", limit=limit)
    floor.kind("b", limit=limit)
    floor.worker("w1", slots=8, skills={"a": 1, "b": 1})
    floor.submit(kind="a")
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant, status=429, retry_after=20.0)
    floor.submit(kind="b")
    assert dict(floor.round().left) == {"limit_paused": 1}
    age("limit_state", "paused_until", 21)
    assert floor.round().dispatched == 1


def test_a_lock_lets_one_task_work_at_a_time(floor: Floor) -> None:
    floor.worker("w1", slots=8)
    floor.submit(3, lock_key="invoice-7")
    for done in range(3):
        report = floor.round()
        assert (report.dispatched, report.left.get(Left.LOCKED, 0)) == (1, 2 - done)
        (grant,) = floor.claim("w1")
        floor.complete("w1", grant)


def test_the_database_itself_refuses_two_leases_on_one_lock(floor: Floor) -> None:
    floor.worker("w1", slots=8)
    floor.submit(2)
    floor.round()
    with pytest.raises(IntegrityError, match="lease_lock_once"), transaction.atomic():
        Lease.objects.update(lock_key="same")


def failed(floor: Floor, times: int) -> None:
    """Let so many tasks fail once."""
    for _ in range(times):
        floor.round()
        for grant in floor.claim("w1"):
            floor.fail("w1", grant)


def probe_failed(floor: Floor) -> None:
    """Let two failures open a breaker, and have the probe that follows fail too."""
    floor.worker("w1", slots=1)
    floor.submit(6)
    failed(floor, 2)
    floor.round()
    age("breaker_state", "since", 31)
    floor.round()
    (probe,) = floor.claim("w1", 1)
    floor.fail("w1", probe)


def test_a_breaker_opens_probes_once_and_closes_again(floor: Floor) -> None:
    floor.kind(breaker_failures=3, breaker_open_seconds=30)
    floor.worker("w1", slots=1)
    floor.settings(backlog=0)
    floor.submit(8)
    failed(floor, 3)
    spared = Task.objects.filter(status=Status.PENDING).count()
    report = floor.round()
    assert BreakerState.objects.get().state == "open"
    assert dict(report.left) == {"breaker_open": spared}
    age("breaker_state", "since", 31)
    assert floor.round().dispatched == 1, "the probe"
    (probe,) = floor.claim("w1")
    assert floor.round().dispatched == 0, "and nothing beside it"
    floor.complete("w1", probe)
    floor.round()
    assert BreakerState.objects.get().state == "closed"
    assert len(floor.claim("w1")) == 1
    assert Task.objects.filter(status=Status.PENDING, attempts__gt=0).count() == 0


@pytest.mark.parametrize("of_limit", [False, True])
def test_no_second_probe_goes_out_before_the_first_one_has_been_judged(
    floor: Floor, *, of_limit: bool
) -> None:
    breaker: dict[str, Any] = {"breaker_failures": 2, "breaker_open_seconds": 30}
    if of_limit:
        floor.kind(limit=Limit.objects.create(name="api", **breaker))
    else:
        floor.kind(**breaker)
    probe_failed(floor)
    assert floor.round(sweeping=False).dispatched == 0, "its end is for the next sweep to judge"
    floor.round()
    assert BreakerState.objects.get().state == "open"


def test_a_failed_probe_opens_the_breaker_again(floor: Floor) -> None:
    floor.kind(breaker_failures=2, breaker_open_seconds=30)
    probe_failed(floor)
    floor.round()
    assert BreakerState.objects.get().state == "open"


def test_a_probe_whose_worker_died_is_followed_by_another(floor: Floor) -> None:
    floor.kind(breaker_failures=2, breaker_open_seconds=30)
    floor.settings(backlog=0)
    floor.worker("w1", slots=1)
    floor.submit(4)
    failed(floor, 2)
    floor.round()
    age("breaker_state", "since", 31)
    assert floor.round().dispatched == 1
    floor.claim("w1")
    floor.silence("w1", 100)
    floor.worker("w2")
    assert floor.round().dispatched == 1, "the sweep comes first"
    assert floor.round().dispatched == 0
    assert BreakerState.objects.get().state == "half_open"


def opened(floor: Floor, kinds: tuple[str, ...] = ("a", "b")) -> Limit:
    """A limit whose breaker two failures of different kinds have opened."""
    limit = Limit.objects.create(name="api", breaker_failures=2, breaker_open_seconds=30)
    for kind in kinds:
        floor.kind(kind, limit=limit)
    floor.kind("other")
    floor.settings(backlog=0)
    floor.worker("w1", slots=2, skills=dict.fromkeys([*kinds, "other"], 1.0))
    for kind in kinds:
        floor.submit(kind=kind)
    failed(floor, 1)
    for kind in (*kinds, "other"):
        floor.submit(2, kind=kind)
    return limit


def test_a_limits_breaker_counts_all_its_kinds_and_pauses_all_of_them(floor: Floor) -> None:
    opened(floor)
    report = floor.round()
    assert BreakerState.objects.get().pk == ("limit", "api")
    assert BreakerState.objects.get().state == "open"
    assert dict(report.left) == {"limit_breaker_open": 4}
    assert {grant.kind for grant in floor.claim("w1")} == {"other"}


def test_a_limits_breaker_lets_one_probe_through_whatever_its_kind(floor: Floor) -> None:
    opened(floor)
    floor.round()
    others = floor.claim("w1")
    for grant in others:
        floor.complete("w1", grant)
    age("breaker_state", "since", 31)
    report = floor.round()
    assert (report.dispatched, dict(report.left)) == (1, {"limit_breaker_open": 3}), "the probe"
    (probe,) = floor.claim("w1")
    floor.assert_invariants()
    assert floor.round().dispatched == 0, "and nothing beside it"
    floor.complete("w1", probe)
    assert floor.round().dispatched == 2
    assert BreakerState.objects.get().state == "closed"


def test_one_task_is_the_probe_of_its_kind_and_of_its_limit(floor: Floor) -> None:
    opened(floor)
    floor.kind("a", breaker_failures=1)
    floor.round()
    age("breaker_state", "since", 31)
    Task.objects.filter(kind_id="b").update(run_at=Task.objects.latest("run_at").run_at)
    for grant in floor.claim("w1"):
        floor.complete("w1", grant)
    Task.objects.filter(kind_id="b", status=Status.PENDING).update(waiting_on=1, holds=1)
    assert floor.round().dispatched == 1
    probes = set(BreakerState.objects.values_list("scope", "state", "probe"))
    task = Lease.objects.get().task_id
    assert probes == {("kind", "half_open", task), ("limit", "half_open", task)}


def test_a_breaker_that_is_taken_away_leaves_nothing_behind(floor: Floor) -> None:
    limit = opened(floor)
    floor.round()
    Limit.objects.filter(name=limit.name).update(breaker_failures=None)
    assert floor.round().dispatched == 0, "its slots are busy"
    assert not BreakerState.objects.exists()


@pytest.mark.parametrize("model", [Kind, Limit])
def test_the_database_refuses_a_breaker_that_could_not_close(
    floor: Floor, model: type[Kind] | type[Limit]
) -> None:
    with pytest.raises(IntegrityError, match="breaker_sound"), transaction.atomic():
        model.objects.create(name="x", breaker_failures=0)
    with pytest.raises(IntegrityError, match="breaker_sound"), transaction.atomic():
        model.objects.create(name="x", breaker_open_seconds=0)


def test_permanent_errors_do_not_open_a_breaker(floor: Floor) -> None:
    floor.kind(breaker_failures=1)
    floor.worker("w1")
    floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant, permanent=True)
    floor.round()
    assert not BreakerState.objects.exists()


def refused(floor: Floor, times: int) -> None:
    """Let so many tasks die of a refused log-in."""
    for _ in range(times):
        floor.round()
        for grant in floor.claim("w1"):
            floor.fail("w1", grant, type="HTTPError", message="HTTP 401", status=401)


@pytest.mark.parametrize("of_limit", [False, True])
def test_a_breaker_that_counts_permanent_errors_opens_by_them_and_by_a_probe_of_them(
    floor: Floor, *, of_limit: bool
) -> None:
    breaker: dict[str, Any] = {"breaker_failures": 3, "breaker_counts_permanent": True}
    if of_limit:
        floor.kind(limit=Limit.objects.create(name="api", **breaker))
    else:
        floor.kind(**breaker)
    floor.settings(backlog=0)
    floor.worker("w1", slots=1)
    floor.submit(20)
    refused(floor, 20)
    assert Task.objects.filter(status=Status.DEAD).count() == 3, "three, and not all of them"
    for _ in range(2):
        age("breaker_state", "since", 31)
        refused(floor, 3)
        assert BreakerState.objects.get().state == "open", "the probe was refused too"
    assert Task.objects.filter(status=Status.DEAD).count() == 5
    age("breaker_state", "since", 31)
    floor.round()
    (probe,) = floor.claim("w1")
    floor.complete("w1", probe)
    floor.round()
    assert BreakerState.objects.get().state == "closed"


def test_a_retry_budget_keeps_a_storm_from_feeding_itself(floor: Floor) -> None:
    floor.kind(retry_budget=0.1, max_attempts=10)
    floor.settings(backlog=None)
    floor.worker("w1", slots=100)
    floor.submit(100)
    floor.round()
    for grant in floor.claim("w1"):
        floor.fail("w1", grant)
    Task.objects.update(run_at=Task.objects.latest("created_at").created_at)
    assert floor.round().promoted == 20, "ten are free, and a tenth of a hundred first attempts"
    assert floor.round().promoted == 0
    for grant in floor.claim("w1"):
        floor.fail("w1", grant)
    Task.objects.update(run_at=Task.objects.latest("created_at").created_at)
    assert floor.round().promoted == 0, "retries earn no retries"


def due_failures(floor: Floor, kind: str, count: int) -> None:
    """So many FAILED tasks of a kind whose backoff is over."""
    floor.submit(count, kind=kind)
    floor.round()
    for grant in floor.claim("w1"):
        floor.fail("w1", grant)
    Task.objects.filter(status=Status.FAILED).update(run_at=Now())


def test_a_used_up_retry_budget_comes_back_by_the_minute_without_new_work(floor: Floor) -> None:
    floor.kind(retry_budget=0.0, max_attempts=10)
    floor.settings(backlog=None)
    floor.worker("w1", slots=100)
    due_failures(floor, "job", 25)
    assert floor.round().promoted == 10, "ten are free"
    assert floor.round().promoted == 0
    age("retry_credit", "at", 60)
    assert floor.round().promoted == 1
    assert floor.round().promoted == 0
    age("retry_credit", "at", 3600)
    assert floor.round().promoted == 10, "an hour saves up no more than what is free"


def test_a_budget_that_is_set_later_lets_its_free_retries_go(floor: Floor) -> None:
    floor.worker("w1", slots=100)
    floor.settings(backlog=None)
    due_failures(floor, "job", 12)
    floor.kind(retry_budget=0.1)
    assert floor.round().promoted == 10


def test_a_kind_without_credit_does_not_hold_up_the_retries_of_others(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.services.dispatch.sweeping.BATCH", 5)
    floor.kind("stormy", retry_budget=0.0)
    floor.settings(backlog=None)
    floor.worker("w1", slots=100, skills={"stormy": 1, "calm": 1})
    due_failures(floor, "stormy", 30)
    RetryCredit.objects.update_or_create(kind_id="stormy", defaults={"credit": 0.0})
    due_failures(floor, "calm", 2)
    assert floor.round().promoted == 2


def test_a_failed_task_goes_to_another_worker_if_one_is_free(floor: Floor) -> None:
    floor.worker("w1", slots=2, skills={"job": 2.0})
    floor.worker("w2", slots=1)
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant)
    floor.backoff_over(task)
    floor.round()
    assert floor.task(task).assigned_to_id == floor.workers["w2"]


def test_a_failed_task_goes_back_to_its_worker_if_no_other_is_free(floor: Floor) -> None:
    floor.worker("w1", slots=1)
    (task,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant)
    floor.backoff_over(task)
    floor.round()
    assert floor.task(task).assigned_to_id == floor.workers["w1"]


def crash(floor: Floor, times: int) -> UUID:
    """One task that takes down so many child processes."""
    from tasks_app.core.facts import ErrorFacts
    from tasks_app.sdk.link import Failure
    from tasks_app.services.attempts import worker_protocol

    (task,) = floor.submit()
    for _ in range(times):
        floor.backoff_over(task)
        floor.round()
        (grant,) = floor.claim("w1")
        error = ErrorFacts(type="WorkerCrashed", message="SIGSEGV")
        worker_protocol.fail(
            floor.workers["w1"], [Failure(grant.task_id, grant.token, error, crashed=True)]
        )
    return task


def test_a_task_that_crashed_three_child_processes_is_poison(floor: Floor) -> None:
    floor.kind(max_attempts=9)
    floor.worker("w1")
    task = crash(floor, 3)
    dead = floor.task(task)
    assert (dead.dead_reason, (dead.error or {})["casualties"]) == ("poison", ["w1"] * 3)
    assert [outcome for outcome, _ in floor.attempts(task)] == ["crashed"] * 3


def test_a_kind_with_repeated_poison_is_quarantined_until_an_operator_frees_it(
    floor: Floor,
) -> None:
    floor.settings(quarantine_after=2)
    floor.kind(poison_after=1)
    floor.worker("w1")
    for _ in range(2):
        crash(floor, 1)
    floor.submit()
    assert dict(floor.round().left) == {"kind_quarantined": 1}
    assert breakers.free_kind("job")
    assert floor.round().dispatched == 1
    assert Kind.objects.get().quarantined_at is None


def test_priority_is_a_head_start_in_the_queue(floor: Floor) -> None:
    floor.settings(priority_head_start_seconds=60)
    (task,) = floor.submit(priority=2)
    row = floor.task(task)
    assert row.run_at - row.queue_at == timedelta(seconds=120)


def test_limit_states_are_made_by_use_and_not_by_configuration(floor: Floor) -> None:
    floor.kind(limit=Limit.objects.create(name="api", max_concurrent=1))
    floor.worker("w1")
    floor.submit()
    floor.round()
    assert not LimitState.objects.exists()
