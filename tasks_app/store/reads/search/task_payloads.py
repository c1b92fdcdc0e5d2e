"""Payloads as a whole: one task's for its editing, those of a list for its export."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a task would be submitted with again, beside what its row in a list says."""

    payload: Any
    weight: float
    deadline_at: datetime | None


SUBMITTED = """
SELECT t.id, t.payload::text, t.weight, t.deadline_at FROM task t
 WHERE t.id = ANY (%(ids)s::uuid[])
"""


def read_submitted(ids: Sequence[UUID]) -> dict[UUID, Submitted]:
    """The payloads of tasks by id; a task that is gone meanwhile is left out."""
    found = sql.rows(SUBMITTED, {"ids": sql.uuids(ids)})
    return {r[0]: Submitted(json.loads(r[1]), r[2], r[3]) for r in found}
