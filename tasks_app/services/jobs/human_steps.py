"""What a person does with a step that waits for people: take it, extend, hand back, complete.

A person is the id of their user, and the actor of the audit. Each act is one transaction under the
fencing token of the person's lease, and audited. A lease that ran out is taken back by the sweep;
until then it is still the person's.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from tasks_app import events
from tasks_app.core.intake.payloads import dump_json
from tasks_app.core.sanitise import sanitise
from tasks_app.core.states import Outcome
from tasks_app.core.words import say
from tasks_app.models.ids import new_id
from tasks_app.services.attempts.lease_ends import release_held
from tasks_app.services.jobs.result_schemas import Faults, result_faults
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.attempts import late_results, leases
from tasks_app.store.jobs import human_steps
from tasks_app.store.reads.jobs.inbox import (
    find_held,
    find_person,
    find_step,
    why_not_claimed,
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A step that is the person's until ``held_until``; every further act names its ``token``."""

    token: int
    held_until: datetime


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a step was not taken, in a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Completed:
    """What a completion came to: ``done``, or faults by field, or neither: the lease was lost."""

    done: bool = False
    faults: Faults = field(default_factory=dict)


@needs(Role.OPERATOR)
@transactional
def claim_step(task_id: UUID, user_id: int, actor: Actor) -> Claimed | Refused:
    """Take a step that waits for people; of two at once exactly one gets it."""
    worker_id = human_steps.ensure_person(new_id(), user_id, actor.name)
    found = human_steps.claim(task_id, worker_id)
    if found is None:
        return Refused(why_not_claimed(task_id) or say("Somebody was faster; look again."))
    claimed = Claimed(*found)
    note(actor, "claim", str(task_id), tasks=[str(task_id)], token=claimed.token)
    return claimed


@needs(Role.OPERATOR)
@transactional
def extend_step(task_id: UUID, token: int, user_id: int, actor: Actor) -> datetime | None:
    """Have the whole time again from now; None when it is no longer theirs."""
    worker_id = find_person(user_id)
    until = None if worker_id is None else human_steps.extend(task_id, token, worker_id)
    if until is not None:
        note(actor, "extend", str(task_id), tasks=[str(task_id)], token=token)
    return until


@needs(Role.OPERATOR)
@transactional
def release_step(task_id: UUID, token: int, user_id: int, actor: Actor) -> bool:
    """Hand a step back to the inbox, without using up an attempt."""
    worker_id, held = find_person(user_id), find_held(task_id)
    if worker_id is None or held is None or held.token != token:
        return False
    released = release_held([worker_id], begun=True, outcome=Outcome.RELEASED, tokens=[token])
    if released:
        note(actor, "release", str(task_id), tasks=[str(task_id)], token=token)
    return bool(released)


@needs(Role.OPERATOR)
@transactional
def complete_step(task_id: UUID, token: int, result: Any, user_id: int, actor: Actor) -> Completed:
    """Record the person's result, if the kind's schema takes it.

    One that comes under a token that is no longer held goes to the ledger of late results.
    """
    step, worker_id = find_step(task_id), find_person(user_id)
    if step is None or worker_id is None:
        return Completed()
    faults = result_faults(step.result_schema, result)
    if faults:
        return Completed(faults=faults)
    text = dump_json(sanitise(result)).text
    if not leases.complete(worker_id, [task_id], [token], f"[{text}]"):
        late_results.record_late(worker_id, [task_id], [token], [text], Outcome.COMPLETED)
        return Completed()
    events.wake_supervisor()
    note(actor, "complete", str(task_id), tasks=[str(task_id)], token=token)
    return Completed(done=True)
