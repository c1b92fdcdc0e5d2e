"""What may not begin does not, though it was handed out: the claim asks every gate again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from tasks_app.core.states import Status
from tasks_app.models import BreakerState, Kind, Lease, Limit, LimitState, Task
from tasks_app.services.actions import operations
from tasks_app.services.actions.kind_holds import pause_kind, quarantine_kind, resume_kind
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tests.floor import Floor
from tests.races.conftest import Rival
from tests.services.dispatch.test_gates import age

OPERATOR = Actor("op", "127.0.0.1")


def assigned(floor: Floor, count: int = 6, **kind: Any) -> None:
    """So many tasks of a kind in the backlog of w1, none of them begun."""
    floor.settings(backlog=9.0)
    floor.kind(**kind)
    floor.worker("w1", slots=2, skills={"job": 1.0, "other": 1.0})
    floor.submit(count)
    assert floor.round().dispatched == count


def breaker(scope: str, name: str, state: str) -> BreakerState:
    """Put a breaker into a state."""
    values = {"defaults": {"state": state}}
    return BreakerState.objects.update_or_create(scope=scope, name=name, **values)[0]


def limit(**values: Any) -> Limit:
    """The limit of the tests."""
    return Limit.objects.update_or_create(name="api", defaults=values)[0]


def limited(floor: Floor, **values: Any) -> None:
    """Six tasks under a limit in the backlog of w1; the limit gets its values afterwards."""
    assigned(floor, limit=limit())
    limit(**values)


CLOSED: dict[str, Callable[[Floor], object]] = {
    "the kind is paused": lambda floor: pause_kind("job", OPERATOR),
    "the kind is in quarantine": lambda floor: quarantine_kind("job", OPERATOR),
    "people do the kind now": lambda floor: floor.kind(by_people=True),
    "the breaker is open": lambda floor: (
        floor.kind(breaker_failures=1),
        breaker("kind", "job", "open"),
    ),
    "the breaker waits for a probe": lambda floor: (
        floor.kind(breaker_failures=1),
        breaker("kind", "job", "half_open"),
    ),
    "a 429 paused the limit": lambda floor: (
        floor.kind(limit=limit()),
        LimitState.objects.create(
            limit_id="api", tokens=1.0, paused_until=timezone.now() + timedelta(seconds=20)
        ),
    ),
    "the limit's breaker is open": lambda floor: (
        floor.kind(limit=limit(breaker_failures=1)),
        breaker("limit", "api", "open"),
    ),
    "the limit's breaker waits for a probe": lambda floor: (
        floor.kind(limit=limit(breaker_failures=1)),
        breaker("limit", "api", "half_open"),
    ),
    "the deadline has passed": lambda floor: Task.objects.update(
        deadline_at=timezone.now() - timedelta(seconds=1)
    ),
    "the worker is asked to drain": lambda floor: operations.drain_worker(
        floor.workers["w1"], OPERATOR
    ),
}


@pytest.mark.parametrize("case", CLOSED)
def test_nothing_begins_from_the_backlog_while(floor: Floor, case: str) -> None:
    assigned(floor)
    CLOSED[case](floor)
    assert floor.claim("w1") == []
    assert not Lease.objects.filter(started_at__isnull=False).exists()
    floor.round()
    probes = 1 if "probe" in case else 0
    assert Lease.objects.count() == probes, "the supervisor gives the worker's room to others"
    assert not Task.objects.filter(attempts__gt=0).exists()


def test_what_was_assigned_of_a_closed_kind_neither_hides_other_work_nor_keeps_its_room(
    floor: Floor,
) -> None:
    floor.settings(backlog=0.0)
    floor.worker("w1", slots=2, skills={"job": 1.0, "other": 1.0})
    floor.submit(2)
    floor.round()
    pause_kind("job", OPERATOR)
    floor.submit(2, kind="other")
    assert floor.round().dispatched == 2
    assert [grant.kind for grant in floor.claim("w1", 2)] == ["other", "other"]
    resume_kind("job", OPERATOR)
    assert Task.objects.filter(kind="job", free_reclaims=1).count() == 2


def test_a_paused_job_begins_nothing_that_was_assigned_and_goes_on_afterwards(
    floor: Floor,
) -> None:
    floor.worker("w1", slots=4)
    floor.kind()
    job = jobs.submit_job({"steps": [{"name": f"s{n}", "kind": "job"} for n in range(3)]})
    while not Lease.objects.exists():
        floor.round()
    assert jobs.pause_job(job.id, OPERATOR)
    assert floor.claim("w1") == []
    floor.round()
    assert not Lease.objects.exists()
    assert jobs.resume_job(job.id, OPERATOR)
    floor.round()
    assert len(floor.claim("w1")) == 3


def test_a_breaker_that_opens_spares_the_attempts_of_what_waits_in_the_backlog(
    floor: Floor,
) -> None:
    assigned(floor, 20, breaker_failures=2, breaker_open_seconds=600.0)
    for grant in floor.claim("w1", 2):
        floor.fail("w1", grant)
    floor.round()
    assert BreakerState.objects.get().state == "open"
    assert floor.claim("w1", 2) == []
    assert Task.objects.filter(attempts__gt=0).count() == 2


@pytest.mark.parametrize("scope", ["kind", "limit"])
def test_a_half_open_breaker_lets_its_probe_begin_and_nothing_beside_it(
    floor: Floor, scope: str
) -> None:
    gate = {"breaker_failures": 2, "breaker_open_seconds": 30.0}
    assigned(floor, 8, **({"limit": limit(**gate)} if scope == "limit" else gate))
    for grant in floor.claim("w1", 2):
        floor.fail("w1", grant)
    floor.round()
    age("breaker_state", "since", 31)
    assert floor.round().dispatched == 1
    (probe,) = floor.claim("w1")
    assert probe.token == BreakerState.objects.get().probe_token
    floor.complete("w1", probe)
    floor.round()
    assert len(floor.claim("w1")) > 1


def test_a_rate_holds_when_tasks_begin_not_only_when_they_are_handed_out(floor: Floor) -> None:
    floor.settings(backlog=9.0)
    floor.kind(limit=limit(rate_per_second=2.0, burst=3.0))
    floor.worker("w1", slots=20)
    floor.submit(20)
    for _ in range(5):
        floor.round()
        age("limit_state", "at", 2)
    assert Lease.objects.count() > 8, "hand-outs kept to the rate while the worker was busy"
    first = floor.claim("w1")
    assert len(first) == 3
    assert floor.claim("w1") == []
    age("limit_state", "start_at", 1)
    assert len(floor.claim("w1")) == 2
    age("limit_state", "start_at", 60)
    assert len(floor.claim("w1")) == 3, "a long pause saves up no more than the burst"
    assert [grant.token for grant in first] == sorted(grant.token for grant in first)


def test_a_rate_holds_over_all_workers_and_kinds_of_a_limit(floor: Floor) -> None:
    cap = limit()
    for kind in ("a", "b"):
        floor.kind(kind, limit=cap)
    for name, kind in (("w1", "a"), ("w2", "b")):
        floor.worker(name, slots=8, skills={kind: 1.0})
        floor.submit(4, kind=kind)
    floor.round()
    limit(rate_per_second=1.0, burst=3.0)
    assert len(floor.claim("w1", 2)) == 2
    assert len(floor.claim("w2")) == 1
    assert floor.claim("w1") == []


def test_a_task_heavier_than_the_burst_begins_when_the_bucket_is_full(floor: Floor) -> None:
    assigned(floor, 1, limit=limit())
    Lease.objects.update(weight=5.0)
    floor.submit(2)
    floor.round()
    limit(rate_per_second=1.0, burst=2.0)
    assert len(floor.claim("w1")) == 1
    assert LimitState.objects.get().start_tokens == -3.0
    age("limit_state", "start_at", 3)
    assert floor.claim("w1") == [], "it has used up what the light ones behind it wait for"
    age("limit_state", "start_at", 1)
    assert len(floor.claim("w1")) == 1


def test_of_two_claims_at_one_bucket_the_second_begins_only_what_is_left(floor: Floor) -> None:
    floor.kind(limit=limit())
    for name in ("w1", "w2"):
        floor.worker(name, slots=4)
    floor.submit(8)
    floor.round()
    limit(rate_per_second=0.001, burst=3.0)
    grants = []
    with transaction.atomic():
        grants += floor.claim("w1", 2)
        rival = Rival(lambda: floor.claim("w2"))
    grants += rival.join()
    grants += floor.claim("w2")
    assert len(grants) == 3


def test_a_cap_that_was_lowered_holds_for_what_was_assigned_before(floor: Floor) -> None:
    limited(floor, max_concurrent=2.0)
    first, second = floor.claim("w1")
    assert floor.claim("w1") == []
    floor.complete("w1", first)
    assert len(floor.claim("w1")) == 1
    floor.complete("w1", second)
    assert Lease.objects.filter(started_at__isnull=False).count() == 1
    limit(max_concurrent=None)


def test_a_kind_that_was_moved_under_a_limit_keeps_to_it_at_once(floor: Floor) -> None:
    assigned(floor)
    Kind.objects.filter(name="job").update(limit=limit(rate_per_second=1.0, burst=1.0))
    assert len(floor.claim("w1")) == 1
    assert floor.claim("w1") == []


def test_a_limit_whose_clock_was_set_back_lets_its_burst_begin(floor: Floor) -> None:
    limited(floor, rate_per_second=2.0, burst=2.0)
    assert len(floor.claim("w1")) == 2
    age("limit_state", "start_at", -3600)
    assert len(floor.claim("w1")) == 2
    assert floor.claim("w1") == []


def test_one_assigned_task_without_an_attempt_left_does_not_keep_the_others_from_beginning(
    floor: Floor,
) -> None:
    assigned(floor)
    used_up = Task.objects.order_by("id")[0]
    Task.objects.filter(id=used_up.id).update(attempts=3)
    assert len(floor.claim("w1")) == 5
    Task.objects.filter(id=used_up.id).update(attempts=0)


def test_of_thousands_that_are_overdue_none_is_handed_out_or_begun(floor: Floor) -> None:
    floor.worker("w1", slots=200)
    late = floor.submit(2_500, deadline_at=timezone.now() - timedelta(seconds=1))
    (sound,) = floor.submit()
    report = floor.round()
    assert (report.dispatched, report.unswept) == (1, True)
    assert [grant.task_id for grant in floor.claim("w1")] == [sound]
    while floor.round().unswept:
        pass
    assert Task.objects.filter(id__in=late, dead_reason="deadline").count() == 2_500
    assert not Task.objects.filter(id__in=late, attempts__gt=0).exists()
    assert floor.status(sound) is Status.RUNNING
