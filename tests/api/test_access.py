"""Who gets in: tokens and nothing else; the documentation also for people logged in."""

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.test import Client

from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.api.conftest import Program
from tests.floor import Floor

PATHS = ("/api/v1/kinds", "/api/v1/tasks/01920000-0000-7000-8000-000000000000")


@pytest.fixture
def logged_in(floor: Floor) -> Client:
    """A browser with the session of a superuser."""
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("root", password="x"))
    return client


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Bearer x", "Basic eDp5", "Bearer chg_0_0", "bearer\x00"],
)
def test_without_a_live_token_it_is_401_and_says_what_is_wanted(
    floor: Floor, header: str | None
) -> None:
    client = Client()
    headers = {} if header is None else {"Authorization": header}
    for path in PATHS:
        assert client.get(path, headers=headers).status_code == 401
    posted = client.post(
        "/api/v1/tasks", {"kind": "job", "payload": 1}, "application/json", headers=headers
    )
    assert posted.status_code == 401
    assert posted.headers["WWW-Authenticate"] == "Bearer"
    assert "Bearer chg_" in posted.json()["detail"]


def test_a_revoked_token_is_refused_at_once(program: Program) -> None:
    assert program.get("kinds").status == 200
    tokens.revoke(program.token.split("_")[1], Actor("op", role=Role.ADMIN))
    assert program.get("kinds").status == 401


def test_a_session_cookie_opens_nothing(logged_in: Client) -> None:
    for path in PATHS:
        assert logged_in.get(path).status_code == 401
    posted = logged_in.post("/api/v1/tasks", {"kind": "job", "payload": 1}, "application/json")
    assert posted.status_code == 401


def test_a_program_needs_no_csrf_token(program: Program) -> None:
    program.client = Client(enforce_csrf_checks=True)
    assert program.post({"kind": "job", "payload": 1}).status == 201


@pytest.mark.parametrize("path", ["/api/v1/docs", "/api/v1/openapi.json"])
def test_the_documentation_asks_for_a_login_or_a_token(
    path: str, program: Program, logged_in: Client
) -> None:
    stranger = Client().get(path)
    assert stranger.status_code == 302
    assert stranger.headers["Location"].startswith("/login/?next=")
    assert logged_in.get(path).status_code == 200
    with_token = Client().get(path, headers={"Authorization": f"Bearer {program.token}"})
    assert with_token.status_code == 200


def test_a_fault_of_our_own_is_a_500_in_json_that_tells_nothing_of_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the password is made-up")

    monkeypatch.setattr("tasks_app.api.tasks.submit_tasks", fail)
    answer = program.post({"kind": "job", "payload": {}})
    assert answer.status == 500
    assert "whoever runs the site" in answer.json["detail"]
    assert "password" not in answer.json["detail"]


def test_what_django_refuses_to_read_is_a_400(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise SuspiciousOperation("too many fields")

    monkeypatch.setattr("tasks_app.api.tasks.submit_tasks", refuse)
    answer = program.post({"kind": "job", "payload": {}})
    assert (answer.status, answer.json["detail"]) == (400, "the request is malformed")


@pytest.mark.parametrize(
    "away", ["tasks_app.api.tasks.submit_tasks", "tasks_app.api.security.verify"]
)
def test_a_database_that_is_away_is_a_503_that_says_to_come_back(
    program: Program, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("could not extend file: No space left on device")

    monkeypatch.setattr(away, fail)
    answer = program.post({"kind": "job", "payload": {}})
    assert (answer.status, answer.response["Retry-After"]) == (503, "2")
    assert "a repetition adds nothing" in answer.json["detail"]
    assert "extend" not in answer.json["detail"]
