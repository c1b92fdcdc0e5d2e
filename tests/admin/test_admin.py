"""The admin: what it refuses, and that a change is in force from the next round."""

import pytest
from django.test import Client

from tasks_app.models import ApiToken, AuditEntry, Kind, SupervisorSettings
from tests.admin.conftest import kind_form
from tests.floor import Floor


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("payload_schema", '{"type": "objekt"}', "No valid JSON Schema: at $.type"),
        ("payload_schema", "[1]", "a schema is an object"),
        ("result_schema", '{"type": "objekt"}', "No valid JSON Schema: at $.type"),
        ("payload_schema", '{"type":\n "object",}', "Not JSON at line 2"),
        ("payload_schema", '{"type": "object",\n "type": "array"}', "Not JSON at line 2: the key"),
        ("payload_schema", '{"default": NaN}', "NaN is no JSON number"),
        ("timeout_seconds", "1_0", "Give a number in plain decimal digits"),
        ("timeout_seconds", "1e2", "Give a number in plain decimal digits"),
        ("estimate_seconds", "nan", "Give a number in plain decimal digits"),
        ("max_attempts", "1_0", "Give a whole number in plain decimal digits"),
        (
            "max_attempts",
            "\uff13",
            "Give a whole number in plain decimal digits",
        ),
        ("max_attempts", "3.0", "Give a whole number in plain decimal digits"),
        ("payload_schema", '{"items": {"$ref": "http://other.example/"}}', "at $.items.$ref"),
        ("permanent_errors", "ValueError\nHTTP 4x", "Line 2: &#x27;HTTP 4x&#x27; is neither"),
        ("backoff_cap_seconds", "1", "Must be at least backoff_base_seconds (2)"),
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
    assert "Must be above heartbeat_seconds (10)" in answer.content.decode()


def test_the_leader_lease_outlasts_a_frozen_leader(admin: Client) -> None:
    page = admin.get("/admin/tasks_app/supervisorsettings/1/change/")
    form = page.context["adminform"].form
    data = {name: "" if value is None else value for name, value in form.initial.items()}
    url = "/admin/tasks_app/supervisorsettings/1/change/"
    answer = admin.post(url, {**data, "leader_lease_seconds": "5"})
    assert "cuts off a frozen leader" in answer.content.decode()
    assert SupervisorSettings.objects.get().leader_lease_seconds == 10


def test_a_change_of_configuration_stands_in_the_audit(floor: Floor, admin: Client) -> None:
    floor.kind()
    admin.post("/admin/tasks_app/kind/job/change/", kind_form(strategy="round_robin"))
    admin.post("/admin/tasks_app/kind/job/change/", kind_form(strategy="round_robin"))
    (entry,) = AuditEntry.objects.all()
    assert (entry.actor, entry.action, entry.subject) == ("root", "change kind", "job")
    assert (entry.before, entry.after) == ({"strategy": ""}, {"strategy": "round_robin"})


def test_error_lists_are_kept_as_typed_line_by_line(floor: Floor, admin: Client) -> None:
    floor.kind()
    form = kind_form(permanent_errors="ValueError\n\n  HTTP 409  \n")
    admin.post("/admin/tasks_app/kind/job/change/", form)
    assert Kind.objects.get().permanent_errors == ["ValueError", "HTTP 409"]
    page = admin.get("/admin/tasks_app/kind/job/change/").content.decode()
    assert "ValueError\nHTTP 409" in page


def test_a_kind_with_tasks_stays(floor: Floor, admin: Client) -> None:
    floor.submit()
    floor.kind("unused")
    assert admin.post("/admin/tasks_app/kind/job/delete/", {"post": "yes"}).status_code == 403
    admin.post("/admin/tasks_app/kind/unused/delete/", {"post": "yes"})
    assert list(Kind.objects.values_list("name", flat=True)) == ["job"]


def test_tokens_show_no_digest_and_are_revoked_not_edited(admin: Client) -> None:
    token = ApiToken.objects.create(name="ci", prefix="abc", digest="d" * 64)
    page = admin.get(f"/admin/tasks_app/apitoken/{token.pk}/change/").content.decode()
    assert "d" * 64 not in page
    form = {"action": "revoke", "_selected_action": [token.pk]}
    asked = admin.post("/admin/tasks_app/apitoken/", form).content.decode()
    token.refresh_from_db()
    assert "This cannot be undone" in asked
    assert token.revoked_at is None
    admin.post("/admin/tasks_app/apitoken/", {**form, "confirmed": "yes"})
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
