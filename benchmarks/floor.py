"""The bare floor: the supervised path with nothing of the product, as a small program of its own.

``python -m benchmarks.floor dispatch URL BATCH`` hands out, ``... work URL BATCH NAME`` claims and
completes; both run until SIGTERM. Every transition is durable and the whole history is kept. What
it leaves out is everything else: kinds, dependencies, limits, checks, heartbeats, fencing.
"""

import json
import signal
import sys
import time
from heapq import heapify, heapreplace
from typing import Any, Final
from uuid import UUID

import psycopg
import uuid_utils

from benchmarks.handlers import stamped

Connection = psycopg.Connection[Any]

SCHEMA: Final = """
DROP TABLE IF EXISTS worker, task, lease, attempt, status_delta;
DROP SEQUENCE IF EXISTS lease_token;
CREATE SEQUENCE lease_token;
CREATE TABLE worker (id int PRIMARY KEY);
CREATE TABLE task (
    id uuid PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', payload jsonb NOT NULL,
    queue_at timestamptz NOT NULL DEFAULT statement_timestamp(), estimate float8 NOT NULL,
    assigned_to int, token bigint, attempts int NOT NULL DEFAULT 0, result jsonb,
    finished_at timestamptz);
CREATE INDEX task_ready ON task (queue_at, id) WHERE status = 'PENDING';
CREATE TABLE lease (
    task_id uuid PRIMARY KEY, worker_id int NOT NULL, token bigint NOT NULL,
    assigned_at timestamptz NOT NULL, started_at timestamptz);
CREATE INDEX lease_claimable ON lease (worker_id, token) WHERE started_at IS NULL;
CREATE TABLE attempt (
    token bigint PRIMARY KEY, task_id uuid NOT NULL, worker_id int NOT NULL,
    assigned_at timestamptz, started_at timestamptz, ended_at timestamptz NOT NULL,
    outcome text NOT NULL);
CREATE TABLE status_delta (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text NOT NULL, change int NOT NULL);
"""

INSERT: Final = """
WITH inserted AS (
    INSERT INTO task (id, payload, estimate)
    SELECT * FROM unnest(%s::uuid[], %s::jsonb[], %s::float8[]) RETURNING 1
), counted AS (
    INSERT INTO status_delta (status, change) SELECT 'PENDING', count(*) FROM inserted
)
SELECT pg_notify('floor_dispatch', '')
"""
LOADS: Final = """
SELECT w.id, count(l.task_id) FROM worker w LEFT JOIN lease l ON l.worker_id = w.id GROUP BY w.id
"""
WINDOW: Final = """
SELECT id, estimate FROM task WHERE status = 'PENDING'
 ORDER BY queue_at, id LIMIT %s FOR UPDATE SKIP LOCKED
"""
ASSIGN: Final = """
WITH assigned AS (
    UPDATE task t SET status = 'ASSIGNED', assigned_to = i.worker, token = nextval('lease_token')
      FROM unnest(%s::uuid[], %s::int[]) AS i(id, worker)
     WHERE t.id = i.id AND t.status = 'PENDING'
    RETURNING t.id, t.token, t.assigned_to
), leased AS (
    INSERT INTO lease (task_id, worker_id, token, assigned_at)
    SELECT id, assigned_to, token, statement_timestamp() FROM assigned
), counted AS (
    INSERT INTO status_delta (status, change)
    SELECT s, change FROM (SELECT count(*) AS n FROM assigned) a,
           LATERAL (VALUES ('PENDING', -n), ('ASSIGNED', n)) AS v(s, change)
)
SELECT pg_notify('floor_work', '')
"""
CLAIM: Final = """
WITH begun AS (
    UPDATE lease l SET started_at = statement_timestamp()
      FROM (SELECT task_id FROM lease WHERE worker_id = %s AND started_at IS NULL
             ORDER BY token LIMIT %s FOR UPDATE SKIP LOCKED) m
     WHERE l.task_id = m.task_id
    RETURNING l.task_id, l.token
), running AS (
    UPDATE task t SET status = 'RUNNING', attempts = attempts + 1
      FROM begun b WHERE t.id = b.task_id AND t.token = b.token
    RETURNING t.id, t.token, t.payload
), counted AS (
    INSERT INTO status_delta (status, change)
    SELECT s, change FROM (SELECT count(*) AS n FROM running) a,
           LATERAL (VALUES ('ASSIGNED', -n), ('RUNNING', n)) AS v(s, change)
)
SELECT id, token, payload FROM running
"""
COMPLETE: Final = """
WITH ended AS (
    DELETE FROM lease l USING unnest(%s::uuid[], %s::bigint[], %s::jsonb[]) AS i(id, token, result)
     WHERE l.task_id = i.id AND l.token = i.token
    RETURNING l.*, i.result
), done AS (
    UPDATE task t SET status = 'COMPLETED', result = e.result, finished_at = statement_timestamp()
      FROM ended e WHERE t.id = e.task_id
    RETURNING t.id
), recorded AS (
    INSERT INTO attempt
    SELECT token, task_id, worker_id, assigned_at, started_at, statement_timestamp(), 'completed'
      FROM ended
), counted AS (
    INSERT INTO status_delta (status, change)
    SELECT s, change FROM (SELECT count(*) AS n FROM done) a,
           LATERAL (VALUES ('RUNNING', -n), ('COMPLETED', n)) AS v(s, change)
)
SELECT count(*) FROM done
"""
WITHOUT_SEQUENTIAL_SCANS: Final = "SET enable_seqscan = off; SET enable_bitmapscan = off"

BUSY_WAIT: Final = 0.002
IDLE_WAIT: Final = 0.5

_stopping: list[int] = []


def connect(url: str) -> Connection:
    """A connection whose plans are made anew each time: a cached one is quadratic later."""
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=None)
    # A fresh table has no statistics, and the floor must not fall into that trap.
    connection.execute(
        f"{WITHOUT_SEQUENTIAL_SCANS}; SET enable_hashjoin = off;"
        "SET enable_mergejoin = off; SET jit = off"
    )
    return connection


def prepare(url: str, workers: int) -> None:
    """Make the empty tables for so many workers."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA)
        connection.execute("INSERT INTO worker SELECT generate_series(1, %s)", [workers])


def new_id() -> UUID:
    """Ids as the product makes them."""
    return UUID(bytes=uuid_utils.uuid7().bytes)


def enqueue(connection: Connection, count: int, batch: int) -> None:
    """Insert tasks, each batch in a transaction."""
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        connection.execute(
            INSERT,
            [
                [new_id() for _ in numbers],
                [json.dumps({"n": number}) for number in numbers],
                [1.0] * len(numbers),
            ],
        )


def dispatch(url: str, batch: int) -> dict[str, float]:
    """Hand out until told to stop; return how long the rounds that dispatched took, in seconds."""
    listening = connect(url)
    listening.execute("LISTEN floor_dispatch")
    seconds, dispatched = 0.0, 0
    with connect(url) as connection:
        while not _stopping:
            began = time.perf_counter()
            count, in_flight = _round(connection, batch)
            if count:
                seconds += time.perf_counter() - began
                dispatched += count
            wait = BUSY_WAIT if count or in_flight else IDLE_WAIT
            list(listening.notifies(timeout=wait, stop_after=1))
    return {"seconds": seconds, "dispatched": dispatched}


def _round(connection: Connection, batch: int) -> tuple[int, int]:
    with connection.transaction():
        loads = dict(connection.execute(LOADS).fetchall())
        in_flight = sum(loads.values())
        room = 2 * batch * len(loads) - in_flight
        ready = connection.execute(WINDOW, [room]).fetchall() if room > 0 else []
        if not ready:
            return 0, in_flight
        heap = [(float(load), worker) for worker, load in loads.items()]
        heapify(heap)
        picked = []
        for _, estimate in ready:
            load, worker = heap[0]
            picked.append(worker)
            heapreplace(heap, (load + estimate, worker))
        connection.execute(ASSIGN, [[task for task, _ in ready], picked])
        return len(ready), in_flight


def work(url: str, batch: int, name: int) -> dict[str, float]:
    """Claim and complete until told to stop."""
    listening = connect(url)
    listening.execute("LISTEN floor_work")
    done = 0
    with connect(url) as connection:
        while not _stopping:
            mine = connection.execute(CLAIM, [name, batch]).fetchall()
            if mine:
                results = [json.dumps(stamped(payload)) for _, _, payload in mine]
                connection.execute(COMPLETE, [[r[0] for r in mine], [r[1] for r in mine], results])
                done += len(mine)
            else:
                list(listening.notifies(timeout=BUSY_WAIT if done else IDLE_WAIT, stop_after=1))
    return {"done": done}


def main(words: list[str]) -> None:
    """Play one role until SIGTERM; print what it came to as one line of JSON."""
    signal.signal(signal.SIGTERM, lambda number, _: _stopping.append(number))
    role, url, batch = words[0], words[1], int(words[2])
    report = dispatch(url, batch) if role == "dispatch" else work(url, batch, int(words[3]))
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
