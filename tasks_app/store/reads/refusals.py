"""Why an act did not touch a task, in a sentence for the operator."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.core.bulks import TOUCHES, BulkAction
from tasks_app.core.states import FINAL, Status
from tasks_app.store import sql

CLOSED_DEPENDENCY = """
SELECT t.id, t.status, min(p.status)
  FROM task t
  LEFT JOIN dependency d ON d.task_id = t.id AND d.state = 'blocked'
  LEFT JOIN task p ON p.id = d.depends_on_id
                  AND p.status IN ('DISMISSED', 'CANCELLED', 'SKIPPED')
 WHERE t.id = ANY (%(ids)s::uuid[])
 GROUP BY t.id, t.status
"""


def why_not_moved(ids: Sequence[UUID], action: BulkAction = BulkAction.REQUEUE) -> dict[UUID, str]:
    """Explain for each id why the act could not touch it."""
    if not ids:
        return {}
    found = {r[0]: (Status(r[1]), r[2]) for r in sql.rows(CLOSED_DEPENDENCY, {"ids": list(ids)})}
    return {
        task_id: told(action, *found[task_id]) if task_id in found else "There is no such task."
        for task_id in ids
    }


def told(action: BulkAction, status: Status, closed: str | None = None) -> str:
    """Why an act leaves a task alone that has this status.

    ``closed`` is the status of a dependency of it that will never complete.

    >>> told(BulkAction.PRIORITY, Status.RUNNING)
    'It is RUNNING: a worker has it already.'
    """
    if status in FINAL:
        return f"It is {status} and has ended."
    if status not in TOUCHES[action]:
        return {
            BulkAction.CANCEL: f"It is {status}: dismiss it instead.",
            BulkAction.PRIORITY: f"It is {status}: a worker has it already.",
        }.get(action, f"It is {status}, not DEAD.")
    if closed is not None and action is BulkAction.REQUEUE:
        return f"A task that it depends on is {closed} and will never complete."
    if action is BulkAction.CANCEL:
        return "Its worker is asked to let go of it already."
    return "It changed at this very moment."
