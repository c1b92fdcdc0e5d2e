"""A human's hand on dead tasks: requeue and dismiss, in bulk."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.reads.failures.hopeless import HOPELESS_PARAMS, NEVER_RUNS

# Edges are left as they are: the requeue announces the task, so that the supervisor judges all that
# it waits for and, where others wait for it, those as well (``core.dependencies``). One whose
# dependency was closed for good cannot be helped by a requeue and is left out. ``waiting_on``
# counts the open edges of DEAD tasks too. The token is never reset. A deadline that has passed is
# lifted: whoever requeues the task wants it done all the same.
REQUEUE = f"""
WITH locked AS (
    SELECT t.id FROM task t
     WHERE t.id = ANY (%(ids)s::uuid[]) AND t.status = 'DEAD'
       AND NOT EXISTS (
           SELECT FROM dependency d JOIN task p ON p.id = ANY (ARRAY[d.depends_on_id])
            WHERE d.task_id = t.id AND {NEVER_RUNS})
     ORDER BY t.id
       FOR NO KEY UPDATE OF t
), requeued AS (
    UPDATE task t
       SET status = 'PENDING', attempts = 0, requeues = t.requeues + 1, dead_reason = NULL,
           finished_at = NULL, run_at = statement_timestamp(),
           deadline_at = CASE WHEN t.deadline_at > statement_timestamp() THEN t.deadline_at END,
           ready_at = statement_timestamp(),
           queue_at = statement_timestamp()
               - t.priority * s.priority_head_start_seconds * interval '1 second'
      FROM locked l
     CROSS JOIN supervisor_settings s
     WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind, t.job_id, t.has_dependents, t.waiting_on > t.holds AS waits
), announced AS (
    INSERT INTO settled (task_id, own)
    SELECT id, false FROM requeued WHERE has_dependents OR job_id IS NOT NULL
    UNION ALL
    SELECT id, true FROM requeued WHERE waits
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT r.kind, s.status, s.sign * r.n
      FROM (SELECT kind, count(*) AS n FROM requeued GROUP BY kind) r
     CROSS JOIN (VALUES ('DEAD', -1), ('PENDING', 1)) AS s(status, sign)
)
SELECT id FROM requeued
"""  # noqa: S608  a constant


def requeue(ids: Sequence[UUID]) -> set[UUID]:
    """Bring DEAD tasks back to PENDING with a new attempt budget; return those that moved."""
    params = {"ids": list(ids), **HOPELESS_PARAMS}
    return {found for (found,) in sql.rows_by_key(REQUEUE, params)}


# A group is dismissed with the last of its tasks: what dies of the same later has come back.
DISMISS = """
WITH locked AS (
    SELECT id FROM task
     WHERE id = ANY (%(ids)s::uuid[]) AND status = 'DEAD'
     ORDER BY id
       FOR NO KEY UPDATE
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
