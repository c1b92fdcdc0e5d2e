"""The probes judge the supervisor by the record and not by its own word.

The tests commit what they write: a request closes a connection that has a transaction open.
"""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.conf import settings
from django.db import OperationalError
from django.db.models.functions import Now
from django.test import Client

from tasks_app.models import Leader


def last_round(seconds_ago: float | None) -> None:
    at = None if seconds_ago is None else Now() - timedelta(seconds=seconds_ago)
    Leader.objects.update_or_create(id=1, defaults={"last_round_at": at})


def test_a_living_process_says_so_without_the_database(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}


@pytest.mark.usefixtures("record")
def test_a_recent_round_makes_it_ready(client: Client) -> None:
    last_round(1.0)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert 1.0 <= answer.json()["last_round_age_seconds"] < 60.0


@pytest.mark.usefixtures("record")
@pytest.mark.parametrize(
    ("seconds_ago", "reason"),
    [
        (None, "no supervisor has recorded a round yet"),
        (3600.0, "the last round was recorded 3600"),
    ],
)
def test_silence_is_not_ready_and_the_reason_is_told(
    client: Client, seconds_ago: float | None, reason: str
) -> None:
    last_round(seconds_ago)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reason"].startswith(reason)


@pytest.mark.usefixtures("record")
def test_three_beats_are_the_border(client: Client) -> None:
    last_round(3 * settings.BEAT_SECONDS - 2.0)
    assert client.get("/readyz").status_code == 200
    last_round(3 * settings.BEAT_SECONDS + 0.5)
    assert client.get("/readyz").status_code == 503


def test_an_unreachable_database_is_not_ready(client: Client) -> None:
    # The read fails as it does when the server is away; the server itself is shared by all tests.
    away = OperationalError("connection refused")
    with patch("controlplane.health.last_round_age_seconds", side_effect=away):
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reason"] == "the database cannot be reached"
