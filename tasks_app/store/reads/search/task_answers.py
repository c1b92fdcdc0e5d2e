"""Tasks and kinds as the HTTP API answers with them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.models import Kind, Task
from tasks_app.store import sql

MOST_ATTEMPTS: Final = 200
"""The latest attempts of one task; requeues set no bound to how many there may be."""


@dataclass(frozen=True, slots=True)
class AttemptAnswer:
    """One attempt; ``number`` starts anew at each requeue, ``started_at`` None was never begun."""

    number: int
    outcome: str
    worker: str | None
    assigned_at: datetime
    started_at: datetime | None
    ended_at: datetime
    error: Any


ATTEMPTS = """
SELECT a.number, a.outcome, w.name, a.assigned_at, a.started_at, a.ended_at, a.error::text
  FROM attempt a
  LEFT JOIN worker w ON w.id = a.worker_id
 WHERE a.task_id = %(task)s
 ORDER BY a.token DESC
 LIMIT %(limit)s
"""


def find_task(task_id: UUID) -> Task | None:
    """One task, or None."""
    return Task.objects.filter(id=task_id).first()


def attempts_of(task_id: UUID) -> tuple[Sequence[AttemptAnswer], bool]:
    """The task's latest attempts, oldest first, and whether older ones are left out."""
    found = sql.rows(ATTEMPTS, {"task": task_id, "limit": MOST_ATTEMPTS + 1})
    latest = [
        AttemptAnswer(
            r[0], r[1], r[2], r[3], r[4], r[5], None if r[6] is None else json.loads(r[6])
        )
        for r in reversed(found[:MOST_ATTEMPTS])
    ]
    return latest, len(found) > MOST_ATTEMPTS


DEPENDENCIES = """
SELECT d.depends_on_id, d.name, d.on_dead, d.state
  FROM dependency d
 WHERE d.task_id = %(task)s
 ORDER BY d.name
"""


@dataclass(frozen=True, slots=True)
class DependencyAnswer:
    """One task waited for, and where that stands."""

    on: UUID
    name: str
    on_dead: str
    state: str


def dependencies_of(task_id: UUID) -> Sequence[DependencyAnswer]:
    """What the task waits for or waited for."""
    return [DependencyAnswer(*row) for row in sql.rows(DEPENDENCIES, {"task": task_id})]


def list_kinds() -> Sequence[Kind]:
    """Every kind by name."""
    return list(Kind.objects.order_by("name"))
