"""The columns of tasks in every export."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from tasks_app.core.drawing.tables import Columns, Json
from tasks_app.store.reads.search.task_payloads import Submitted, read_submitted
from tasks_app.store.reads.search.task_rows import TaskRow

TASK_COLUMNS: Final[Columns[TaskRow]] = {
    "id": lambda row: row.id,
    "kind": lambda row: row.kind,
    "status": lambda row: row.status,
    "key": lambda row: row.key,
    "priority": lambda row: row.priority,
    "attempts": lambda row: row.attempts,
    "max_attempts": lambda row: row.max_attempts,
    "requeues": lambda row: row.requeues,
    "worker": lambda row: row.worker,
    "job": lambda row: row.job_id,
    "lock_key": lambda row: row.lock_key,
    "created_at": lambda row: row.created_at,
    "run_at": lambda row: row.run_at,
    "finished_at": lambda row: row.finished_at,
    "duration_seconds": lambda row: row.duration,
    "dead_reason": lambda row: row.dead_reason,
    "error_type": lambda row: row.error_type,
    "error": lambda row: row.error,
}


@dataclass(frozen=True, slots=True)
class WholeTask:
    """A task of a list with what it would be submitted with again."""

    row: TaskRow
    submitted: Submitted


def _of_row(read: Callable[[TaskRow], Any]) -> Callable[[WholeTask], Any]:
    return lambda task: read(task.row)


def _deadline(task: WholeTask) -> str | None:
    # To the microsecond, as it was submitted: other columns are cut to what people read.
    at = task.submitted.deadline_at
    return None if at is None else at.astimezone(UTC).isoformat()


WHOLE_COLUMNS: Final[Columns[WholeTask]] = {
    **{name: _of_row(read) for name, read in TASK_COLUMNS.items()},
    "weight": lambda task: task.submitted.weight,
    "deadline_at": _deadline,
    "payload": lambda task: Json(task.submitted.payload),
}
"""The columns of an export that can be submitted again (``manage.py submit --exported``)."""


def with_payloads(rows: Sequence[TaskRow]) -> list[WholeTask]:
    """Rows of a list with their payloads, but for tasks that are gone meanwhile."""
    found = read_submitted([row.id for row in rows])
    return [WholeTask(row, found[row.id]) for row in rows if row.id in found]
