"""A full queue drains at an even rate on tables never analysed, in batches of any size."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Final

import pytest

from tasks_app.sdk.link import Completion
from tasks_app.services import worker_protocol
from tasks_app.store import sql
from tests.floor import Floor

QUEUED: Final = 20_000
SMALL, LARGE = 100, 1_000
TABLES: Final = ("task", "lease", "attempt", "status_delta")


@pytest.fixture
def never_analysed(floor: Floor) -> Iterator[Floor]:
    """A floor whose tables nothing has analysed and autovacuum leaves alone.

    Truncating a table between tests keeps the statistics of what other tests had in it.
    """
    for table in TABLES:
        sql.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        sql.execute("DELETE FROM pg_statistic WHERE starelid = %(t)s::regclass", {"t": table})
        sql.rows("SELECT pg_clear_relation_stats('public', %(t)s)", {"t": table})
    yield floor
    for table in TABLES:
        sql.execute(f"ALTER TABLE {table} RESET (autovacuum_enabled)")


def test_a_full_queue_drains_at_an_even_rate_through_an_at_first_empty_lease_table(
    never_analysed: Floor,
) -> None:
    floor = never_analysed
    floor.settings(backlog=0)
    floor.worker("w1", slots=LARGE)
    for _ in range(QUEUED // 1000):
        floor.submit(1000)
    each: dict[int, list[float]] = {SMALL: [], LARGE: []}
    done = 0
    while done < QUEUED:
        size = LARGE if done // LARGE % 2 else SMALL
        began = time.perf_counter()
        for _ in range(LARGE // size):
            done += drain_a_batch(floor, size)
        each[size].append((time.perf_counter() - began) / LARGE)
    # Quadratic in what was done: the end is many times slower than the beginning.
    assert median(each[LARGE][-4:]) < 2.5 * median(each[LARGE][:4]), each
    # Quadratic in the batch: large ones cost more a task than small ones, not less.
    assert median(each[LARGE]) < 1.25 * median(each[SMALL]), each


def drain_a_batch(floor: Floor, size: int) -> int:
    """One round, one claim and one completion of up to ``size`` tasks."""
    floor.settings(window=size)
    floor.round(sweeping=False)
    grants = floor.claim("w1", size)
    stale = worker_protocol.complete(
        floor.workers["w1"], [Completion(g.task_id, g.token, {"ok": True}) for g in grants]
    )
    assert not stale
    return len(grants)
