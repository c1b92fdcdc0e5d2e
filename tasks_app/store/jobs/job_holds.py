"""The holds that a paused job has on its tasks: put on and taken off in portions.

A pause is one hold more on every task that may still move, the DEAD ones too: a requeue counts the
holds. A task that has not been prepared, and a join, has a hold of its own beside it.
"""

from typing import Final
from uuid import UUID

from tasks_app.core.jobs.job_states import JOIN_KIND
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import becoming_ready

OWN_HOLDS: Final = f"(t.unprepared OR t.kind = '{JOIN_KIND}')::int"
"""The holds of a task ``t`` of a job that are none of a pause."""

# Read in the order of the ids from where the last portion stopped, whatever has ended too: all of
# them are read once. A task made meanwhile follows the job as it is at that moment. The comparison
# of rows leaves the planner no other index than that of the job's tasks. The next portion begins
# with the first task that somebody else has locked.
HOLD_NEXT = f"""
WITH walk AS MATERIALIZED (
    SELECT id, held_to, paused, paused::int AS wanted FROM job
     WHERE id = %(job)s AND held_to IS NOT NULL
), portion AS MATERIALIZED (
    SELECT t.*, t.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
                AND t.holds - {OWN_HOLDS} <> w.wanted AS differs
      FROM walk w
     CROSS JOIN LATERAL (
        SELECT id, kind, status, holds, unprepared FROM task
         WHERE job_id IS NOT NULL AND (job_id, id) > (w.id, w.held_to)
           AND (job_id, id) <= (w.id, %(last)s)
         ORDER BY job_id, id
         LIMIT %(limit)s
     ) t
), locked AS MATERIALIZED (
    SELECT p.id, w.wanted - (t.holds - {OWN_HOLDS}) AS change
      FROM walk w
     CROSS JOIN (SELECT id FROM portion WHERE differs ORDER BY id) p
     CROSS JOIN LATERAL (
        SELECT kind, holds, unprepared FROM task
         WHERE id = p.id AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
           FOR NO KEY UPDATE SKIP LOCKED
     ) t
), held AS (
    UPDATE task t
       SET holds = t.holds + l.change, waiting_on = t.waiting_on + l.change,
           {becoming_ready("t.waiting_on + l.change")}
      FROM locked l
     WHERE t.id = ANY (ARRAY[l.id]) AND l.change <> 0
), passed AS MATERIALIZED (
    SELECT id FROM portion WHERE differs AND id NOT IN (SELECT id FROM locked) ORDER BY id LIMIT 1
), reached AS MATERIALIZED (
    SELECT id FROM portion p WHERE NOT EXISTS (SELECT FROM passed WHERE passed.id <= p.id)
     ORDER BY id DESC LIMIT 1
)
UPDATE job j
   SET held_to = CASE WHEN EXISTS (SELECT FROM passed)
                        OR (SELECT count(*) FROM portion) = %(limit)s
                      THEN coalesce((SELECT id FROM reached), w.held_to) END
  FROM walk w
 WHERE j.id = w.id
RETURNING j.held_to IS NULL, (SELECT count(*) FROM portion)
"""  # noqa: S608  a constant

LAST: Final = UUID(int=2**128 - 1)
"""Comes after every id."""


def hold_next(job_id: UUID, limit: int) -> tuple[bool, int]:
    """Have the next ``limit`` tasks of a locked job follow its pause or resumption.

    Returns whether all have now, and how many were looked at.
    """
    found = sql.rows_in_index_order(HOLD_NEXT, {"job": job_id, "limit": limit, "last": LAST})
    return (bool(found[0][0]), int(found[0][1])) if found else (True, 0)
