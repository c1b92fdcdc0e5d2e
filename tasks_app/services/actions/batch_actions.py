"""What each act does to a batch of tasks, in the caller's transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.actions.bulks import BulkAction
from tasks_app.services.actions.cancellation import let_go
from tasks_app.store.actions import priority_changes
from tasks_app.store.failures import dead_letters
from tasks_app.store.reads.actions.refusals import why_not_moved

Params = Mapping[str, Any]


def _cancel(ids: Sequence[UUID], _: Params) -> set[UUID]:
    done, asked = let_go(ids)
    return done | asked


def _set_deadline(ids: Sequence[UUID], params: Params) -> set[UUID]:
    text = params["deadline_at"]
    return priority_changes.set_deadline(ids, datetime.fromisoformat(text) if text else None)


ACTS: Final[Mapping[BulkAction, Callable[[Sequence[UUID], Params], set[UUID]]]] = {
    BulkAction.REQUEUE: lambda ids, _: dead_letters.requeue(ids),
    BulkAction.DISMISS: lambda ids, _: dead_letters.dismiss(ids),
    BulkAction.CANCEL: _cancel,
    BulkAction.PRIORITY: lambda ids, params: priority_changes.set_priority(
        ids, int(params["priority"])
    ),
    BulkAction.DEADLINE: _set_deadline,
}


def act(
    action: BulkAction, ids: Sequence[UUID], params: Params
) -> tuple[set[UUID], dict[UUID, str]]:
    """Act on tasks; return those that moved, and for each other a sentence that says why."""
    moved = ACTS[action](ids, params)
    return moved, why_not_moved([task_id for task_id in ids if task_id not in moved], action)
