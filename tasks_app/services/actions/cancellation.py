"""Cancelling tasks: at once where nobody works on them, by asking where somebody does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from tasks_app import events
from tasks_app.core.actions.bulks import BulkAction
from tasks_app.core.states import Outcome, Status
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.actions import unleased_ends
from tasks_app.store.attempts import leases
from tasks_app.store.attempts.leases import LeaseEnd
from tasks_app.store.jobs import human_steps
from tasks_app.store.reads.actions.refusals import why_not_moved


@dataclass(frozen=True, slots=True)
class CancelResult:
    """What a cancel came to: ``asked`` are RUNNING, their workers are told to let go."""

    done: set[UUID] = field(default_factory=set)
    asked: set[UUID] = field(default_factory=set)
    refused: dict[UUID, str] = field(default_factory=dict)


@needs(Role.OPERATOR)
@transactional
def cancel_tasks(ids: Sequence[UUID], actor: Actor, reason: str = "") -> CancelResult:
    """Cancel tasks. One that completes before its worker hears of it stays COMPLETED."""
    done, asked = let_go(ids)
    touched = done | asked
    _audit(touched, actor, reason)
    events.wake_supervisor()
    return CancelResult(
        done, asked, why_not_moved([i for i in ids if i not in touched], BulkAction.CANCEL)
    )


def let_go(ids: Sequence[UUID]) -> tuple[set[UUID], set[UUID]]:
    """Cancel tasks in the caller's transaction: those that ended, and those whose workers must."""
    locked = unleased_ends.lock_for_cancel(ids)
    waiting = [i for i, _, status in locked if status in (Status.PENDING, Status.FAILED)]
    done = unleased_ends.close_waiting(waiting, Status.CANCELLED)
    running = [i for i, _, status in locked if status is Status.RUNNING]
    # A person hears of it at their next click; there is no work of a machine to wait for.
    at_once = human_steps.held_by_people(running)
    assigned = {
        token: i
        for i, token, status in locked
        if token and (status is Status.ASSIGNED or i in at_once)
    }
    ended = leases.end(
        [
            LeaseEnd(task_id, token, status=Status.CANCELLED, outcome=Outcome.CANCELLED)
            for token, task_id in assigned.items()
        ]
    )
    done |= {assigned[token] for token in ended}
    asked = unleased_ends.ask_cancel([i for i in running if i not in at_once])
    return done, asked


def _audit(touched: set[UUID], actor: Actor, reason: str) -> None:
    if touched:
        moved = sorted(str(task_id) for task_id in touched)
        subject = moved[0] if len(moved) == 1 else f"{len(moved)} tasks"
        note(actor, "cancel", subject, count=len(moved), reason=reason, tasks=moved)
