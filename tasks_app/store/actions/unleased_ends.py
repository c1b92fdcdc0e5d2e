"""Tasks that end while nobody holds a lease on them: given up, cancelled or skipped."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.core.failures.fingerprints import key_of
from tasks_app.core.states import DeadReason, Status
from tasks_app.store import sql

CLOSE = """
WITH input AS (
    SELECT * FROM unnest(%(tasks)s::uuid[], %(errors)s::text[], %(fingerprints)s::text[])
               AS i(task_id, error, fingerprint)
), locked AS (
    SELECT t.id, t.status AS before, i.error, i.fingerprint
      FROM (SELECT * FROM input ORDER BY task_id) i
     CROSS JOIN LATERAL (
        SELECT t.id, t.status FROM task t
         WHERE t.id = i.task_id AND t.status IN ('PENDING', 'FAILED')
           FOR NO KEY UPDATE
     ) t
), closed AS (
    UPDATE task t
       SET status = %(status)s, dead_reason = %(reason)s,
           error = coalesce(l.error::jsonb, t.error),
           fingerprint = coalesce(l.fingerprint, t.fingerprint),
           finished_at = statement_timestamp()
      FROM locked l
     WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind, t.has_dependents, l.before, l.fingerprint
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT kind, before, -count(*) FROM closed GROUP BY kind, before
    UNION ALL
    SELECT kind, %(status)s, count(*) FROM closed GROUP BY kind
), announced AS (
    INSERT INTO settled (task_id) SELECT id FROM closed WHERE has_dependents
), died AS (
    INSERT INTO death (task_id, kind, fingerprint, at)
    SELECT id, kind, fingerprint, statement_timestamp() FROM closed WHERE fingerprint IS NOT NULL
)
SELECT id FROM closed
"""


def close_waiting(
    tasks: Sequence[UUID],
    status: Status,
    *,
    reason: DeadReason | None = None,
    errors: Sequence[str | None] | None = None,
    fingerprints: Sequence[str] | None = None,
) -> set[UUID]:
    """End PENDING and FAILED tasks as DEAD, CANCELLED or SKIPPED; return those that moved.

    ``errors`` are JSON texts, one a task; ``fingerprints`` are given where errors hold what is
    hidden from some.
    """
    if not tasks:
        return set()
    texts = list(errors) if errors is not None else [None] * len(tasks)
    found = sql.rows_by_key(
        CLOSE,
        {
            "tasks": list(tasks),
            "errors": texts,
            "fingerprints": sql.texts(fingerprints or [key_of(text, reason) for text in texts]),
            "status": status,
            "reason": reason,
        },
    )
    return {task_id for (task_id,) in found}


LOCK_FOR_CANCEL = """
SELECT id, token, status FROM task
 WHERE id = ANY (%(ids)s::uuid[]) AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')
 ORDER BY id
   FOR NO KEY UPDATE
"""


def lock_for_cancel(ids: Sequence[UUID]) -> list[tuple[UUID, int | None, Status]]:
    """Lock those of the tasks that can still be cancelled: (id, token, status)."""
    return [(r[0], r[1], Status(r[2])) for r in sql.rows(LOCK_FOR_CANCEL, {"ids": list(ids)})]


ASK_CANCEL = """
UPDATE task SET cancel_asked = true
 WHERE id = ANY (%(ids)s::uuid[]) AND status = 'RUNNING' AND NOT cancel_asked
RETURNING id
"""


def ask_cancel(ids: Sequence[UUID]) -> set[UUID]:
    """Ask the workers of RUNNING tasks to let go; they hear it with their next heartbeat."""
    return {found for (found,) in sql.rows(ASK_CANCEL, {"ids": list(ids)})}
