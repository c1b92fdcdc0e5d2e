"""Forms of configuration: what somebody else saved meanwhile is never overwritten unseen."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db.models import Model
from django.test import Client

from tasks_app.core.alerts.notification import AlertName
from tasks_app.models import (
    AlertChannel,
    AlertRule,
    AlertSettings,
    AuditEntry,
    Kind,
    Limit,
    RetentionSettings,
    SupervisorSettings,
)
from tests.floor import Floor
from tests.pages import Inputs, page

ADMIN = "/admin/tasks_app"


def opened(client: Client, place: str) -> dict[str, Any]:
    """The form as a browser would send it untouched."""
    text = client.get(place).content.decode()
    form = re.search(r'<form[^>]*id="[a-z]+_form".*?</form>', text, re.DOTALL)
    assert form, text
    inputs = Inputs()
    inputs.feed(form.group())
    inputs.data.pop("csrfmiddlewaretoken", None)
    return inputs.data


@pytest.fixture
def other() -> Client:
    """Another admin, bea."""
    client = Client()
    client.force_login(User.objects.create_superuser("bea", password="x"))
    return client


def test_a_pause_and_a_change_by_others_are_not_undone_by_a_form_from_before(
    floor: Floor, admin: Client, other: Client
) -> None:
    floor.kind(payload_schema={"type": "object"}, permanent_errors=["HTTP 4xx"])
    place = f"{ADMIN}/kind/job/change/"
    form = opened(admin, place)
    call_command("pause", "kind", "job", "--reason", "disk")
    assert other.post(place, {**opened(other, place), "max_attempts": "6"}).status_code == 302
    answer = admin.post(place, {**form, "description": "letters"})
    assert answer.status_code == 409
    told = page(answer)
    assert "Nothing was saved" in told
    assert re.search(r"Max attempts: 3 → 6 \(bea, 20\d\d-", told)
    assert re.search(r"Paused: no → yes \([^)]+, 20\d\d-", told)
    kind = Kind.objects.get()
    assert (kind.paused, kind.max_attempts, kind.description) == (True, 6, "")
    again = {**form_of(answer), "_reason": "words"}
    assert again["description"] == ["letters"], "what was typed is kept"
    assert admin.post(place, again).status_code == 302
    kind = Kind.objects.get()
    assert (kind.paused, kind.max_attempts, kind.description) == (True, 6, "letters")
    entry = AuditEntry.objects.filter(action="change kind").latest("id")
    assert (entry.actor, entry.after) == ("root", {"description": "letters"})


def form_of(answer: Any) -> dict[str, Any]:
    """The form of a page as a browser would send it."""
    inputs = Inputs()
    inputs.feed(re.search(r"<form[^>]*_form\".*?</form>", answer.content.decode(), re.S).group())  # type: ignore[union-attr]
    return inputs.data


def test_a_setting_that_both_changed_is_told_and_the_own_value_kept(
    floor: Floor, admin: Client, other: Client
) -> None:
    floor.kind()
    place = f"{ADMIN}/kind/job/change/"
    form = opened(admin, place)
    other.post(place, {**opened(other, place), "max_attempts": "6"})
    answer = admin.post(place, {**form, "max_attempts": "9"})
    assert answer.status_code == 409
    assert "Changed meanwhile to 6. Your value is kept here and not saved." in page(answer)
    assert form_of(answer)["max_attempts"] == ["9"]
    assert admin.post(place, form_of(answer)).status_code == 302, "now that it was told"
    assert Kind.objects.get().max_attempts == 9


def test_the_same_change_by_two_is_no_fault_of_a_field(
    floor: Floor, admin: Client, other: Client
) -> None:
    floor.kind()
    place = f"{ADMIN}/kind/job/change/"
    form = opened(admin, place)
    other.post(place, {**opened(other, place), "timeout_seconds": "60"})
    answer = admin.post(place, {**form, "timeout_seconds": "60.0"})
    assert answer.status_code == 409
    assert "Changed meanwhile to" not in page(answer)


def _limit() -> str:
    Limit.objects.create(name="api", max_concurrent=3)
    return "limit/api"


def _channel() -> str:
    AlertChannel.objects.create(name="ops", address="a@example.org")
    return "alertchannel/ops"


def _rule() -> str:
    AlertRule.objects.get_or_create(name=AlertName.SILENT)
    return f"alertrule/{AlertName.SILENT}"


PLACES: dict[str, tuple[Callable[[], str], Callable[[], object]]] = {
    "limit": (_limit, lambda: Limit.objects.update(max_concurrent=7)),
    "supervisor": (
        lambda: "supervisorsettings/1",
        lambda: SupervisorSettings.objects.update(window=777),
    ),
    "alerts": (
        lambda: "alertsettings/1",
        lambda: AlertSettings.objects.update(**{_number(AlertSettings): 7}),
    ),
    "rule": (_rule, lambda: AlertRule.objects.update(repeat_minutes=7)),
    "channel": (_channel, lambda: AlertChannel.objects.update(address="b@example.org")),
    "retention": (
        lambda: "retentionsettings/1",
        lambda: RetentionSettings.objects.update(dead_days=7),
    ),
}


def _number(model: type[Model]) -> str:
    numbers = ("IntegerField", "FloatField", "PositiveIntegerField")
    fields = model._meta.concrete_fields
    return next(f.name for f in fields if f.get_internal_type() in numbers and not f.primary_key)


@pytest.mark.parametrize("name", PLACES)
def test_every_form_of_configuration_refuses_what_is_stale(
    record: None, admin: Client, name: str
) -> None:
    where, change = PLACES[name]
    place = f"{ADMIN}/{where()}/change/"
    untouched = opened(admin, place)
    assert "_seen" in untouched
    assert admin.post(place, untouched).status_code == 302, "nothing changed meanwhile"
    form = opened(admin, place)
    change()
    answer = admin.post(place, form)
    assert answer.status_code == 409
    assert "the audit does not say who" in page(answer)
    assert admin.post(place, form_of(answer)).status_code == 302


def test_the_rights_of_a_group_and_of_a_user_are_held_too(
    record: None, admin: Client, other: Client
) -> None:
    vera = User.objects.create_user("vera", password="x")
    group = Group.objects.create(name="night")
    place = f"/admin/auth/user/{vera.pk}/change/"
    form = opened(admin, place)
    other.post(place, {**opened(other, place), "groups": [str(group.pk)]})
    answer = admin.post(place, {**form, "email": "v@example.org"})
    assert answer.status_code == 409
    assert "(bea, 20" in page(answer)
    assert admin.post(place, form_of(answer)).status_code == 302
    vera.refresh_from_db()
    assert (vera.email, list(vera.groups.all())) == ("v@example.org", [group])
    place = f"/admin/auth/group/{group.pk}/change/"
    form = opened(admin, place)
    right = re.search(r'name="permissions" value="(\d+)"', other.get(place).content.decode())
    assert right
    other.post(place, {**opened(other, place), "permissions": [right[1]]})
    assert admin.post(place, form).status_code == 409
    assert group.permissions.count() == 1


def test_no_password_and_no_secret_is_in_what_a_form_carries(record: None, admin: Client) -> None:
    from django.core import signing

    from tasks_app.admin.stale import SALT

    vera = User.objects.create_user("vera", password="a-long-one")
    AlertChannel.objects.create(name="ops", address="a@example.org", secret="x" * 20)
    for place in (f"/admin/auth/user/{vera.pk}/change/", f"{ADMIN}/alertchannel/ops/change/"):
        carried = str(signing.loads(opened(admin, place)["_seen"][0], salt=SALT))
        assert vera.password not in carried
        assert "x" * 20 not in carried


def test_what_was_tampered_with_is_refused(floor: Floor, admin: Client) -> None:
    floor.kind()
    place = f"{ADMIN}/kind/job/change/"
    answer = admin.post(place, {**opened(admin, place), "_seen": "x", "max_attempts": "9"})
    assert "This form is out of date" in unescape(page(answer))
    assert Kind.objects.get().max_attempts == 3


def test_a_change_is_taken_back_as_it_was_shown_or_not_at_all(
    floor: Floor, admin: Client, other: Client
) -> None:
    floor.kind()
    place = f"{ADMIN}/kind/job/change/"
    admin.post(place, {**opened(admin, place), "max_attempts": "6", "timeout_seconds": "60"})
    revert = f"{ADMIN}/kind/revert/{AuditEntry.objects.get().pk}/"
    shown = re.search(r'name="_shown" value="(\w+)"', admin.get(revert).content.decode())
    assert shown
    other.post(place, {**opened(other, place), "max_attempts": "9"})
    answer = admin.post(revert, {"_shown": shown[1]})
    assert answer.status_code == 409
    assert "kinds.job.max_attempts: 9 -&gt; 3" in answer.content.decode()
    assert Kind.objects.get().max_attempts == 9
    shown = re.search(r'name="_shown" value="(\w+)"', answer.content.decode())
    assert shown
    assert admin.post(revert, {"_shown": shown[1]}).status_code == 302
    assert Kind.objects.get().max_attempts == 3
