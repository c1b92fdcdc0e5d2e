"""Previews in the admin that ask the record: of limits, the queue, results and alerts."""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.test import Client
from django.utils import timezone

from tasks_app.core.alerts.notification import Event
from tasks_app.models import AlertChannel, AlertDelivery, AlertRule, Attempt, Limit, Sample, Task
from tests.admin.conftest import kind_form
from tests.floor import Floor

KIND = "/admin/tasks_app/kind/job/change/"
SUPERVISOR = "/admin/tasks_app/supervisorsettings/1/change/"
ALERTS = "/admin/tasks_app/alertsettings/1/change/"


def preview(admin: Client, path: str, **changes: str) -> str:
    """What a preview says of these changes; the rest of the form is as it stands."""
    form = admin.get(path).context["adminform"].form
    data = {name: "" if value is None else value for name, value in form.initial.items()}
    answer = admin.post(path, {**data, **changes, "_preview": "Preview"})
    assert "Nothing is saved yet" in answer.content.decode()
    return "\n".join(answer.context["preview"].said)


def test_a_limit_for_a_kind_is_previewed_by_what_its_kinds_hold_and_held(
    floor: Floor, admin: Client
) -> None:
    Limit.objects.create(name="mail", max_concurrent=2)
    floor.kind()
    floor.kind("letter", limit_id="mail")
    floor.worker("w1", slots=9, skills={"job": 1.0, "letter": 1.0})
    floor.submit(3)
    floor.round()
    for grant in floor.claim("w1"):
        floor.complete("w1", grant)
    Attempt.objects.update(assigned_at=F("ended_at") - timedelta(seconds=9))
    floor.submit(1)
    floor.submit(2, kind="letter")
    floor.round()

    def told(limit: str) -> str:
        form = kind_form(limit=limit, _preview="Preview")
        return "\n".join(admin.post(KIND, form).context["preview"].said)

    said = told("mail")
    assert "its kinds hold 2 now, this one holds 1, so 1 must end before anything starts" in said
    assert "Of the 3 attempts of the last day 1 would have waited for it" in said
    floor.kind(limit_id="mail")
    assert "limit: none; only its workers bound it, which hold 1 of it now" in told("")


def test_a_result_schema_is_held_against_the_results_of_a_day(floor: Floor, admin: Client) -> None:
    floor.kind()
    floor.worker("w1", slots=9)
    tasks = floor.submit(3)
    floor.round()
    for number, grant in enumerate(floor.claim("w1")):
        floor.complete("w1", grant, {"approved": True} if number else {"why": "no"})
    wants = '{"type": "object", "required": ["approved"]}'
    form = kind_form(result_schema=wants, _preview="Preview")
    said = "\n".join(admin.post(KIND, form).context["preview"].said)
    assert "1 of 3 results of the last day would not have been taken, the latest: result:" in said
    assert "'approved' is a required property" in said
    Task.objects.filter(id__in=tasks).update(finished_at=timezone.now() - timedelta(days=2))
    assert "no task of this kind got a result within a day" in (
        "\n".join(admin.post(KIND, form).context["preview"].said)
    )


def test_how_far_the_supervisor_looks_is_previewed_by_the_queue(
    floor: Floor, admin: Client
) -> None:
    floor.kind()
    floor.submit(3)
    floor.submit(1, priority=2)
    told = preview(admin, SUPERVISOR, window="3", priority_head_start_seconds="0")
    assert "window 3: of 4 ready tasks a round would not look at 1 (now 0)" in told
    assert "stands ahead of 0 of 4 ready tasks (now 3)" in told
    assert "Of the latest 4 tasks 1 has a priority other than 0" in told


def test_what_nobody_can_do_is_previewed_by_who_ever_could(floor: Floor, admin: Client) -> None:
    floor.worker("w1")
    floor.submit(1)
    floor.submit(2, kind="fax")
    Task.objects.update(run_at=timezone.now() - timedelta(hours=2))
    told = preview(admin, SUPERVISOR, unroutable_grace_seconds="3600")
    assert "of 2 ready tasks that no worker ever could do, 2 are dead at once (now 0)" in told
    assert "kinds: fax." in told
    floor.settings(unroutable_grace_seconds=3600)
    floor.round()
    told = preview(admin, SUPERVISOR, unroutable_grace_seconds="60")
    assert "2 dead letters of the last day are there for it" in told


def test_a_grace_of_timeouts_is_previewed_by_what_ran_past_them(
    floor: Floor, admin: Client
) -> None:
    floor.kind(timeout_seconds=5)
    floor.worker("w1", slots=3)
    floor.submit(3)
    floor.round()
    first, second, third = floor.claim("w1")
    for grant, seconds in ((first, 5), (second, 12), (third, 9)):
        floor.started_ago(grant, seconds)
    for grant in (first, second):
        floor.fail("w1", grant, timed_out=True)
    told = preview(admin, SUPERVISOR, timeout_grace_seconds="3")
    assert "of 2 attempts stopped for their timeout within a day, 1 ran on for longer" in told
    assert "1 that is running now is past it" in told


def test_a_threshold_is_previewed_by_the_samples_of_thirty_days(
    floor: Floor, admin: Client
) -> None:
    now = timezone.now()
    for hours, dead in ((72, 5), (71, 0), (3, 5), (2, 0), (1, 3)):
        Sample.objects.create(
            resolution=60, at=now - timedelta(hours=hours), by_status={"DEAD": dead}
        )
    told = preview(admin, ALERTS, dead_at_least="4")
    assert "1 within a day (now 2), 2 in the 3 days on record (now 3)" in told
    assert "no worker is pinned now" in preview(admin, ALERTS, pinned_seconds="30")


def test_a_rule_is_previewed_by_what_was_sent(floor: Floor, admin: Client) -> None:
    now = timezone.now()
    for name in ("night", "day"):
        channel = AlertChannel.objects.create(name=name, address="a@example.org")
        for hours in (1, 2):
            AlertDelivery.objects.create(
                channel=channel,
                key="silent:w1",
                event=Event.BEGAN,
                began_at=now - timedelta(hours=hours),
                body={"alert": "silent"},
            )
    AlertRule.objects.get_or_create(name="silent")
    path = "/admin/tasks_app/alertrule/silent/change/"
    form: dict[str, Any] = {"repeat_minutes": "180", "_preview": "Preview"}
    said = "\n".join(admin.post(path, {**form, "sent": "on"}).context["preview"].said)
    assert "repeat after 3 h: of 2 messages within a week, 1 would not have been sent" in said
    off = "\n".join(admin.post(path, form).context["preview"].said)
    assert "2 messages of the last week would not have gone out" in off


def test_a_cap_is_previewed_by_the_attempts_of_a_day_under_it(floor: Floor, admin: Client) -> None:
    Limit.objects.create(name="mail")
    floor.kind(limit_id="mail")
    floor.worker("w1", slots=9, skills={"job": 1.0, "free": 1.0})
    floor.submit(3)
    floor.submit(2, kind="free")
    floor.round()
    for grant in floor.claim("w1"):
        floor.complete("w1", grant)
    Attempt.objects.update(assigned_at=F("ended_at") - timedelta(seconds=9))
    path = "/admin/tasks_app/limit/mail/change/"
    told = preview(admin, path, max_concurrent="2")
    assert "at most 2: 0 are in flight now." in told
    assert "Of the 3 attempts of the last day 1 would have waited for it" in told
    assert "None of the 3 attempts" in preview(admin, path, max_concurrent="3")
