"""Users, groups and tokens in the admin: who may what, what the audit tells, what is shown once."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from tasks_app.models import ApiToken, AuditEntry
from tasks_app.services.people.people import Role, role_of
from tasks_app.services.people.tokens import verify
from tests.pages import page


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def root(record: None) -> Client:
    """A superuser."""
    for name in ("viewer", "operator", "admin"):
        Group.objects.get_or_create(name=name)
    return client_of(User.objects.create_superuser("root", "root@example.org", "x"))


@pytest.fixture
def ada(root: Client) -> Client:
    """An admin by her group, who is neither superuser nor staff."""
    user = User.objects.create_user("ada")
    user.groups.add(Group.objects.get(name="admin"))
    return client_of(user)


def user_form(user: User, *groups: str, **changes: Any) -> dict[str, Any]:
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    chosen = [Group.objects.get(name=name).pk for name in groups]
    return {"username": user.username, "is_active": "on", "groups": chosen, **joined, **changes}


def test_an_admin_by_group_configures_like_any_other(ada: Client) -> None:
    for path in ("", "tasks_app/kind/", "tasks_app/apitoken/", "auth/user/", "auth/group/"):
        assert ada.get(f"/admin/{path}").status_code == 200
    assert (
        ada.post(
            "/admin/tasks_app/limit/add/",
            {
                "name": "mail",
                "burst": "1",
                "breaker_window_seconds": "60",
                "breaker_open_seconds": "30",
            },
        ).status_code
        == 302
    )
    assert AuditEntry.objects.get().action == "add limit"


def test_a_role_is_given_by_a_group_and_audited(ada: Client) -> None:
    vera = User.objects.create_user("vera")
    path = f"/admin/auth/user/{vera.pk}/change/"
    assert ada.post(path, user_form(vera, "operator")).status_code == 302
    assert role_of(User.objects.get(pk=vera.pk)) is Role.OPERATOR
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.subject) == ("ada", "change user", "vera")
    assert (entry.before, entry.after) == ({"groups": []}, {"groups": ["operator"]})


def test_an_admin_makes_nobody_a_superuser_and_touches_none(ada: Client) -> None:
    vera, root = User.objects.create_user("vera"), User.objects.get(username="root")
    ada.post(f"/admin/auth/user/{vera.pk}/change/", user_form(vera, is_superuser="on"))
    assert not User.objects.get(pk=vera.pk).is_superuser
    assert ada.post(f"/admin/auth/user/{root.pk}/change/", user_form(root)).status_code == 403
    assert ada.post(f"/admin/auth/user/{root.pk}/delete/", {"post": "yes"}).status_code == 403
    passwords = {"password1": "a new long secret", "password2": "a new long secret"}
    assert ada.post(f"/admin/auth/user/{root.pk}/password/", passwords).status_code == 403
    assert User.objects.get(pk=root.pk).check_password("x")


def test_a_new_password_is_audited_by_its_fact_alone(root: Client) -> None:
    vera = User.objects.create_user("vera")
    passwords = {"password1": "a new long secret", "password2": "a new long secret"}
    root.post(f"/admin/auth/user/{vera.pk}/password/", passwords)
    assert User.objects.get(pk=vera.pk).check_password("a new long secret")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.after) == ("change user", {"password": "set anew"})
    assert "secret" not in str(AuditEntry.objects.values().get())


def test_a_right_is_given_to_a_group_audited_and_taken_back(root: Client) -> None:
    operator = Group.objects.get(name="operator")
    right = Permission.objects.get(codename="see_payloads")
    path = f"/admin/auth/group/{operator.pk}"
    shown = page(root.get(f"{path}/change/"))
    assert "May see payloads whole" in shown
    assert "Can add" not in shown, "roles stand for what Django makes by itself"
    root.post(f"{path}/change/", {"name": "operator", "permissions": [right.pk]})
    otto = User.objects.create_user("otto")
    otto.groups.add(operator)
    assert otto.has_perm("tasks_app.see_payloads")
    entry = AuditEntry.objects.get()
    assert entry.after == {"permissions": ["tasks_app.see_payloads"]}
    assert "see_payloads" in page(root.get(f"{path}/history/"))
    root.post(f"/admin/auth/group/revert/{entry.pk}/")
    assert not operator.permissions.exists()


def test_an_admin_does_not_see_payloads_by_that(ada: Client) -> None:
    # A new record gives the group this right; here it is the role alone.
    Group.objects.get(name="admin").permissions.clear()
    user = User.objects.get(username="ada")
    assert user.has_perm("tasks_app.change_kind")
    assert not user.has_perm("tasks_app.see_payloads")


def token_in(answer: Any) -> str:
    found = re.search(r"chg_[0-9a-f]{12}_[\w-]{43}", page(answer))
    assert found, page(answer)
    return found[0]


def test_a_token_is_made_shown_once_and_does_what_its_scopes_say(ada: Client) -> None:
    form = {"name": "nightly", "scopes": ["tasks:read", "operate"], "expires_days": "30"}
    text = token_in(ada.post("/admin/tasks_app/apitoken/add/", form))
    program = verify(text)
    assert program is not None
    assert program.scopes == {"tasks:read", "operate"}
    token = ApiToken.objects.get()
    for path in ("", f"{token.pk}/change/", "add/"):
        assert text not in page(ada.get(f"/admin/tasks_app/apitoken/{path}"))
    assert text not in str(AuditEntry.objects.values().get())


def test_a_token_without_name_or_scope_is_not_made(ada: Client) -> None:
    answer = ada.post("/admin/tasks_app/apitoken/add/", {"name": " ", "scopes": ["fly"]})
    assert answer.status_code == 422
    assert "not one of the available choices" in page(answer)
    assert not ApiToken.objects.exists()


def test_a_rotated_token_lives_beside_its_successor_and_there_is_no_third(ada: Client) -> None:
    form = {"name": "nightly", "scopes": ["tasks:read"]}
    first = token_in(ada.post("/admin/tasks_app/apitoken/add/", form))
    old = ApiToken.objects.get()
    path = f"/admin/tasks_app/apitoken/{old.pk}/rotate/"
    second = token_in(ada.post(path, {"grace_days": "7"}))
    assert verify(first) is not None
    assert verify(second) is not None
    assert verify(second).scopes == {"tasks:read"}  # type: ignore[union-attr]  # seen above
    old.refresh_from_db()
    assert old.expires_at is not None
    refused = ada.post(path, {"grace_days": "7"})
    assert "2 tokens of this name live already" in page(refused)
    assert ApiToken.objects.count() == 2


def test_a_right_is_previewed_by_who_would_gain_or_lose_it(root: Client) -> None:
    right = Permission.objects.get(codename="see_payloads")
    night, seers = Group.objects.create(name="night"), Group.objects.create(name="seers")
    seers.permissions.add(right)
    for name, groups in (("ann", [night]), ("bob", [night, seers]), ("cy", [seers])):
        User.objects.create_user(name).groups.set(groups)
    User.objects.create_user("gone", is_active=False).groups.add(night)

    def told(group: Group, *rights: int) -> Any:
        path = f"/admin/auth/group/{group.pk}/change/"
        answer = root.post(path, {"permissions": rights, "_preview": "Preview"})
        return list(answer.context["preview"].said)

    see = "tasks_app.see_payloads"
    assert told(night, right.pk) == [f"{see}: of 2 active people in this group 1 would gain it."]
    assert told(seers) == [f"{see}: of 2 active people in this group 2 would lose it."]
    assert not night.permissions.exists(), "nothing is saved"


def test_the_list_of_users_tells_the_role_in_force(root: Client) -> None:
    seers = Group.objects.create(name="seers")
    User.objects.create_user("ann").groups.add(seers)
    User.objects.create_user("bob", is_staff=True)
    listed = re.findall(r'field-roles">([^<]*)<', page(root.get("/admin/auth/user/")))
    assert listed == ["viewer, seers", "operator", "admin"], "ann, bob and the superuser"
