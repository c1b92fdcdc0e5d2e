"""The page of kinds: what holds one back, and the acts on it."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.states import OnDead
from tasks_app.models import Attempt, AuditEntry, BreakerState, Kind, Limit, LimitState, Task
from tasks_app.store.reads.actions import kind_holds
from tests.floor import Floor
from tests.web.conftest import Person, message_of

# Session, user, groups, rail; kinds, counts.
QUERIES = 9


def test_a_kind_says_what_waits_and_what_holds_it_back(floor: Floor, viewer: Person) -> None:
    limit = Limit.objects.create(name="api", breaker_failures=1)
    floor.kind("job", limit=limit, breaker_failures=1, quarantined_at="2030-01-01T00:00:00Z")
    LimitState.objects.create(limit=limit, tokens=1, paused_until="2130-01-01T00:00:00Z")
    BreakerState.objects.create(scope="kind", name="job", state="open")
    BreakerState.objects.create(scope="limit", name="api", state="half_open")
    floor.submit(3)
    html = " ".join(viewer.text("kinds").split())
    for said in ("In quarantine", "Breaker open", "Breaker of its limit half open", "HTTP 429"):
        assert said in html
    (kind,) = viewer.get("kinds").context["kinds"]
    assert (kind.waiting, kind.workers, kind.held) == (3, 0, True)
    assert "Pause job" not in html, "a viewer has no buttons"


def test_an_operator_pauses_resumes_and_frees_with_a_reason(floor: Floor, operator: Person) -> None:
    floor.kind("odd name/1", quarantined_at="2030-01-01T00:00:00Z")
    response = operator.post("pause_kind", kind="odd name/1", reason="the other side is down")
    assert "odd name/1: paused" in message_of(response)
    assert "Resume odd name/1" in response.content.decode()
    assert "nothing changed" in message_of(operator.post("pause_kind", kind="odd name/1"))
    assert "handed out again" in message_of(operator.post("resume_kind", kind="odd name/1"))
    assert "quarantine is over" in message_of(operator.post("free_kind", kind="odd name/1"))
    kind = Kind.objects.get()
    assert (kind.paused, kind.quarantined_at) == (False, None)
    response = operator.post("quarantine_kind", kind="odd name/1", reason="it fills the disk")
    assert "odd name/1: in quarantine" in message_of(response)
    html = response.content.decode()
    assert "Free odd name/1 from quarantine" in html
    assert "Put odd name/1 into quarantine" not in html
    assert "/audit/?text=odd%20name%2F1" in html, "who did it, and why"
    assert AuditEntry.objects.earliest("id").reason == "the other side is down"


@pytest.mark.parametrize("act", ["pause_kind", "resume_kind", "quarantine_kind", "free_kind"])
def test_who_may_only_look_changes_nothing(floor: Floor, viewer: Person, act: str) -> None:
    floor.kind("job")
    assert viewer.post(act, kind="job").status_code == 403
    assert not AuditEntry.objects.exists()


def test_kinds_behind_the_first_page_are_reached(
    floor: Floor, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind_holds, "MOST_KINDS", 2)
    for name in ("a b", "c", "d", "e"):
        floor.kind(name)
    pages = [operator.text("kinds"), operator.text("kinds", after="c")]
    assert "Pause a b" in pages[0]
    assert "Pause d" not in pages[0]
    assert 'href="?after=c">Next' in pages[0]
    assert "Pause d" in pages[1]
    assert "Pause e" in pages[1]
    assert ">Next" not in pages[1]


def test_the_page_costs_no_more_for_more_kinds(
    floor: Floor, operator: Person, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        floor.kind(f"kind{number}")
    with django_assert_max_num_queries(QUERIES):
        operator.text("kinds")


def test_how_long_tasks_wait_and_run_is_told_by_kind(floor: Floor, viewer: Person) -> None:
    assert "Nothing ran in the last hour" in viewer.text("kind_times")
    floor.worker("w1", slots=9, skills={"job": 1.0, "next": 1.0})
    first = floor.submit(3)
    (after,) = floor.submit(1, kind="next", needs=[(first[0], OnDead.WAIT)])
    floor.round()
    grants = floor.claim("w1")
    for grant, ran in zip(grants, (10, 20, 90), strict=True):
        floor.started_ago(grant, ran)
        floor.complete("w1", grant)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    for attempt in Attempt.objects.filter(kind="job", started_at__isnull=False):
        assert attempt.started_at is not None
        ready = attempt.started_at - timedelta(seconds=4)
        Task.objects.filter(id=attempt.task_id).update(run_at=ready)
    # What it needs ended five seconds before it began, long after its own time had come.
    began = Attempt.objects.get(task_id=after).started_at or timezone.now()
    Task.objects.filter(id=first[0]).update(finished_at=began - timedelta(seconds=5))
    Task.objects.filter(id=after).update(run_at=began - timedelta(hours=1))
    job, following = viewer.get("kind_times").context["times"]
    assert (job.kind, job.attempts, round(job.run), round(job.run_95)) == ("job", 3, 20, 83)
    assert (round(job.wait), round(job.wait_95)) == (4, 4)
    assert (following.kind, round(following.wait)) == ("next", 5)
    Task.objects.filter(id__in=first).update(token=None)
    assert viewer.get("kind_times").context["times"][0].wait is None, "a later attempt is not this"


def test_the_page_of_kinds_asks_for_the_times_alone(floor: Floor, viewer: Person) -> None:
    assert "/kinds/times/" in viewer.text("kinds")
    part = viewer.client.get("/kinds/times/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part


def test_the_page_of_times_shows_what_it_is_and_of_how_long(floor: Floor, viewer: Person) -> None:
    heading = viewer.text("kind_times").partition('<h2 id="times-title">')[2].partition("</h2>")[0]
    assert "Waits and run times" in heading
    assert "the last hour" in heading
