"""What operators do: requeue, dismiss, drain, resume; each audited in its own transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from tasks_app import events
from tasks_app.core.facts import ErrorFacts
from tasks_app.core.states import Outcome
from tasks_app.core.words import say
from tasks_app.services.attempts.lease_ends import release_held
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store import workers
from tasks_app.store.failures import dead_letters
from tasks_app.store.reads.actions.refusals import why_not_moved


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an act came to: the ids it moved, and for each it did not, a sentence that says why."""

    done: set[UUID] = field(default_factory=set)
    refused: dict[UUID, str] = field(default_factory=dict)


@needs(Role.OPERATOR)
@transactional
def requeue(ids: Sequence[UUID], actor: Actor, reason: str = "") -> ActionResult:
    """Bring DEAD tasks back to PENDING with a fresh attempt budget."""
    done = dead_letters.requeue(ids)
    events.wake_supervisor()
    return _audited("requeue", ids, done, actor, reason)


@needs(Role.OPERATOR)
@transactional
def dismiss(ids: Sequence[UUID], actor: Actor, reason: str) -> ActionResult:
    """Close DEAD tasks for good. Raises ValueError without a reason."""
    if not reason.strip():
        raise ValueError(say("reason: empty; say in a few words why these tasks are closed"))
    done = dead_letters.dismiss(ids)
    events.wake_supervisor()
    return _audited("dismiss", ids, done, actor, reason.strip())


def _audited(
    action: str, ids: Sequence[UUID], done: set[UUID], actor: Actor, reason: str
) -> ActionResult:
    refused = why_not_moved([task_id for task_id in ids if task_id not in done])
    if done:
        moved = sorted(str(task_id) for task_id in done)
        subject = moved[0] if len(moved) == 1 else f"{len(moved)} tasks"
        note(actor, action, subject, count=len(moved), reason=reason, tasks=moved)
    return ActionResult(done, refused)


@needs(Role.OPERATOR)
@transactional
def drain_worker(worker_id: UUID, actor: Actor, reason: str = "") -> bool:
    """Ask a worker to take nothing new; what it has not started goes to others at once."""
    return _ask_drain(worker_id, actor, reason, asked=True)


@needs(Role.OPERATOR)
@transactional
def resume_worker(worker_id: UUID, actor: Actor, reason: str = "") -> bool:
    """Let a drained worker take work again."""
    return _ask_drain(worker_id, actor, reason, asked=False)


@needs(Role.OPERATOR)
@transactional
def evict_worker(worker_id: UUID, actor: Actor, reason: str) -> int | None:
    """End a boot at once: all it holds goes to others, no attempt used up.

    Returns how many leases ended, or None where the boot has ended already. Its process may still
    run, and what it reports is late; it registers anew with its next heartbeat. Raises ValueError
    without a reason.
    """
    if not reason.strip():
        raise ValueError(say("reason: empty; say in a few words why the worker is evicted"))
    name = workers.evict(worker_id)
    if name is None:
        return None
    # The process may be in the middle of each: the task has to go on elsewhere all the same, and a
    # person's decision is no fault of it.
    why = ErrorFacts(type="WorkerEvicted", message=f"Worker {name} was evicted: {reason.strip()}")
    released = release_held([worker_id], begun=True, outcome=Outcome.RELEASED, why=why)
    note(actor, "evict", f"worker {worker_id}", reason=reason.strip(), released=released)
    events.wake_supervisor()
    return released


def _ask_drain(worker_id: UUID, actor: Actor, reason: str, *, asked: bool) -> bool:
    if not workers.ask_drain(worker_id, asked):
        return False
    released = release_held([worker_id], begun=False, outcome=Outcome.RELEASED) if asked else 0
    action = "drain" if asked else "resume"
    note(actor, action, f"worker {worker_id}", reason=reason, released=released)
    events.wake_supervisor()
    return True
