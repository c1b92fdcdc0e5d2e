"""Hints: who sleeps without polling is woken in time, and what nobody heard is found anyway."""

import time
from collections.abc import Iterator

import pytest
from django.db import connection

from tasks_app.services.attempts.direct_link import DirectLink
from tests.floor import Floor
from tests.races.conftest import Rival
from tests.waiting import wait_for

NEVER = 15.0
"""Seconds that a worker with its polling off sleeps: longer than any of these tests may last."""


@pytest.fixture
def link(record: None) -> Iterator[DirectLink]:
    made = DirectLink()
    yield made
    made.close()


def listening() -> bool:
    """Whether a connection to this database listens."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND query LIKE 'LISTEN%%' AND state = 'idle'"
        )
        row = cursor.fetchone()
    return bool(row and row[0])


def test_a_worker_that_does_not_poll_is_woken_by_the_round(floor: Floor, link: DirectLink) -> None:
    worker = floor.worker("w1")
    floor.lead()
    sleeper = Rival(lambda: link.wait_for_work(worker, NEVER))
    wait_for(listening, "the worker to listen")
    floor.submit()
    began = time.monotonic()
    assert floor.round().dispatched == 1
    sleeper.join()
    assert time.monotonic() - began < NEVER / 3
    assert len(floor.claim("w1")) == 1


def test_a_hint_sent_between_two_waits_is_not_lost(floor: Floor, link: DirectLink) -> None:
    worker = floor.worker("w1")
    floor.lead()
    link.wait_for_work(worker, 0.1)
    floor.submit()
    assert floor.round().dispatched == 1
    began = time.monotonic()
    link.wait_for_work(worker, NEVER)
    assert time.monotonic() - began < NEVER / 3
