"""A dead task's payload, changed by a person before it is requeued."""

from typing import Any
from uuid import UUID

from tasks_app.store import sql

LOCK_DEAD = """
SELECT kind, payload FROM task
 WHERE id = %(task)s AND status = 'DEAD' AND requeues = %(requeues)s
   FOR UPDATE
"""


def lock_dead(task_id: UUID, requeues: int) -> tuple[str, Any] | None:
    """Lock a DEAD task of this incarnation: its kind and payload, or None where it is none."""
    found = sql.row(LOCK_DEAD, {"task": task_id, "requeues": requeues})
    return None if found is None else (found[0], sql.loaded(found[1]))


SET_PAYLOAD = """
UPDATE task SET payload = %(payload)s::jsonb WHERE id = %(task)s AND status = 'DEAD' RETURNING id
"""


def set_payload(task_id: UUID, payload: str) -> bool:
    """Write a DEAD task's payload anew, as JSON text."""
    return sql.row(SET_PAYLOAD, {"task": task_id, "payload": payload}) is not None
