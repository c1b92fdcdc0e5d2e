"""The tasks on record that new ones depend on, while these are written; locked last of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.states import Status
from tasks_app.store import sql

# Held from before the dependents are inserted, so that none of these is pruned meanwhile; whoever
# works on them, ends or requeues them is not held up by it.
HOLD_DEPENDENCIES = """
SELECT id, kind, status FROM task
 WHERE id = ANY (%(ids)s::uuid[]) ORDER BY id FOR KEY SHARE
"""


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """A task on record that new ones will depend on, as it was looked at."""

    kind: str
    status: Status


def hold_dependencies(ids: Sequence[UUID]) -> dict[UUID, RecordedTask]:
    """Keep existing tasks that new ones will depend on; what does not exist is left out."""
    if not ids:
        return {}
    found = sql.rows_by_key(HOLD_DEPENDENCIES, {"ids": list(ids)})
    return {task_id: RecordedTask(kind, Status(status)) for task_id, kind, status in found}


STATUSES = "SELECT id, status FROM task WHERE id = ANY (%(ids)s::uuid[])"


def statuses_of(ids: Sequence[UUID]) -> dict[UUID, Status]:
    """The statuses of tasks at this moment, without a lock."""
    return {r[0]: Status(r[1]) for r in sql.rows_by_key(STATUSES, {"ids": list(ids)})}


CHECK_KEYS = "SET CONSTRAINTS ALL IMMEDIATE"


def check_keys() -> None:
    """Check the foreign keys of all that was written so far: at the commit it would take long."""
    sql.execute(CHECK_KEYS)
