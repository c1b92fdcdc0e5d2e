"""A human's hand on dead tasks: requeue and dismiss, in bulk."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.store import sql

# A task that died with its dependency waits for it again; one whose dependency was closed for good
# cannot be helped by a requeue and is left out. The token is never reset. A deadline that has
# passed is lifted: whoever requeues the task wants it done all the same.
REQUEUE = """
WITH locked AS (
    SELECT t.id, t.dependency_count FROM task t
     WHERE t.id = ANY (%(ids)s::uuid[]) AND t.status = 'DEAD'
       AND NOT EXISTS (
           SELECT FROM dependency d JOIN task p ON p.id = ANY (ARRAY[d.depends_on_id])
            WHERE d.task_id = t.id AND d.state = 'blocked'
              AND p.status IN ('DISMISSED', 'CANCELLED', 'SKIPPED'))
     ORDER BY t.id
       FOR UPDATE OF t
), edges AS (
    UPDATE dependency d
       SET state = CASE p.status WHEN 'COMPLETED' THEN 'met'
                                 WHEN 'DEAD' THEN 'blocked' ELSE 'waiting' END
      FROM locked l, task p
     WHERE d.task_id = ANY (ARRAY[l.id]) AND p.id = ANY (ARRAY[d.depends_on_id])
       AND d.state IN ('waiting', 'blocked')
    RETURNING d.task_id, d.state
), waits AS (
    SELECT task_id, count(*) FILTER (WHERE state <> 'met') AS n FROM edges GROUP BY task_id
), requeued AS (
    UPDATE task t
       SET status = 'PENDING', attempts = 0, requeues = t.requeues + 1, dead_reason = NULL,
           finished_at = NULL, run_at = statement_timestamp(),
           deadline_at = CASE WHEN t.deadline_at > statement_timestamp() THEN t.deadline_at END,
           queue_at = statement_timestamp()
               - t.priority * s.priority_head_start_seconds * interval '1 second',
           waiting_on = coalesce(w.n, 0) + t.holds
      FROM locked l
      LEFT JOIN waits w ON w.task_id = l.id
     CROSS JOIN supervisor_settings s
     WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind, t.job_id
), announced AS (
    INSERT INTO settled (task_id) SELECT id FROM requeued WHERE job_id IS NOT NULL
), freed AS (
    UPDATE dependency d SET state = 'waiting'
      FROM requeued r, task t
     WHERE d.depends_on_id = ANY (ARRAY[r.id]) AND d.state = 'blocked'
       AND t.id = ANY (ARRAY[d.task_id]) AND t.status = 'PENDING'
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT r.kind, s.status, s.sign * r.n
      FROM (SELECT kind, count(*) AS n FROM requeued GROUP BY kind) r
     CROSS JOIN (VALUES ('DEAD', -1), ('PENDING', 1)) AS s(status, sign)
)
SELECT id FROM requeued
"""


def requeue(ids: Sequence[UUID]) -> set[UUID]:
    """Bring DEAD tasks back to PENDING with a new attempt budget; return those that moved."""
    return {found for (found,) in sql.rows_by_key(REQUEUE, {"ids": list(ids)})}


# A group is dismissed with the last of its tasks: what dies of the same later has come back.
DISMISS = """
WITH locked AS (
    SELECT id FROM task
     WHERE id = ANY (%(ids)s::uuid[]) AND status = 'DEAD'
     ORDER BY id
       FOR UPDATE
), dismissed AS (
    UPDATE task t SET status = 'DISMISSED', finished_at = statement_timestamp()
      FROM locked l WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind, t.has_dependents, t.fingerprint
), closed AS (
    INSERT INTO dead_group (fingerprint, dismissed_at)
    SELECT DISTINCT d.fingerprint, statement_timestamp()
      FROM dismissed d
     WHERE d.fingerprint IS NOT NULL
       AND NOT EXISTS (SELECT FROM task o
                        WHERE o.fingerprint = d.fingerprint AND o.status = 'DEAD'
                          AND o.id NOT IN (SELECT id FROM dismissed)
                       OFFSET 0)
     ORDER BY 1
    ON CONFLICT (fingerprint) DO UPDATE SET dismissed_at = excluded.dismissed_at
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT d.kind, s.status, s.sign * d.n
      FROM (SELECT kind, count(*) AS n FROM dismissed GROUP BY kind) d
     CROSS JOIN (VALUES ('DEAD', -1), ('DISMISSED', 1)) AS s(status, sign)
), announced AS (
    INSERT INTO settled (task_id) SELECT id FROM dismissed WHERE has_dependents
)
SELECT id FROM dismissed
"""


def dismiss(ids: Sequence[UUID]) -> set[UUID]:
    """Close DEAD tasks for good; return those that moved."""
    return {found for (found,) in sql.rows_by_key(DISMISS, {"ids": list(ids)})}
