"""A made-up past, to see how screens do on a large record: set-based, so that a million is minutes.

For a record of its own only: it invents what nobody did.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from tasks_app.store import sql

DAYS: Final = 30
"""How far back the past reaches; the latest tasks are of this moment."""

# Of 10,000 tasks 60 are dead, 20 were dismissed, 30 cancelled, 2 wait for a retry; 2 of 1,000, the
# latest, are queued. Ids are UUIDv7 of the instant of their creation, as the application makes
# them. Of the three tokens that each takes the last is its own; earlier attempts have the others.
TASKS: Final = """
WITH numbered AS (
    SELECT n, statement_timestamp()
                  - (1 - n::float8 / %(total)s) * %(days)s * interval '1 day' AS at,
           n * 2654435761 %% 10000 AS dice,
           (%(kinds)s::text[])[1 + n * 7 %% cardinality(%(kinds)s::text[])] AS kind,
           (%(workers)s::uuid[])[1 + n * 31 %% cardinality(%(workers)s::uuid[])] AS worker,
           1 + n * 13 %% cardinality(%(errors)s::text[]) AS fault
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
), decided AS (
    SELECT *, extract(epoch FROM at)::float8 AS began, 0.2 + dice / 500.0 AS took,
           CASE WHEN n > %(total)s * 0.998 THEN 'PENDING'
                WHEN dice < 60 THEN 'DEAD' WHEN dice < 80 THEN 'DISMISSED'
                WHEN dice < 110 THEN 'CANCELLED' WHEN dice < 112 THEN 'FAILED'
                ELSE 'COMPLETED' END AS status
      FROM numbered
), counted AS (
    SELECT *, CASE WHEN status IN ('DEAD', 'DISMISSED') THEN 3 WHEN status = 'FAILED' THEN 1
                   WHEN status = 'COMPLETED' THEN CASE WHEN dice > 9500 THEN 2 ELSE 1 END
                   ELSE 0 END AS tries,
           status IN ('DEAD', 'DISMISSED') AS died
      FROM decided
), made AS (
    INSERT INTO task (id, kind, status, payload, key, priority, estimate_seconds, max_attempts,
                      created_at, run_at, queue_at, token, assigned_to, attempts, total_attempts,
                      result, error, dead_reason, fingerprint, finished_at)
    SELECT (lpad(to_hex((began * 1000)::bigint), 12, '0') || '7'
              || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
           kind, status,
           jsonb_build_object('ticket', n, 'customer', jsonb_build_object('id', dice),
                              'text', 'Please look at order ' || n),
           CASE WHEN n %% 3 = 0 THEN 'order-' || n END, n %% 4, took, 3, at,
           CASE status WHEN 'FAILED' THEN statement_timestamp() + interval '1 hour' ELSE at END,
           at, CASE WHEN tries > 0 THEN greatest(nextval('lease_token'), nextval('lease_token'),
                                                 nextval('lease_token')) END,
           CASE WHEN status = 'COMPLETED' THEN worker END, tries, tries,
           CASE WHEN status = 'COMPLETED' THEN jsonb_build_object('label', 'card', 'n', n) END,
           CASE WHEN died OR status = 'FAILED' THEN (%(errors)s::text[])[fault]::jsonb END,
           CASE WHEN died THEN 'exhausted' END,
           CASE WHEN died THEN (%(fingerprints)s::text[])[fault] END,
           CASE WHEN status NOT IN ('PENDING', 'FAILED')
                THEN at + took * greatest(tries, 1) * interval '1 second' END
      FROM counted
    RETURNING id, kind, status, token, total_attempts, created_at, finished_at, error, fingerprint,
              coalesce(assigned_to, (%(workers)s::uuid[])[1 + priority]) AS worker,
              estimate_seconds
), tried AS (
    INSERT INTO attempt (token, task_id, kind, worker_id, number, assigned_at, started_at, ended_at,
                         outcome, error)
    SELECT token - total_attempts + number, id, kind, worker, number,
           created_at + (number - 1) * estimate_seconds * interval '1 second',
           created_at + (number - 1) * estimate_seconds * interval '1 second',
           created_at + number * estimate_seconds * interval '1 second',
           CASE WHEN status = 'COMPLETED' AND number = total_attempts THEN 'completed'
                ELSE 'error' END,
           CASE WHEN status = 'COMPLETED' AND number = total_attempts THEN NULL
                ELSE coalesce(error, '{"type": "TimeoutError", "message": "no answer"}') END
      FROM made, generate_series(1, total_attempts) number
), died AS (
    INSERT INTO death (task_id, kind, fingerprint, worker_id, at)
    SELECT id, kind, fingerprint, worker, finished_at FROM made WHERE fingerprint IS NOT NULL
)
INSERT INTO status_delta (kind, status, change, busy_seconds)
SELECT kind, status, count(*),
       coalesce(sum(estimate_seconds) FILTER (WHERE status = 'COMPLETED'), 0)
  FROM made GROUP BY kind, status
"""


def make_tasks(
    first: int,
    last: int,
    total: int,
    *,
    kinds: Sequence[str],
    workers: Sequence[UUID],
    errors: Sequence[str],
    fingerprints: Sequence[str],
) -> None:
    """Write the tasks numbered ``first`` to ``last`` of ``total`` with their whole past.

    ``errors`` are JSON texts, ``fingerprints`` theirs.
    """
    sql.execute(
        TASKS,
        {
            "first": first,
            "last": last,
            "total": total,
            "days": DAYS,
            "kinds": list(kinds),
            "workers": list(workers),
            "errors": list(errors),
            "fingerprints": list(fingerprints),
        },
    )


# Some of the queue is under way: the oldest of it, on the live workers in turn.
START: Final = """
WITH picked AS (
    SELECT id, row_number() OVER (ORDER BY queue_at) AS n FROM task
     WHERE status = 'PENDING' AND waiting_on = 0
     ORDER BY queue_at LIMIT %(count)s
), begun AS (
    UPDATE task t
       SET status = 'RUNNING', token = nextval('lease_token'), attempts = 1, total_attempts = 1,
           assigned_to = (%(workers)s::uuid[])[1 + p.n %% cardinality(%(workers)s::uuid[])]
      FROM picked p WHERE t.id = p.id
    RETURNING t.id, t.kind, t.token, t.assigned_to, t.estimate_seconds
), leased AS (
    INSERT INTO lease (task_id, worker_id, kind, token, expected_seconds, started_at)
    SELECT id, assigned_to, kind, token, estimate_seconds, statement_timestamp() FROM begun
)
INSERT INTO status_delta (kind, status, change)
SELECT b.kind, s.status, s.sign * b.n
  FROM (SELECT kind, count(*) AS n FROM begun GROUP BY kind) b
 CROSS JOIN (VALUES ('PENDING', -1), ('RUNNING', 1)) AS s(status, sign)
"""


def start_some(count: int, workers: Sequence[UUID]) -> None:
    """Have the first of the queue run on these workers."""
    sql.execute(START, {"count": count, "workers": list(workers)})


# An hour of seconds and a month of minutes, with the day's rise and fall.
SAMPLES: Final = """
INSERT INTO sample (resolution, at, by_status, active, oldest_created_at, rounds, dispatched,
                    completed, busy_seconds, dispatch_seconds, longest_round_seconds)
SELECT r.step, date_trunc('second', statement_timestamp()) - n * r.step * interval '1 second',
       jsonb_build_object('PENDING', 200 + (150 * sin(n / 200.0))::int, 'RUNNING', 40,
                          'COMPLETED', 900000 - n, 'DEAD', 6000, 'FAILED', 200),
       (SELECT jsonb_object_agg(name, 1 + (n + slots) %% 4) FROM worker WHERE state = 'active'),
       statement_timestamp() - n * r.step * interval '1 second' - interval '40 seconds',
       30 * r.step, 20 * r.step, 20 * r.step, 35.0 * r.step, 0.002 * r.step, 0.012
  FROM (VALUES (1, 3600), (60, %(days)s * 1440)) AS r(step, count)
 CROSS JOIN LATERAL generate_series(1, r.count) n
ON CONFLICT DO NOTHING
"""


def make_samples() -> None:
    """Write the samples that the charts draw."""
    sql.execute(SAMPLES, {"days": DAYS})


# What the planner believes of a record that grew by a million in a minute is worth nothing.
ANALYSE: Final = "VACUUM ANALYZE task, attempt, death, status_delta, status_count, sample, lease"


def analyse() -> None:
    """Make the statistics that autovacuum would have made; not inside a transaction."""
    sql.execute(ANALYSE)
