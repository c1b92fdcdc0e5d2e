"""Alerts of the overview with their remedies: who is offered them, what they do."""

import html
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from tasks_app.core.facts import StrategyName
from tasks_app.models import AuditEntry, Kind, Task
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of, person


@pytest.fixture
def admin(floor: Floor) -> Person:
    """Somebody who may change the configuration."""
    return person("ada", "admin")


def text(who: Person) -> str:
    return " ".join(html.unescape(who.text("overview")).split())


def test_a_paused_kind_with_work_is_named_and_its_tasks_are_a_click_away(
    floor: Floor, viewer: Person
) -> None:
    floor.kind("mail", paused=True)
    assert "is paused" not in text(viewer)
    floor.submit(2, kind="mail")
    page = text(viewer)
    assert "<code>mail</code> is paused." in page
    assert "/tasks/?q=kind%3Amail%20status%3Apending" in page


def test_a_silent_worker_is_named_with_what_it_holds(floor: Floor, operator: Person) -> None:
    floor.worker("w1", slots=2)
    floor.submit(2)
    floor.round()
    floor.silence("w1", 60)
    page = text(operator)
    assert "w1 is silent." in page
    assert "its 2 tasks go to others after 90 s" in page
    assert f"/workers/{floor.workers['w1']}/evict/" in page


def test_the_largest_group_of_dead_letters_is_requeued_from_its_alert(
    floor: Floor, operator: Person, viewer: Person
) -> None:
    floor.worker("w1")
    died(floor, "w1")
    assert "Requeue 1 ValidationError…" in text(operator)
    assert "Requeue 1" not in text(viewer)


def test_only_an_admin_switches_a_strategy_and_the_audit_keeps_both_values(
    floor: Floor, admin: Person, operator: Person
) -> None:
    floor.kind("job", strategy="round_robin")
    assert operator.post("switch_strategy", kind="job").status_code == 403
    assert "Switch to capable least loaded?" in admin.text("switch_strategy", kind="job")
    assert Kind.objects.get(name="job").strategy == "round_robin", "to look changes nothing"
    response = admin.post("switch_strategy", kind="job", because="w1 is pinned")
    assert "handed out by capable least loaded" in message_of(response)
    assert Kind.objects.get(name="job").strategy == StrategyName.CAPABLE_LEAST_LOADED
    entry = AuditEntry.objects.get()
    assert (entry.subject, entry.reason) == ("job", "w1 is pinned")
    assert "Nothing changed" in message_of(admin.post("switch_strategy", kind="job"))
    assert admin.get("switch_strategy", kind="nothing").status_code == 404


def test_the_moment_under_a_cross_hair_lists_what_was_unfinished_then(
    floor: Floor, viewer: Person
) -> None:
    floor.worker("w1")
    (ended,) = floor.submit(1)
    floor.round()
    floor.complete("w1", floor.claim("w1")[0])
    (waits,) = floor.submit(1)
    # An id tells when its task was made, so only the end is moved.
    Task.objects.filter(id=ended).update(finished_at=F("created_at") + timedelta(hours=1))

    def at(hours: float) -> set[str]:
        moment = f"{datetime.now(tz=UTC) + timedelta(hours=hours):%Y-%m-%dT%H:%M:%S}"
        query = f"created:<={moment} -ended:<{moment}"
        return {str(row.id) for row in viewer.get("tasks", q=query).context["page"].rows}

    assert at(0.5) == {str(ended), str(waits)}
    assert at(2) == {str(waits)}
    assert at(-1) == set()
