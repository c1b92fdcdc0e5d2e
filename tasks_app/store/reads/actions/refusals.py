"""Why an act did not touch a task, in a sentence for the operator."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.core.actions.bulks import TOUCHES, BulkAction
from tasks_app.core.states import FINAL, Status
from tasks_app.core.words import say
from tasks_app.store import sql
from tasks_app.store.reads.failures.hopeless import HOPELESS_PARAMS, NEVER_RUNS

CLOSED_DEPENDENCY = f"""
SELECT t.id, t.status, c.status
  FROM task t
  LEFT JOIN LATERAL (
    SELECT min(p.status) AS status
      FROM dependency d JOIN task p ON p.id = ANY (ARRAY[d.depends_on_id])
     WHERE d.task_id = t.id AND {NEVER_RUNS}
  ) c ON true
 WHERE t.id = ANY (%(ids)s::uuid[])
"""  # noqa: S608  a constant


def why_not_moved(ids: Sequence[UUID], action: BulkAction = BulkAction.REQUEUE) -> dict[UUID, str]:
    """Explain for each id why the act could not touch it."""
    if not ids:
        return {}
    params = {"ids": list(ids), **HOPELESS_PARAMS}
    found = {r[0]: (Status(r[1]), r[2]) for r in sql.rows(CLOSED_DEPENDENCY, params)}
    return {
        task_id: told(action, *found[task_id])
        if task_id in found
        else say("There is no such task.")
        for task_id in ids
    }


def told(action: BulkAction, status: Status, closed: str | None = None) -> str:
    """Why an act leaves a task alone that has this status.

    ``closed`` is the status of a dependency of it that will never complete.

    >>> told(BulkAction.PRIORITY, Status.RUNNING)
    'It is RUNNING: a worker has it already.'
    """
    if status in FINAL:
        return say("It is %(status)s and has ended.", status=status)
    if status not in TOUCHES[action]:
        return {
            BulkAction.CANCEL: say("It is %(status)s: dismiss it instead.", status=status),
            BulkAction.PRIORITY: say("It is %(status)s: a worker has it already.", status=status),
        }.get(action, say("It is %(status)s, not DEAD.", status=status))
    if closed is not None and action is BulkAction.REQUEUE:
        return say(
            "A task that it depends on is %(closed)s and will never complete.", closed=closed
        )
    if action is BulkAction.CANCEL:
        return say("Its worker is asked to let go of it already.")
    return say("It changed at this very moment.")
