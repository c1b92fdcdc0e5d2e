"""What a kind hides cannot be found by sending a key again with guesses."""

import json
from typing import Any

import pytest
from django.test import Client

from tasks_app.core.people.scopes import Scope
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tasks_app.services.people.request_limits import OTHER_CONTENT
from tests.floor import Floor

RIGHT = "quietly-suspicious"
WAYS = ["tasks", "batch", "faulty batch", "jobs", "bulks"]


@pytest.fixture
def floor(record: None) -> Floor:
    """A kind that hides a key, and one that does not."""
    floor = Floor()
    floor.kind("a", redacted_keys=["label"])
    floor.kind("b")
    return floor


def token(*more: Scope) -> str:
    """A token that may submit."""
    scopes = [Scope.SUBMIT, Scope.JOBS, Scope.OPERATE, *more]
    return tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=scopes).text


def send(token: str, way: str, label: str, kind: str = "a") -> Any:
    """Send the key with a payload, in one of the ways that take keys."""
    item = {"kind": kind, "payload": {"label": label}}
    step = {"name": "one", **item}
    broken = {"kind": "nowhere", "payload": 1}
    bodies: dict[str, dict[str, Any]] = {
        "tasks": {**item, "key": "k"},
        "batch": {"tasks": [{**item, "key": "k"}]},
        "faulty batch": {"tasks": [{**item, "key": "k"}, broken]},
        "jobs": {"steps": [step], "key": "k"},
        "bulks": {
            "action": "cancel",
            "query": f"kind:b -payload.label:{label}",
            "reason": "all of it",
            "key": "k",
        },
    }
    return Client().post(
        f"/api/v1/{way if way in ('jobs', 'bulks') else 'tasks'}",
        json.dumps(bodies[way]),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_hidden_value_cannot_be_guessed_by_its_key(floor: Floor, way: str) -> None:
    first = "tasks" if way == "faulty batch" else way
    floor.submit(1, kind="b")
    assert send(token(), first, RIGHT).status_code in (201, 202)
    guesser = token()
    wrong = [send(guesser, way, f"guess {n}").status_code for n in range(OTHER_CONTENT.count)]
    assert set(wrong) == {422 if way == "faulty batch" else 409}
    refused = send(guesser, first, RIGHT)
    assert refused.status_code == 429, "a right guess is told as little as a wrong one"
    assert int(refused.headers["Retry-After"]) > 0
    assert "scope payloads" in refused.json()["detail"]
    assert send(guesser, "tasks", RIGHT, kind="b").status_code == 201, "where nothing is hidden"


def test_who_sends_again_what_was_sent_is_not_held_up(floor: Floor) -> None:
    honest = token()
    assert send(honest, "tasks", RIGHT).status_code == 201
    for _ in range(OTHER_CONTENT.count + 1):
        assert send(honest, "tasks", RIGHT).status_code == 200


@pytest.mark.parametrize("way", ["tasks", "jobs"])
def test_who_may_see_the_value_is_told_of_each_wrong_key(floor: Floor, way: str) -> None:
    seeing = token(Scope.PAYLOADS)
    assert send(seeing, way, RIGHT).status_code == 201
    for n in range(OTHER_CONTENT.count + 1):
        assert send(seeing, way, f"other {n}").status_code == 409
    assert send(seeing, way, RIGHT).status_code == 200


def test_keys_of_a_kind_that_hides_nothing_are_told_without_end(floor: Floor) -> None:
    program = token()
    assert send(program, "tasks", RIGHT, kind="b").status_code == 201
    for n in range(OTHER_CONTENT.count + 1):
        assert send(program, "tasks", f"other {n}", kind="b").status_code == 409
