"""One's own account: the password, its reset by a signed link, the log-ins, the lock."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone

from tasks_app.models import AuditEntry
from tests.waiting import wait_for
from tests.web.conftest import Person, message_of

OLD, NEW = "made-up-for-tests", "another made-up one"


def page(answer: Any) -> str:
    return str(answer.content.decode())


@pytest.fixture
def vera(viewer: Person) -> Person:
    """A viewer with an address for mail."""
    viewer.user.email = "vera@example.org"
    viewer.user.save()
    return viewer


def can_log_in(name: str, password: str) -> bool:
    answer = Client().post("/login/", {"username": name, "password": password})
    return bool(answer.status_code == 302)


def test_the_account_tells_role_and_rights(vera: Person, operator: Person) -> None:
    assert "viewer" in vera.text("account")
    assert "masked" in vera.text("account")
    assert "API tokens" not in operator.text("account")


def test_a_new_password_ends_all_other_log_ins_and_is_audited(vera: Person) -> None:
    elsewhere = Client()
    elsewhere.force_login(vera.user)
    form: dict[str, Any] = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert "password is changed" in message_of(vera.post("change_password", **form))
    assert can_log_in("vera", NEW)
    assert vera.get("account").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action) == ("vera", "change password")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"old_password": "wrong"}, "was entered incorrectly"),
        ({"new_password2": "other"}, "password fields"),
        ({"new_password1": "12345", "new_password2": "12345"}, "too short"),
        (
            {"new_password1": "Chargehand-Admin1!", "new_password2": "Chargehand-Admin1!"},
            "everybody",
        ),
        ({"new_password1": "vera@example.org", "new_password2": "vera@example.org"}, "similar"),
    ],
)
def test_a_bad_new_password_is_refused_with_its_reason(
    vera: Person, changed: dict[str, str], said: str
) -> None:
    form: dict[str, Any] = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    form |= changed
    assert said in page(vera.post("change_password", **form))
    assert can_log_in("vera", OLD)


def link_of(message: Any) -> str:
    found = re.search(r"http://testserver(/password/reset/\S+)", message.body)
    assert found, message.body
    return found[1]


def ask(email: str) -> Any:
    return Client().post("/password/reset/", {"email": email})


def test_a_forgotten_password_is_set_anew_by_a_link_that_works_once(vera: Person) -> None:
    assert ask("vera@example.org").headers["Location"] == "/password/reset/sent/"
    wait_for(lambda: bool(mail.outbox), "the mail")
    link = link_of(mail.outbox[0])
    visitor = Client()
    form = visitor.get(link, follow=True)
    assert "Set a new password" in page(form)
    address = form.redirect_chain[-1][0]
    done = visitor.post(address, {"new_password1": NEW, "new_password2": NEW}, follow=True)
    assert "Your password is set" in page(done)
    assert can_log_in("vera", NEW)
    assert "does not work" in page(Client().get(link, follow=True))
    assert AuditEntry.objects.get().action == "reset password"


def test_nobody_learns_whether_an_address_has_an_account(vera: Person) -> None:
    known, unknown = ask("vera@example.org"), ask("nobody@example.org")
    assert (known.status_code, known.headers["Location"]) == (
        unknown.status_code,
        unknown.headers["Location"],
    )
    wait_for(lambda: bool(mail.outbox), "the mail")
    assert [message.to for message in mail.outbox] == [["vera@example.org"]]


def test_links_are_not_sent_without_end(vera: Person) -> None:
    for _ in range(9):
        assert ask("vera@example.org").status_code == 302
    wait_for(lambda: len(mail.outbox) == 5, "five mails")
    assert len(mail.outbox) == 5


def test_a_link_of_yesterday_does_not_work(vera: Person, monkeypatch: Any) -> None:
    ask("vera@example.org")
    wait_for(lambda: bool(mail.outbox), "the mail")
    monkeypatch.setattr(settings, "PASSWORD_RESET_TIMEOUT", -1)
    assert "does not work" in page(Client().get(link_of(mail.outbox[0]), follow=True))


def test_other_log_ins_are_listed_and_ended(vera: Person) -> None:
    elsewhere, otto = Client(), Client()
    elsewhere.force_login(vera.user)
    otto.force_login(User.objects.create_user("otto"))
    shown = vera.text("account")
    assert (shown.count("This browser"), shown.count("Another browser")) == (1, 1)
    assert "1 other log-in ended" in message_of(vera.post("log_out_elsewhere"))
    assert elsewhere.get("/account/").status_code == 302
    assert vera.get("account").status_code == 200
    assert otto.get("/account/").status_code == 200
    assert AuditEntry.objects.get().action == "log out elsewhere"


def test_a_log_in_clears_expired_ones_away(vera: Person) -> None:
    Session.objects.create(
        session_key="old", session_data="x", expire_date=timezone.now() - timedelta(days=1)
    )
    assert can_log_in("vera", OLD)
    assert not Session.objects.filter(session_key="old").exists()


def test_the_cookie_is_hidden_from_scripts_and_other_sites_and_ends(vera: Person) -> None:
    answer = Client().post("/login/", {"username": "vera", "password": OLD})
    cookie = answer.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert int(cookie["max-age"]) == 12 * 3600


def test_a_log_in_gets_a_new_session(vera: Person) -> None:
    """A key planted before the log-in is worth nothing after it."""
    client = Client()
    client.get("/login/")
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.post("/login/", {"username": "vera", "password": OLD})
    assert client.session.session_key != planted


def test_wrong_passwords_lock_the_name_from_that_address_only(vera: Person) -> None:
    attacker, name = Client(REMOTE_ADDR="10.9.9.9"), {"username": "vera"}
    for _ in range(8):
        attacker.post("/login/", {**name, "password": "wrong"})
    locked = attacker.post("/login/", {**name, "password": OLD})
    assert locked.status_code == 429
    assert "Too many attempts" in page(locked)
    assert can_log_in("vera", OLD), "from her own address she comes in"


def test_the_log_in_says_the_same_for_a_wrong_name_and_a_wrong_password(vera: Person) -> None:
    answers = [
        page(Client().post("/login/", {"username": name, "password": "wrong"}))
        for name in ("vera", "nobody")
    ]
    alerts = [re.search(r'role="alert">(.*?)</div>', answer, re.DOTALL) for answer in answers]
    said = [found[1] for found in alerts if found]
    assert len(said) == 2
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "target",
    ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", "/\\elsewhere"],
)
def test_a_log_in_leads_nowhere_else(vera: Person, target: str) -> None:
    form = {"username": "vera", "password": OLD, "next": target}
    assert Client().post("/login/", form).headers["Location"] == "/"


def test_a_log_out_ends_the_session_and_has_the_browser_forget_its_pages(vera: Person) -> None:
    stolen = vera.client.cookies["sessionid"].value
    answer = vera.client.post("/logout/")
    assert answer.headers["Clear-Site-Data"] == '"cache"'
    thief = Client()
    thief.cookies["sessionid"] = stolen
    assert thief.get("/account/").status_code == 302
