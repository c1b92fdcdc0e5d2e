"""Forms of configuration: what a change would do, who made it, and how it is taken back."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.test import Client
from django.utils import timezone

from tasks_app.core.states import Outcome
from tasks_app.models import (
    Attempt,
    AuditEntry,
    Kind,
    Limit,
    RetentionSettings,
    SupervisorSettings,
    Task,
)
from tests.admin.conftest import kind_form
from tests.floor import Floor
from tests.pages import page
from tests.web.conftest import died

KIND = "/admin/tasks_app/kind/job"
SUPERVISOR = "/admin/tasks_app/supervisorsettings/1"


def test_a_preview_tells_what_a_change_would_do_and_changes_nothing(
    floor: Floor, admin: Client
) -> None:
    floor.kind()
    floor.worker("w1", slots=4)
    floor.submit(4)
    floor.round()
    grants = floor.claim("w1")
    floor.started_ago(grants[0], 20)
    for grant in grants:
        floor.complete("w1", grant)
    form = kind_form(timeout_seconds="15", strategy="round_robin", _preview="Preview")
    told = page(admin.post(f"{KIND}/change/", form))
    assert "25 % of the 4 attempts ran longer and would have been stopped" in told
    assert "tasks that ran last would go to w1 4" in told
    assert "Nothing is saved yet" in told
    assert 'value="15"' in told, "the form keeps what was typed"
    kind = Kind.objects.get()
    assert (kind.timeout_seconds, kind.strategy) == (900.0, "")
    assert not AuditEntry.objects.exists()


def test_a_preview_of_retention_tells_what_would_go_for_good(floor: Floor, admin: Client) -> None:
    floor.worker("w1", slots=4)
    floor.submit(4)
    floor.round()
    for grant in floor.claim("w1"):
        floor.complete("w1", grant)
    Task.objects.update(finished_at=timezone.now() - timedelta(days=31))
    place = "/admin/tasks_app/retentionsettings/1/change/"
    told = page(admin.post(place, {"completed_days": "30", "_preview": "Preview"}))
    assert "30 days for completed: 4 tasks older than that go" in told
    assert "None of it comes back" in told
    assert not AuditEntry.objects.exists()
    admin.post(place, {"completed_days": "30", "_reason": "disk"})
    assert RetentionSettings.objects.get().completed_days == 30
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("change retention", "disk")
    told = page(admin.post(place, {"completed_days": "0", "_preview": "Preview"}))
    assert "greater than or equal to 1" in told
    told = page(admin.post(place, {"completed_days": "3000000", "_preview": "Preview"}))
    assert "less than or equal to 36500" in told


def test_a_preview_of_wrong_values_tells_the_faults(floor: Floor, admin: Client) -> None:
    floor.kind()
    told = page(admin.post(f"{KIND}/change/", kind_form(timeout_seconds="0", _preview="Preview")))
    assert "greater than or equal to" in told
    assert "What this change would do" not in told
    told = page(
        admin.post(f"{KIND}/change/", kind_form(timeout_seconds="1" + "0" * 15, _preview="x"))
    )
    assert "less than or equal to 31622400" in told
    assert "What this change would do" not in told


def test_a_preview_looks_at_a_bounded_number_of_attempts(
    floor: Floor, admin: Client, django_assert_max_num_queries: Any
) -> None:
    floor.kind()
    (task,) = floor.submit(1)
    worker = floor.worker("w1")
    now = floor.task(task).created_at
    Attempt.objects.bulk_create(
        Attempt(
            token=10**6 + n,
            task_id=task,
            kind="job",
            worker_id=worker,
            number=1,
            assigned_at=now,
            started_at=now,
            outcome=Outcome.COMPLETED,
        )
        for n in range(12_000)
    )
    with django_assert_max_num_queries(36):
        told = page(admin.post(f"{KIND}/change/", kind_form(timeout_seconds="5", _preview="x")))
    assert "the 10,000 attempts" in told


def test_the_history_shows_before_and_after_and_a_revert_is_a_change_of_its_own(
    floor: Floor, admin: Client
) -> None:
    floor.kind()
    admin.post(f"{KIND}/change/", kind_form(timeout_seconds="15", _reason="hangs"))
    admin.post(f"{KIND}/change/", kind_form(timeout_seconds="15", max_attempts="5"))
    first = AuditEntry.objects.order_by("id")[0]
    told = page(admin.get(f"{KIND}/history/"))
    assert "timeout_seconds: <code>900.0</code> → <code>15.0</code>" in told
    assert "hangs" in told
    address = f"/admin/tasks_app/kind/revert/{first.pk}/"
    shown = page(admin.get(address))
    assert "kinds.job.timeout_seconds: 15.0 -&gt; 900.0" in shown
    admin.post(address, {"_reason": "it was the network"})
    kind = Kind.objects.get()
    assert (kind.timeout_seconds, kind.max_attempts) == (900.0, 5), "later changes stay"
    last = AuditEntry.objects.order_by("-id")[0]
    assert (last.action, last.reason) == ("change kind", "it was the network")
    assert (last.before, last.after) == ({"timeout_seconds": 15.0}, {"timeout_seconds": 900.0})
    assert last.detail == {"reverts": first.pk}
    admin.post(address)
    assert AuditEntry.objects.count() == 3, "a second time there is nothing to take back"


def test_a_revert_whose_values_are_no_longer_right_is_refused(floor: Floor, admin: Client) -> None:
    Limit.objects.create(name="mail", max_concurrent=1)
    floor.kind(limit_id="mail")
    admin.post(f"{KIND}/change/", kind_form(limit=""))
    entry = AuditEntry.objects.get()
    Limit.objects.all().delete()
    answer = admin.post(f"/admin/tasks_app/kind/revert/{entry.pk}/")
    assert answer.status_code == 422
    assert "there is no limit &#x27;mail&#x27;" in page(answer)
    assert Kind.objects.get().limit_id is None


def test_a_deleted_limit_comes_back_by_a_revert(admin: Client) -> None:
    Limit.objects.create(name="mail", max_concurrent=3)
    admin.post("/admin/tasks_app/limit/mail/delete/", {"post": "yes"})
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.after) == ("delete limit", None)
    admin.post(f"/admin/tasks_app/limit/revert/{entry.pk}/")
    assert Limit.objects.get().max_concurrent == 3


def test_the_supervisors_settings_are_previewed_and_taken_back(floor: Floor, admin: Client) -> None:
    floor.kind()
    floor.worker("w1")
    floor.worker("w2")
    floor.submit(4)
    form = admin.get(f"{SUPERVISOR}/change/").context["adminform"].form
    data = {name: "" if value is None else value for name, value in form.initial.items()}
    data |= {"stale_after_seconds": "20", "default_strategy": "round_robin"}
    told = page(admin.post(f"{SUPERVISOR}/change/", {**data, "_preview": "Preview"}))
    assert "stale after 20 s: of 2 workers 0 are silent for longer" in told
    assert "is 2.0 heartbeats" in told
    assert "the 4 tasks that are ready would go to w1 2, w2 2" in told
    assert admin.post(f"{SUPERVISOR}/change/", data).status_code == 302
    entry = AuditEntry.objects.get()
    assert entry.before == {
        "default_strategy": "capable_least_loaded",
        "stale_after_seconds": 90.0,
    }
    admin.post(f"/admin/tasks_app/supervisorsettings/revert/{entry.pk}/")
    assert SupervisorSettings.objects.get().stale_after_seconds == 90.0


def test_a_bound_of_poison_is_previewed_by_the_tasks_that_took_workers_down(
    floor: Floor, admin: Client
) -> None:
    floor.kind(poison_after=9)
    tasks = floor.submit(3)
    now = floor.task(tasks[0]).created_at
    lost = [(0, 1), (0, 2), (1, 1), (1, 1), (2, 3)]
    Attempt.objects.bulk_create(
        Attempt(
            token=10**6 + number,
            task_id=tasks[task],
            kind="job",
            worker_id=UUID(int=worker),
            number=1,
            assigned_at=now,
            started_at=now,
            outcome=Outcome.WORKER_LOST,
        )
        for number, (task, worker) in enumerate(lost)
    )
    form = kind_form(poison_after="2", _preview="Preview")
    told = page(admin.post(f"{KIND}/change/", form))
    assert "poison after 2: 1 of the 3 tasks that took workers down within a day" in told


def test_a_payload_schema_is_held_against_the_latest_payloads(floor: Floor, admin: Client) -> None:
    floor.kind()
    floor.submit(3)
    (other,) = floor.submit(1)
    Task.objects.filter(id=other).update(payload={"to": "Ada"})
    floor.submit(2, kind="another")
    wants = '{"type": "object", "required": ["to"]}'
    form = kind_form(payload_schema=wants, _preview="Preview")
    told = page(admin.post(f"{KIND}/change/", form))
    assert (
        "payload schema: 3 of the latest 4 payloads would be refused, the latest: payload:" in told
    )
    form = kind_form(payload_schema='{"type": "object"}', _preview="Preview")
    assert "it would refuse none of the latest 4" in page(admin.post(f"{KIND}/change/", form))
    Task.objects.all().delete()
    told = page(admin.post(f"{KIND}/change/", form))
    assert "no task of this kind was submitted lately" in told


def test_a_limits_breaker_is_previewed_by_the_failures_of_its_kinds(
    floor: Floor, admin: Client
) -> None:
    Limit.objects.create(name="mail")
    floor.kind(limit_id="mail")
    floor.worker("w1", slots=4, skills={"job": 1, "free": 1})
    for kind in ("job", "job", "free"):
        died(floor, "w1", kind=kind)
    path = "/admin/tasks_app/limit/mail/change/"
    form = admin.get(path).context["adminform"].form
    data = {name: "" if value is None else value for name, value in form.initial.items()}
    data |= {"breaker_failures": "2", "_preview": "Preview"}
    told = page(admin.post(path, data))
    assert "by the 0 failures lately it would have opened 0 times" in told, "both were permanent"
    told = page(admin.post(path, {**data, "breaker_counts_permanent": "on"}))
    assert "by the 2 failures lately it would have opened once" in told


def test_what_the_supervisor_does_next_is_previewed_by_the_record(
    floor: Floor, admin: Client
) -> None:
    floor.worker("w1", slots=2)
    floor.submit(4)
    floor.round()
    floor.claim("w1", 2)
    form = admin.get(f"{SUPERVISOR}/change/").context["adminform"].form
    data = {name: "" if value is None else value for name, value in form.initial.items()}
    data |= {"backlog": "0", "tick_seconds": "0.5", "quarantine_after": "1", "_preview": "x"}
    told = page(admin.post(f"{SUPERVISOR}/change/", data))
    assert "backlog 0: 1 worker with 2 slots may hold 0 tasks beyond those (now 2)" in told
    assert "they hold 2 beyond them, and have not begun 2 of their 4" in told
    assert "a quiet supervisor makes 7,200 rounds an hour (now 3,600)" in told
    assert "quarantine after 1 in 60 min: by the 0 poison tasks" in told


def test_looking_at_a_revert_takes_nothing_back(floor: Floor, admin: Client) -> None:
    floor.kind()
    admin.post(f"{KIND}/change/", kind_form(paused="on"))
    entry = AuditEntry.objects.get()
    answer = admin.get(f"/admin/tasks_app/kind/revert/{entry.pk}/")
    assert answer.status_code == 200
    assert "ago." not in answer.content.decode(), "no script counts in the admin"
    assert Kind.objects.get().paused
    assert admin.get("/admin/tasks_app/kind/revert/999999/").status_code == 404
    assert admin.get(f"/admin/tasks_app/limit/revert/{entry.pk}/").status_code == 404


def test_a_threshold_of_alerts_is_previewed_and_in_force_at_once(
    floor: Floor, admin: Client
) -> None:
    floor.submit(1)
    floor.round()
    path = "/admin/tasks_app/alertsettings/1/change/"
    form = {
        "dead_at_least": "5",
        "oldest_seconds": "0",
        "pinned_seconds": "0",
        "snapshot_seconds": "60",
    }
    told = page(admin.post(path, {**form, "_preview": "Preview"}))
    assert "there are 0 dead letters, so the alert would not stand now" in told
    assert "so the alert would stand now" in told
    assert "The oldest task has waited" not in page(admin.get("/"))
    admin.post(path, form)
    assert "The oldest task has waited" in page(admin.get("/"))
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.before) == (
        "change alert thresholds",
        {"dead_at_least": 1, "oldest_seconds": None},
    )
