"""A full queue drains at an even rate whatever the planner believes, in batches of any size."""

from collections.abc import Iterator
from typing import Final

import pytest

from tasks_app.sdk.link import Completion
from tasks_app.services.attempts import worker_protocol
from tasks_app.store import sql
from tests.floor import Floor

QUEUED: Final = 4_000
BEFORE: Final = 3_000
SMALL, LARGE = 100, 500
TABLES: Final = ("task", "lease", "attempt", "status_delta")

# In flight, so that each table holds as many; what becomes of them is not asked.
FILL: Final = """
WITH made AS (
    INSERT INTO task (id, kind, status, payload, estimate_seconds, max_attempts, token, assigned_to)
    SELECT gen_random_uuid(), 'job', 'RUNNING', '{}', 1, 3, nextval('lease_token'), %(worker)s
      FROM generate_series(1, %(rows)s)
    RETURNING id, token
), leased AS (
    INSERT INTO lease (task_id, worker_id, kind, token, expected_seconds, started_at)
    SELECT id, %(worker)s, 'job', token, 1, now() FROM made
), ended AS (
    INSERT INTO attempt (token, task_id, kind, worker_id, number, assigned_at, outcome)
    SELECT token, id, 'job', %(worker)s, 1, now(), 'completed' FROM made
)
INSERT INTO status_delta (kind, status, change) SELECT 'job', 'RUNNING', 1 FROM made
"""
TRUNCATE: Final = "TRUNCATE task, lease, attempt, status_delta CASCADE"
ANALYZE: Final = "ANALYZE task, lease, attempt, status_delta"
DELETE: Final = "DELETE FROM lease; DELETE FROM attempt; DELETE FROM task; DELETE FROM status_delta"

# How many rows stood there when statistics were made, and how they went away again: before the
# statistics (so that the tables look empty and are long) or after them.
BELIEFS: Final = {
    "never analysed": (),
    "analysed while empty": (TRUNCATE, ANALYZE),
    "analysed with one row": (1, ANALYZE, TRUNCATE),
    "analysed with many rows": (BEFORE, ANALYZE, TRUNCATE),
    "analysed when all of many were deleted": (BEFORE, DELETE, ANALYZE),
    "analysed when all but one of many were deleted": (BEFORE, DELETE, 1, ANALYZE, DELETE),
}


@pytest.fixture
def hall(floor: Floor) -> Iterator[Floor]:
    """A floor with one worker, whose tables no statistics exist of and autovacuum leaves alone."""
    for table in TABLES:
        sql.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        sql.execute("DELETE FROM pg_statistic WHERE starelid = %(t)s::regclass", {"t": table})
        sql.rows("SELECT pg_clear_relation_stats('public', %(t)s)", {"t": table})
    floor.settings(backlog=0)
    floor.worker("w1", slots=LARGE)
    yield floor
    for table in TABLES:
        sql.execute(f"ALTER TABLE {table} RESET (autovacuum_enabled)")


@pytest.mark.parametrize("belief", BELIEFS)
def test_a_full_queue_drains_at_an_even_rate(hall: Floor, belief: str) -> None:
    for step in BELIEFS[belief]:
        if isinstance(step, int):
            sql.execute(FILL, {"rows": step, "worker": hall.workers["w1"]})
        else:
            sql.execute(step)
    for _ in range(QUEUED // LARGE):
        hall.submit(LARGE)
    small, large = drain(hall)
    # Quadratic in what was done, or in what is still queued: one end reads many times more.
    assert max(small) < 1.3 * min(small), (small, large)
    assert max(large) < 1.3 * min(large), (small, large)
    # Quadratic in the batch: large ones read more a task than small ones, not less.
    assert max(large) < 1.1 * min(small), (small, large)


def drain(floor: Floor) -> tuple[list[int], list[int]]:
    """Pages asked for by each five hundred tasks, by turns in small batches and in a large one.

    Not seconds, which say as much of what else runs on the machine; what costs time without
    asking for pages is forbidden in ``test_plans``.
    """
    each: dict[int, list[int]] = {SMALL: [], LARGE: []}
    done = 0
    while done < QUEUED:
        size = LARGE if done // LARGE % 2 else SMALL
        before = pages()
        for _ in range(LARGE // size):
            done += drain_a_batch(floor, size)
        each[size].append(pages() - before)
    return each[SMALL], each[LARGE]


def pages() -> int:
    """Pages of tables and indexes that this connection has asked for."""
    sql.rows("SELECT pg_stat_force_next_flush()")
    (row,) = sql.rows(
        "SELECT sum(hits) + sum(reads) FROM pg_stat_get_backend_io(pg_backend_pid())"
        " WHERE object = 'relation'"
    )
    return int(row[0])


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
