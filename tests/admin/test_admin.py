"""The admin: what it refuses, and that a change is in force from the next round."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tasks_app.models import ApiToken, AuditEntry, Kind, SupervisorSettings
from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit."""
    return Floor()


@pytest.fixture
def admin(record: None) -> Client:
    """Signed in as a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "x"))
    return client


def kind_form(**changes: Any) -> dict[str, Any]:
    """What the form of a kind sends."""
    return {
        "name": "job",
        "description": "",
        "strategy": "",
        "order": "fifo",
        "load": "seconds",
        "estimate_seconds": "1",
        "limit": "",
        "timeout_seconds": "900",
        "max_attempts": "3",
        "backoff_base_seconds": "2",
        "backoff_cap_seconds": "60",
        "backoff_jitter": "0.25",
        "retry_budget": "",
        "poison_after": "3",
        "permanent_errors": "[]",
        "retryable_errors": "[]",
        "breaker_failures": "",
        "breaker_window_seconds": "60",
        "breaker_open_seconds": "30",
        "payload_schema": "",
        **changes,
    }


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("payload_schema", '{"type": "objekt"}', "No valid JSON Schema: at type"),
        ("payload_schema", "[1]", "A JSON Schema is an object"),
        ("permanent_errors", '{"a": 1}', "Give a list of names in quotes"),
        ("permanent_errors", '["HTTP 4x"]', "neither a class name nor an HTTP status"),
        ("backoff_cap_seconds", "1", "below the first delay"),
        ("timeout_seconds", "0", "greater than or equal to"),
        ("max_attempts", "0", "greater than or equal to 1"),
    ],
)
def test_a_wrong_kind_is_refused_with_the_field_and_the_reason(
    admin: Client, field: str, value: str, said: str
) -> None:
    answer = admin.post("/admin/tasks_app/kind/add/", kind_form(**{field: value}))
    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    assert said in str(errors[field])
    assert not Kind.objects.exists()


def test_a_strategy_chosen_here_is_in_force_in_the_next_round(floor: Floor, admin: Client) -> None:
    floor.settings(backlog=None)
    floor.kind()
    for name in ("w1", "w2"):
        floor.worker(name, skills={"job": 2.0 if name == "w2" else 1.0})
    floor.submit(2)
    changed = admin.post("/admin/tasks_app/kind/job/change/", kind_form(strategy="capability"))
    assert changed.status_code == 302
    floor.round()
    assert [len(floor.claim(name)) for name in ("w1", "w2")] == [0, 2]


def test_there_is_always_exactly_one_row_of_settings(admin: Client) -> None:
    listed = admin.get("/admin/tasks_app/supervisorsettings/")
    assert listed.headers["Location"].endswith("/supervisorsettings/1/change/")
    assert admin.get("/admin/tasks_app/supervisorsettings/add/").status_code == 403
    assert admin.post("/admin/tasks_app/supervisorsettings/1/delete/").status_code == 403
    assert SupervisorSettings.objects.count() == 1


def test_stale_after_must_outlast_two_heartbeats(admin: Client) -> None:
    page = admin.get("/admin/tasks_app/supervisorsettings/1/change/")
    data = {
        name: "" if value is None else value
        for name, value in page.context["adminform"].form.initial.items()
    }
    answer = admin.post(
        "/admin/tasks_app/supervisorsettings/1/change/",
        {**data, "heartbeat_seconds": "10", "stale_after_seconds": "5"},
    )
    assert answer.status_code == 200
    assert "Stale after must be longer" in answer.content.decode()


def test_tokens_show_no_digest_and_are_revoked_not_edited(admin: Client) -> None:
    token = ApiToken.objects.create(name="ci", prefix="abc", digest="d" * 64)
    page = admin.get(f"/admin/tasks_app/apitoken/{token.pk}/change/").content.decode()
    assert "d" * 64 not in page
    admin.post("/admin/tasks_app/apitoken/", {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_the_audit_is_read_only(admin: Client) -> None:
    entry = AuditEntry.objects.create(actor="op", action="requeue", subject="t")
    assert admin.get("/admin/tasks_app/auditentry/").status_code == 200
    assert admin.get("/admin/tasks_app/auditentry/add/").status_code == 403
    assert admin.post(f"/admin/tasks_app/auditentry/{entry.pk}/delete/").status_code == 403
    assert AuditEntry.objects.count() >= 1


def test_a_name_that_tasks_refer_to_cannot_be_changed(floor: Floor, admin: Client) -> None:
    floor.submit()
    admin.post("/admin/tasks_app/kind/job/change/", kind_form(name="other"))
    assert list(Kind.objects.values_list("name", flat=True)) == ["job"]
