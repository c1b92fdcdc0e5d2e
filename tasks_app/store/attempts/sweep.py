"""What the sweep locks and moves: lost leases, retries that are due, tasks nobody can do."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.attempts.retry_budget import retries_allowed
from tasks_app.core.states import Outcome, Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import WAITS_SINCE
from tasks_app.store.reads.failures.casualties import CASUALTIES_OF_ATTEMPTS, UNHEARD


@dataclass(frozen=True, slots=True)
class LostLease:
    """A lease whose right to work has ended, and what is needed to decide what follows.

    ``casualties`` counts the different workers that died while they ran this task, this one among
    them where it did, and the child processes that did. ``unheard`` are those of them that were
    replaced by a newer process and never heard of again, whose attempts cost nothing at the time.
    ``blameless``: its worker gave its last sign of life before a break in the rounds, in which the
    record itself may have been away.
    """

    task_id: UUID
    token: int
    outcome: Outcome
    started: bool
    attempts: int
    max_attempts: int
    casualties: int
    unheard: int
    poison_after: int
    worker_name: str
    blameless: bool = False


# Read and lock in one: the rows stay ours until the reclaim in the same transaction. A worker that
# is completing one at this instant holds its row, and SKIP LOCKED lets it win. A claim that commits
# between the snapshot and the lock leaves the lease's old row in the snapshot: whether the task was
# begun is therefore read from the task, whose locked row is the newest. Silent workers have been
# marked before (workers.MARK_LOST), under the lock that a sign of life needs.
# A timeout takes a worker that lives past it: one that fell silent before may be unable to stop
# anything, and all that it holds is lost with it once that is known.
# Leases are judged before their tasks are looked up: nearly all of them are in order.
# A lease is not named when the worker had ``unnamed_for`` seconds and two signs of life to name it:
# the time, because two signs of life may follow each other at once after an answer was lost.
TAKE_LOST = f"""
WITH judged AS (
    SELECT l.task_id, l.token, l.worker_id, w.name,
           CASE
             WHEN w.state IN ('lost', 'stopped')
               THEN CASE w.ending WHEN 'replaced' THEN 'replaced'
                                  WHEN 'draining' THEN 'stopped'
                                  WHEN 'left' THEN 'released'
                                  WHEN 'evicted' THEN 'released'
                                  ELSE 'worker_lost' END
             WHEN l.started_at < least(statement_timestamp(), h.at)
                    - (k.timeout_seconds + %(timeout_grace)s) * interval '1 second'
                  AND s.since < statement_timestamp()
                    - (k.timeout_seconds + %(timeout_grace)s) * interval '1 second'
               THEN 'timeout'
             WHEN l.started_at < h.at - %(unnamed_for)s * interval '1 second'
                  AND l.started_at < h.previous_at AND NOT l.token = ANY (h.held)
               THEN 'not_named'
           END AS outcome,
           h.at < s.since AS blameless
      FROM lease l
      JOIN worker w ON w.id = ANY (ARRAY[l.worker_id])
      JOIN heartbeat h ON h.worker_id = ANY (ARRAY[l.worker_id])
      JOIN kind k ON k.name = ANY (ARRAY[l.kind])
     CROSS JOIN (SELECT coalesce(max(served_since), '-infinity') AS since FROM leader) s
), lost AS MATERIALIZED (
    SELECT * FROM judged WHERE outcome IS NOT NULL
)
SELECT t.id, t.token, lost.outcome, t.status = 'RUNNING', t.attempts, t.max_attempts,
       CASE t.status WHEN 'ASSIGNED' THEN 0 ELSE
           (SELECT {CASUALTIES_OF_ATTEMPTS}
              FROM attempt a
             WHERE a.task_id = t.id AND a.started_at IS NOT NULL AND a.requeues = t.requeues
               AND (a.outcome = 'crashed' OR a.worker_id IS DISTINCT FROM lost.worker_id))
           + CASE lost.outcome WHEN 'worker_lost' THEN 1 ELSE 0 END
       END,
       CASE t.status WHEN 'ASSIGNED' THEN 0 ELSE
           (SELECT count(*) FROM attempt a
             WHERE a.task_id = t.id AND a.started_at IS NOT NULL AND a.requeues = t.requeues
               AND a.outcome = 'replaced' AND {UNHEARD})
       END,
       p.poison_after, lost.name, lost.blameless
  FROM lost
  JOIN task t ON t.id = ANY (ARRAY[lost.task_id]) AND t.token = lost.token
  JOIN kind p ON p.name = ANY (ARRAY[t.kind])
 WHERE t.status IN ('ASSIGNED', 'RUNNING')
 ORDER BY lost.task_id
 LIMIT %(limit)s
   FOR NO KEY UPDATE OF t SKIP LOCKED
"""  # noqa: S608  constants


def take_lost(timeout_grace: float, unnamed_for: float, limit: int) -> list[LostLease]:
    """Lock up to ``limit`` lost leases' tasks and return what is known of them (seconds)."""
    found = sql.rows_by_key(
        TAKE_LOST,
        {
            "timeout_grace": timeout_grace,
            "unnamed_for": unnamed_for,
            "limit": limit,
        },
    )
    return [LostLease(r[0], int(r[1]), Outcome(r[2]), *r[3:]) for r in found]


# A kind without credit is not even looked at: what is due of it must not hide what others have.
PROMOTE = """
WITH budget AS (
    SELECT * FROM unnest(%(kinds)s::text[], %(credits)s::float8[], %(allowed)s::int[])
               AS b(kind, credit, allowed)
), due AS (
    SELECT d.id
      FROM kind k
      LEFT JOIN budget b ON b.kind = k.name
     CROSS JOIN LATERAL (
        SELECT id, run_at FROM task
         WHERE kind = k.name AND status = 'FAILED' AND run_at <= statement_timestamp()
         ORDER BY run_at
         LIMIT least(%(limit)s, coalesce(b.allowed, %(limit)s))
     ) d
     ORDER BY d.run_at
     LIMIT %(limit)s
), locked AS (
    SELECT t.id FROM task t JOIN due d ON t.id = ANY (ARRAY[d.id])
     WHERE t.status = 'FAILED' AND t.run_at <= statement_timestamp()
     ORDER BY d.id
       FOR NO KEY UPDATE OF t SKIP LOCKED
), moved AS (
    UPDATE task t SET status = 'PENDING' FROM locked l WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.kind
), grouped AS (
    SELECT kind, count(*) AS n FROM moved GROUP BY kind
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT m.kind, s.status, s.sign * m.n
      FROM grouped m
     CROSS JOIN (VALUES ('FAILED', -1), ('PENDING', 1)) AS s(status, sign)
), spent AS (
    INSERT INTO retry_credit (kind_id, credit, at)
    SELECT g.kind, b.credit - g.n, statement_timestamp()
      FROM grouped g JOIN budget b ON b.kind = g.kind
     ORDER BY g.kind
    ON CONFLICT (kind_id) DO UPDATE SET credit = excluded.credit, at = excluded.at
)
SELECT coalesce(sum(n), 0) FROM grouped
"""


def promote(limit: int, held: Mapping[str, float]) -> int:
    """Bring up to ``limit`` FAILED tasks whose backoff is over back to PENDING; return how many.

    ``held`` is the credit of the kinds with a retry budget, as of now.
    """
    found = sql.rows_by_key(
        PROMOTE,
        {
            "limit": limit,
            "kinds": sql.texts(list(held)),
            "credits": sql.array(list(held.values())),
            "allowed": sql.array([retries_allowed(credit) for credit in held.values()]),
        },
    )
    return int(found[0][0])


# "Ever could" asks for any boot on record, not only for a live one. OFFSET has one boot a kind
# looked up: joined, all of them are read. The grace begins with the wait for a worker: a task that
# waited for others, or whose start time lay in the past when it was submitted, has all of it.
FIND_UNROUTABLE = f"""
SELECT t.id
  FROM kind k
 CROSS JOIN LATERAL (
    SELECT id FROM task
     WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
       AND {WAITS_SINCE} < statement_timestamp() - %(grace)s * interval '1 second'
     ORDER BY queue_at
     LIMIT %(limit)s
       FOR NO KEY UPDATE SKIP LOCKED
 ) t
 WHERE NOT k.by_people AND NOT EXISTS (SELECT FROM capability c WHERE c.kind = k.name OFFSET 0)
"""  # noqa: S608  a constant


def find_unroutable(grace: float, limit: int) -> list[UUID]:
    """Lock ready tasks that no worker ever could do for ``grace`` seconds."""
    found = sql.rows_in_index_order(FIND_UNROUTABLE, {"grace": grace, "limit": limit})
    return [task_id for (task_id,) in found]


# The first to be overdue are read in the order of their index. In the order of the ids, as they are
# locked, the planner reads the whole table by its key until it has found enough: with none overdue
# that is all of it, in every sweep.
TAKE_OVERDUE = """
SELECT t.id, t.token, t.status
  FROM (SELECT id FROM (
            SELECT id FROM task
             WHERE deadline_at <= statement_timestamp()
               AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')
             ORDER BY deadline_at
             LIMIT %(limit)s) first
         ORDER BY id) due
 CROSS JOIN LATERAL (
    SELECT id, token, status FROM task
     WHERE id = due.id AND deadline_at + interval '0' <= statement_timestamp()
       AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')
       FOR NO KEY UPDATE SKIP LOCKED
 ) t
"""


def take_overdue(limit: int) -> list[tuple[UUID, int | None, Status]]:
    """Lock up to ``limit`` unfinished tasks past their deadline: (id, token, status)."""
    found = sql.rows_by_key(TAKE_OVERDUE, {"limit": limit})
    return [(r[0], r[1], Status(r[2])) for r in found]
