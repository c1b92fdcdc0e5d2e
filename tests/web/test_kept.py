"""What somebody typed is given back where its form could not be taken, and kept nowhere else."""

import json
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from tests.floor import Floor
from tests.pages import Inputs
from tests.web.conftest import Person

TYPED = 'Müller\'s "answer" <b>\nsecond line'
SAID = "What you typed was kept and has not been sent."
CREDENTIALS = {"username": "otto", "password": "made-up-for-tests"}
TASK = uuid4()

FORMS: dict[str, Callable[[], str]] = {
    "inbox": lambda: reverse("web:complete_step", args=[TASK]),
    "payload edit": lambda: reverse("web:edit_payload", args=[TASK]),
    "bulk reason": lambda: reverse("web:dismiss"),
    "saved search": lambda: reverse("web:save_search"),
    "kind": lambda: "/admin/tasks_app/kind/job/change/",
    "limit": lambda: "/admin/tasks_app/limit/add/",
    "channel": lambda: "/admin/tasks_app/alertchannel/add/",
    "retention": lambda: "/admin/tasks_app/retentionsettings/1/change/",
    "user": lambda: "/admin/auth/user/add/",
    "token": lambda: "/admin/tasks_app/apitoken/add/",
    "password": lambda: reverse("web:change_password"),
}


def forms_of(answer: Any) -> list[tuple[str, dict[str, list[str]]]]:
    """The forms of a page with their actions and what a browser would send of each."""
    found = []
    for form in re.findall(r"<form.*?</form>", answer.content.decode(), re.DOTALL):
        inputs = Inputs()
        inputs.feed(form)
        found.append((inputs.action, inputs.data))
    return found


def kept_in(answer: Any) -> tuple[str, dict[str, list[str]]]:
    """The form of a page that holds what was typed."""
    (found,) = [each for each in forms_of(answer) if "field.text" in each[1]]
    return found


@pytest.mark.parametrize("name", FORMS)
def test_a_log_in_that_expired_gives_the_text_back_after_it(operator: Person, name: str) -> None:
    action = FORMS[name]()
    sent = {"field.text": TYPED, "token": "7", "password1": "a-secret", "new_secret": "s3cr3t"}
    Session.objects.all().delete()
    page = "http://testserver/the-form/?a=1"
    answer = operator.client.post(action, sent, headers={"Referer": page})
    assert answer.status_code == 401
    assert "no-store" in answer["Cache-Control"]
    (log_in,) = [each for each in forms_of(answer) if "kept" in each[1]]
    assert log_in[0] == "/login/"
    assert "a-secret" not in answer.content.decode()
    assert "s3cr3t" not in answer.content.decode()
    wrong = operator.client.post(log_in[0], {**log_in[1], "username": "otto", "password": "no"})
    (log_in,) = [each for each in forms_of(wrong) if "kept" in each[1]]
    back = operator.client.post(log_in[0], {**log_in[1], **CREDENTIALS})
    assert back.status_code == 200
    assert SAID in back.content.decode()
    assert "Passwords and secrets are not kept" in back.content.decode()
    where, fields = kept_in(back)
    assert where == action
    assert fields["field.text"] == [TYPED.replace("\n", "\r\n")]
    assert fields["token"] == ["7"]
    assert 'data-page="/the-form/?a=1"' in back.content.decode()
    stored = [each.get_decoded() for each in Session.objects.all()]
    assert "answer" not in json.dumps(stored), "nothing typed is kept on the server"


def test_a_form_of_the_inbox_is_sent_after_the_log_in_with_what_was_typed(
    operator: Person,
) -> None:
    Session.objects.all().delete()
    action = reverse("web:save_search")
    answer = operator.client.post(action, {"name": "Nights", "q": "status:dead"})
    (log_in,) = [each for each in forms_of(answer) if "kept" in each[1]]
    back = operator.client.post(log_in[0], {**log_in[1], **CREDENTIALS})
    (again,) = [each for each in forms_of(back) if "name" in each[1]]
    assert operator.client.post(again[0], again[1]).status_code == 302
    assert "Nights" in operator.text("searches")


def test_who_logged_in_in_another_tab_gets_the_text_too(operator: Person) -> None:
    kept = {"action": reverse("web:save_search"), "page": "", "fields": [["field.text", TYPED]]}
    carried = json.dumps({**kept, "without_secrets": False})
    answer = operator.client.post("/login/", {**CREDENTIALS, "kept": carried})
    assert kept_in(answer)[1]["field.text"]


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:x"])
def test_what_is_carried_leads_nowhere_else(operator: Person, address: str) -> None:
    for changed in ({"action": address}, {"page": address}):
        kept = {"action": "/a/", "page": "/", "fields": [["x", "y"]], "without_secrets": False}
        answer = operator.client.post(
            "/login/", {**CREDENTIALS, "kept": json.dumps(kept | changed)}
        )
        assert answer.status_code == 302
        assert answer["Location"] == "/"


def test_a_token_from_before_another_log_in_gives_the_text_back(floor: Floor) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_user("otto", password="made-up-for-tests"))
    headers = {"Origin": "http://testserver", "Referer": "http://testserver/tasks/"}
    client.get(reverse("web:save_search"))
    sent = {"field.text": TYPED, "name": "Nights", "csrfmiddlewaretoken": "x" * 64}
    answer = client.post(reverse("web:save_search"), sent, headers=headers)
    assert answer.status_code == 403
    where, fields = kept_in(answer)
    assert where == reverse("web:save_search")
    answer = client.post(where, fields, headers=headers)
    assert answer.status_code == 302, "with the token of now it is taken"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Referer": "https://evil.example/form"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "null"},
    ],
)
def test_what_another_site_sent_is_not_given_back(floor: Floor, headers: dict[str, str]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_user("otto", password="made-up-for-tests"))
    answer = client.post(reverse("web:save_search"), {"name": "lure"}, headers=headers)
    assert answer.status_code == 403
    assert "lure" not in answer.content.decode()


@pytest.mark.parametrize(("error", "status"), [(OperationalError, 503), (RuntimeError, 500)])
def test_a_page_that_failed_gives_the_text_back(
    operator: Person, error: type[Exception], status: int
) -> None:
    operator.client.raise_request_exception = False
    with patch("tasks_app.web.pages.searches.services.save_search", side_effect=error("away")):
        answer = operator.post("save_search", follow=False, name="Nights", **{"field.text": TYPED})
    assert answer.status_code == status
    where, fields = kept_in(answer)
    assert fields["name"] == ["Nights"]
    assert operator.client.post(where, fields).status_code == 302


def test_a_part_that_htmx_posts_shows_the_log_in_as_the_whole_page(operator: Person) -> None:
    Session.objects.all().delete()
    answer = operator.client.post(
        reverse("web:extend_step", args=[TASK]),
        {"token": "7", "field.text": TYPED},
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/inbox/1/"},
    )
    assert (answer.status_code, answer["HX-Retarget"]) == (200, "body")
    (log_in,) = [each for each in forms_of(answer) if "kept" in each[1]]
    assert json.loads(log_in[1]["kept"][0])["page"] == "/inbox/1/"


def test_what_holds_nothing_typed_is_led_to_the_log_in_as_before(operator: Person) -> None:
    Session.objects.all().delete()
    assert operator.client.post(reverse("web:save_search"), {}).status_code == 302
