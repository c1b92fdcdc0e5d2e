"""The admin: secrets are not found by filters, and no record of log-ins goes without a trace."""

from collections.abc import Iterator
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Field, Model
from django.test import Client

from tasks_app.models import AlertChannel, ApiToken, AuditEntry
from tests.attacks.conftest import Hashes
from tests.floor import Floor

SECRET = ("password", "secret", "digest", "session", "token", "totp", "key", "payload", "result")
"""Words in the names of fields that hold what nobody may find out."""

LOOK_UPS = (
    "",
    "__startswith",
    "__istartswith",
    "__contains",
    "__regex",
    "__gt",
    "__in",
    "__isnull",
)
DEEPEST = 3


@pytest.fixture
def root(floor: Floor, hashes: Hashes) -> Client:
    """A superuser on a site with a secret of each sort."""
    client = Client()
    user = User.objects.create_superuser("root", password="a long enough passphrase")
    user.groups.add(Group.objects.get_or_create(name="admin")[0])
    client.force_login(user)
    AlertChannel.objects.create(name="hook", kind="webhook", address="x", secret="s3cret-s3cret")
    ApiToken.objects.create(name="one", prefix="0123456789ab", digest="d" * 64, user=user)
    return client


def fields_from(model: type[Model], path: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Each field that a look-up reaches from a model over its relations, back ones too."""
    for field in model._meta.get_fields():
        name = f"{path}{field.name}"
        yield name, field
        if field.is_relation and field.related_model and depth < DEEPEST:
            yield from fields_from(field.related_model, f"{name}__", depth + 1)


def secrets_of(model: type[Model]) -> set[str]:
    return {
        path
        for path, field in fields_from(model)
        if isinstance(field, Field) and any(word in field.name for word in SECRET)
    }


REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)


def test_there_are_secrets_to_look_for() -> None:
    assert "secret" in secrets_of(AlertChannel)
    assert {"digest", "user__password"} <= secrets_of(ApiToken)
    assert {"password", "apitoken__digest"} <= secrets_of(User)


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.model_name)
def test_no_list_of_the_admin_finds_by_a_secret(root: Client, model: type[Model]) -> None:
    place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    one_row = root.get(place).status_code == 302
    for path in sorted(secrets_of(model)):
        for end in LOOK_UPS:
            answer = root.get(place, {f"{path}{end}": "1"})
            wanted = {302} if one_row else {400}
            assert answer.status_code in wanted, f"{place}?{path}{end}: {answer.status_code}"


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.model_name)
def test_no_page_of_the_admin_offers_a_secret(root: Client, model: type[Model]) -> None:
    page = admin.site.get_model_admin(model)
    request: Any = root.get("/admin/").wsgi_request
    offered = [
        *page.get_list_display(request),
        *page.get_list_filter(request),
        *page.get_search_fields(request),
        *(page.get_ordering(request) or ()),
        page.date_hierarchy,
    ]
    assert not secrets_of(model) & {str(each).lstrip("-^=@") for each in offered}
    place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    for path in sorted(secrets_of(model)):
        if "__" not in path:
            answer = root.get(place, {"_to_field": path, "_popup": "1"})
            assert answer.status_code in (302, 400), path


def test_a_filter_that_a_page_shows_still_works(root: Client) -> None:
    group = Group.objects.get(name="admin")
    for place, query, found in (
        ("auth/user", {"groups__id__exact": str(group.pk)}, "root"),
        ("auth/user", {"is_active__exact": "1"}, "root"),
        ("auth/user", {"q": "root"}, "root"),
        ("auth/user", {"o": "-1"}, "root"),
        ("tasks_app/apitoken", {"q": "one"}, "0123456789ab"),
    ):
        answer = root.get(f"/admin/{place}/", query)
        assert answer.status_code == 200, query
        assert found in answer.content.decode(), query


@pytest.mark.parametrize("wanted", ["groups__user__password__startswith", "groups__name", "email"])
def test_what_a_page_does_not_offer_is_refused(root: Client, wanted: str) -> None:
    assert root.get("/admin/auth/user/", {wanted: "a"}).status_code == 400


RECORDS = [model for model in REGISTERED if model._meta.app_label == "axes"]


@pytest.mark.parametrize("model", [*RECORDS, AuditEntry, ApiToken], ids=lambda m: m.__name__)
def test_no_admin_deletes_or_changes_a_record(root: Client, model: type[Model]) -> None:
    assert RECORDS
    seen = {"username": "vera", "user_agent": "x", "ip_address": "203.0.113.9"}
    AccessLog.objects.create(**seen)
    AccessAttempt.objects.create(**seen, failures_since_start=8)
    root.post("/admin/auth/group/add/", {"name": "new"})
    entry = model._default_manager.all()[0]
    place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    assert root.get(f"{place}{entry.pk}/change/").status_code == 200
    assert root.post(f"{place}{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert root.post(f"{place}{entry.pk}/change/", {"username": "x"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": entry.pk, "post": "yes"}
    root.post(place, action)
    assert model._default_manager.filter(pk=entry.pk).exists()


def test_the_end_of_a_lock_out_is_audited_with_what_was_counted(root: Client) -> None:
    stranger = Client(REMOTE_ADDR="203.0.113.9")
    for _ in range(8):
        locked = stranger.post("/login/", {"username": "vera", "password": "wrong"})
    assert (locked.status_code, locked.headers["Retry-After"]) == (429, "900")
    attempt = AccessAttempt.objects.get()
    action = {"action": "unlock", "_selected_action": attempt.pk}
    answer = root.post("/admin/axes/accessattempt/", action, follow=True)
    assert "1 lock-out ended" in answer.content.decode()
    assert not AccessAttempt.objects.exists()
    entry = AuditEntry.objects.get(action="end lock-out")
    assert (entry.actor, entry.subject) == ("root", "vera")
    assert entry.detail["ended"] == [{"name": "vera", "network": "203.0.113.9", "wrong": 8}]
