"""Why an act did not touch a task, in a sentence for the operator."""

from collections.abc import Sequence
from uuid import UUID

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


def why_not_moved(ids: Sequence[UUID]) -> dict[UUID, str]:
    """Explain for each id why it could not be requeued, dismissed or cancelled."""
    if not ids:
        return {}
    found = {r[0]: r for r in sql.rows(CLOSED_DEPENDENCY, {"ids": list(ids)})}
    reasons = {}
    for task_id in ids:
        if task_id not in found:
            reasons[task_id] = "There is no such task."
        elif (status := Status(found[task_id][1])) in FINAL:
            reasons[task_id] = f"It is {status} and has ended."
        elif status is not Status.DEAD:
            reasons[task_id] = f"It is {status}, not DEAD."
        else:
            closed = found[task_id][2]
            reasons[task_id] = f"A task that it depends on is {closed} and will never complete."
    return reasons
