"""Priority and deadline of tasks, changed by a person while they wait or run."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tasks_app.store import sql

# A task that stands in the queue moves within it; one in work has left it. Its place is reckoned
# from the beginning of its wait, not from its place before: the head start may have been another.
SET_PRIORITY = """
WITH locked AS (
    SELECT id FROM task
     WHERE id = ANY (%(ids)s::uuid[]) AND status IN ('PENDING', 'FAILED', 'DEAD')
     ORDER BY id
       FOR NO KEY UPDATE
)
UPDATE task t
   SET priority = %(priority)s,
       queue_at = coalesce(t.ready_at, t.created_at)
                  - %(priority)s * s.priority_head_start_seconds * interval '1 second'
  FROM locked l, supervisor_settings s
 WHERE t.id = ANY (ARRAY[l.id])
RETURNING t.id
"""


def set_priority(ids: Sequence[UUID], priority: int) -> set[UUID]:
    """Give tasks that nobody works on another priority; return those that have it now."""
    found = sql.rows_by_key(SET_PRIORITY, {"ids": list(ids), "priority": priority})
    return {task_id for (task_id,) in found}


SET_DEADLINE = """
WITH locked AS (
    SELECT id FROM task
     WHERE id = ANY (%(ids)s::uuid[])
       AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
     ORDER BY id
       FOR NO KEY UPDATE
)
UPDATE task t SET deadline_at = %(deadline)s
  FROM locked l WHERE t.id = ANY (ARRAY[l.id])
RETURNING t.id
"""


def set_deadline(ids: Sequence[UUID], deadline: datetime | None) -> set[UUID]:
    """Move the deadline of tasks that have not ended, or with None take it away."""
    found = sql.rows_by_key(SET_DEADLINE, {"ids": list(ids), "deadline": deadline})
    return {task_id for (task_id,) in found}
