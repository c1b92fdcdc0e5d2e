"""How often a program may ask: one count for all web processes, and a refusal that helps."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from controlplane.environment import rate
from tasks_app.core.people.request_rates import Rate
from tasks_app.core.people.scopes import Scope
from tasks_app.models import RequestRate
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tasks_app.store.people import request_rates
from tests.api.conftest import Program
from tests.floor import Floor

WRONG = {"Authorization": f"Bearer chg_0123456789ab_{'a' * 43}"}


def later(seconds: float) -> None:
    """Let so much time pass for every rate."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE request_rate SET at = at - %s * interval '1 second'",
            [seconds],
        )


def test_a_token_that_asks_too_often_hears_of_its_limit_and_comes_back(
    program: Program, settings: Any
) -> None:
    settings.API_RATE = Rate(3, 60)
    assert [program.get("kinds").status for _ in range(4)] == [200, 200, 200, 429]
    refused = program.post({"kind": "job", "payload": 1})
    assert refused.status == 429
    assert 1 <= int(refused.response["Retry-After"]) <= 20
    assert "may send 3 requests a minute" in refused.json["detail"]
    assert "10,000 tasks in one request" in refused.json["detail"]
    assert "API_RATE" in refused.json["detail"]
    later(21)
    assert [program.get("kinds").status for _ in range(2)] == [200, 429]
    later(3600)
    assert [program.get("kinds").status for _ in range(4)] == [200, 200, 200, 429]


def test_each_token_has_a_limit_of_its_own(program: Program, settings: Any) -> None:
    settings.API_RATE = Rate(1, 60)
    other = Program(tokens.create("other", Actor("op", role=Role.ADMIN), scopes=tuple(Scope)).text)
    assert [program.get("kinds").status, program.get("kinds").status] == [200, 429]
    assert other.get("kinds").status == 200


def test_metrics_and_the_documentation_count_too(program: Program, settings: Any) -> None:
    settings.API_RATE = Rate(1, 60)
    headers = {"Authorization": f"Bearer {program.token}"}
    assert program.get("kinds").status == 200
    for path in ("/metrics", "/api/v1/docs", "/api/v1/openapi.json"):
        answer = Client().get(path, headers=headers)
        assert answer.status_code == 429, path
        assert int(answer["Retry-After"]) > 0
        assert b"API_RATE" in answer.content


def test_the_documentation_refuses_a_token_that_may_not_look(floor: Floor) -> None:
    token = tokens.create("one", Actor("op", role=Role.ADMIN), scopes=[Scope.METRICS]).text
    answer = Client().get("/api/v1/docs", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    assert "lacks the scope" in answer.json()["detail"]


def test_wrong_tokens_are_counted_by_address_and_hold_up_no_live_one(
    program: Program, settings: Any
) -> None:
    settings.API_FAILED_RATE = Rate(2, 60)
    stranger = Client(REMOTE_ADDR="203.0.113.9")
    answers = [stranger.get("/api/v1/kinds", headers=WRONG) for _ in range(3)]
    assert [each.status_code for each in answers] == [401, 401, 429]
    assert "2 requests a minute" in answers[2].json()["detail"]
    assert int(answers[2]["Retry-After"]) > 0
    assert stranger.get("/metrics", headers=WRONG).status_code == 429
    assert stranger.get("/api/v1/openapi.json", headers=WRONG).status_code == 429
    live = {"Authorization": f"Bearer {program.token}"}
    assert stranger.get("/api/v1/kinds", headers=live).status_code == 200
    elsewhere = Client(REMOTE_ADDR="203.0.113.10")
    assert elsewhere.get("/api/v1/kinds", headers=WRONG).status_code == 401


def test_one_visitor_has_a_whole_network_of_ipv6(floor: Floor, settings: Any) -> None:
    settings.API_FAILED_RATE = Rate(2, 60)
    status = [
        Client(REMOTE_ADDR=f"2001:db8::{n}").get("/api/v1/kinds", headers=WRONG).status_code
        for n in range(1, 4)
    ]
    assert status == [401, 401, 429]


def test_a_limit_that_is_off_counts_nothing(program: Program, settings: Any) -> None:
    settings.API_RATE = settings.API_FAILED_RATE = None
    assert program.get("kinds").status == 200
    assert Client().get("/api/v1/kinds", headers=WRONG).status_code == 401
    assert not RequestRate.objects.exists()


def test_processes_that_ask_at_once_share_one_limit(record: None) -> None:
    """Each thread has a connection of its own, as each web process has."""

    def ask(_: int) -> int:
        try:
            return sum(request_rates.take("token x", 50, 3600) is None for _ in range(30))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(ask, range(4))) == 50


def test_a_subject_that_is_idle_is_forgotten(record: None) -> None:
    request_rates.take("token idle", 5, 60)
    later(3601)
    request_rates.take("token busy", 5, 60)
    assert request_rates.forget_idle() == 1
    assert RequestRate.objects.get().subject == "token busy"


def test_the_count_costs_no_write_to_the_log(record: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'request_rate'")
        assert cursor.fetchone() == ("u",)


@pytest.mark.parametrize("word", ["10", "0/min", "-1/s", "ten/min", "10/day", "10 / min"])
def test_a_rate_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("API_RATE", word)
    with pytest.raises(SystemExit, match=r"Setting API_RATE is .* write it as 600/min"):
        rate("API_RATE", "6000/min")


def test_a_rate_is_read_and_may_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_RATE", raising=False)
    assert rate("API_RATE", "6000/min") == Rate(6000, 60)
    monkeypatch.setenv("API_RATE", "off")
    assert rate("API_RATE", "6000/min") is None
