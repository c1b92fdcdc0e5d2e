"""One task's payload as a whole, for its editing."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tasks_app.store import sql

FIND = """
SELECT t.id, t.kind, t.key, t.status, t.requeues, t.payload::text,
       CASE WHEN k.payload_schema IS NOT NULL THEN jsonb_pretty(k.payload_schema) END
  FROM task t JOIN kind k ON k.name = t.kind
 WHERE t.id = %(task)s
"""


@dataclass(frozen=True, slots=True)
class TaskPayload:
    """A task with its payload, and its kind's schema as indented JSON text."""

    id: UUID
    kind: str
    key: str | None
    status: str
    requeues: int
    payload: Any
    schema: str | None


def find_payload(task_id: UUID) -> TaskPayload | None:
    """Read it, or None."""
    found = sql.row(FIND, {"task": task_id})
    if found is None:
        return None
    return TaskPayload(*[*found[:5], json.loads(found[5]), found[6]])
