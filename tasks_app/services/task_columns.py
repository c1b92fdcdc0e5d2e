"""The columns of tasks in every export."""

from typing import Final

from tasks_app.core.tables import Columns
from tasks_app.store.reads.task_rows import TaskRow

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
