"""Whom a task took down: workers that died while they ran it, child processes that crashed."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from tasks_app.store import sql

# A boot that was replaced may have died before or been alive: the second is heard of afterwards.
# With OFFSET the boot is looked up by its key for each attempt. Without it the planner makes a join
# of this, and reads every boot for each attempt.
UNHEARD: Final = """NOT EXISTS (SELECT FROM worker rw
                      JOIN heartbeat rh ON rh.worker_id = ANY (ARRAY[rw.id])
                     WHERE rw.id = ANY (ARRAY[a.worker_id]) AND rh.at > rw.ended_at OFFSET 0)"""

IS_CASUALTY: Final = f"""(a.outcome IN ('crashed', 'worker_lost')
           OR (a.outcome = 'replaced' AND {UNHEARD}))"""
"""Whether an attempt ``a`` ended with what ran it."""

CASUALTIES_OF_ATTEMPTS: Final = f"""
       count(DISTINCT a.worker_id) FILTER (WHERE a.outcome <> 'crashed' AND {IS_CASUALTY})
       + count(*) FILTER (WHERE a.outcome = 'crashed')"""
"""The workers and child processes that died in begun attempts ``a`` of one incarnation."""

# The attempt that ends in this transaction is a lease still. A worker whose child processes
# crashed stands there once for each.
CASUALTIES: Final = f"""
SELECT h.task_id, array_agg(coalesce(w.name, 'a worker of the past') ORDER BY h.token)
  FROM (SELECT a.task_id, a.token, a.worker_id
          FROM attempt a JOIN task t ON t.id = a.task_id AND t.requeues = a.requeues
         WHERE a.task_id = ANY (%(tasks)s::uuid[]) AND a.started_at IS NOT NULL
           AND {IS_CASUALTY}
        UNION ALL
        SELECT l.task_id, l.token, l.worker_id FROM lease l
         WHERE l.task_id = ANY (%(tasks)s::uuid[])) h
  LEFT JOIN worker w ON w.id = h.worker_id
 GROUP BY h.task_id
"""  # noqa: S608  constants


def casualties_of(tasks: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The names of the workers that each of these tasks in flight took down, in order."""
    if not tasks:
        return {}
    return {task: list(names) for task, names in sql.rows(CASUALTIES, {"tasks": list(tasks)})}
