"""Jobs as people and programs see them: submitted whole or not at all, paused, ended, undone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from tasks_app import events
from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import LONGEST_KEY
from tasks_app.core.intake.payloads import dump_json
from tasks_app.core.jobs.job_states import JOIN_KIND
from tasks_app.core.jobs.job_states import Role as StepRole
from tasks_app.core.jobs.plan_checks import check_plan
from tasks_app.core.jobs.plans import PLAN_LIMITS, PayloadCheck, Plan, Step, deadline_of
from tasks_app.core.masking.hidden_conditions import comparison_faults, lock_faults
from tasks_app.core.masking.origins import as_json, origins_of_step
from tasks_app.core.states import EdgeState
from tasks_app.models.ids import new_id
from tasks_app.services.intake.payload_schemas import PayloadSchema
from tasks_app.services.masking.payload_masking import hidden_from
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.intake.submission import EdgeRow, TaskRow, insert_edges, insert_tasks
from tasks_app.store.jobs import job_holds, steps
from tasks_app.store.jobs import jobs as store
from tasks_app.store.jobs.steps import StepRow
from tasks_app.store.reads.settings.configuration import kind_doors
from tasks_app.store.settings.kinds import ensure_kinds

HELD_AT_ONCE: Final = 1000
"""Tasks of jobs that follow a pause or a resumption in one transaction: 0.1 ms each at most."""


class PlanInvalid(ValueError):
    """Nothing was submitted; ``faults`` names every reason with its place."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        super().__init__(f"{self.faults[0]}{more}")


class JobKeyTaken(PlanInvalid):
    """Nothing was submitted: the plan's key is that of a job with another plan."""


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    """The job's id; not ``created`` when its key was on record already."""

    id: UUID
    created: bool


def submit_job(
    plan: object, *, submitted_by: str = "", sees_payloads: bool = True, dry_run: bool = False
) -> JobSubmitted:
    """Check a plan and submit its job in one transaction. Raises PlanInvalid.

    The shape of a plan is in ``docs/jobs.md``. A second submission of a key and its plan is the
    first one's job; JobKeyTaken where its plan is another. ``dry_run`` rolls all of it back.
    Whoever may not see payloads whole may not have a step run, or wait for a lock, by a value that
    is hidden.
    """
    doors = kind_doors()
    checked = check_plan(plan, doors, schema_check())
    if checked.plan is None:
        raise PlanInvalid(checked.faults)
    hidden = hidden_from(sees_payloads)
    guesses = [*comparison_faults(checked.plan, hidden), *lock_faults(checked.plan, hidden)]
    if guesses:
        raise PlanInvalid(guesses)
    return _submit(checked.plan, dump_json(plan, PLAN_LIMITS).text, submitted_by, dry_run)


def schema_check() -> PayloadCheck:
    """Hold payloads against the schemas that the kinds have now."""
    schemas = {name: PayloadSchema(door.payload_schema) for name, door in kind_doors().items()}

    def check(kind: str, payload: Any) -> Fault | None:
        fault = schemas[kind].first_fault(payload) if kind in schemas else None
        return Fault(fault[0], f"{fault[2]}, got {fault[1]}") if fault else None

    return check


@transactional
def _submit(plan: Plan, text: str, submitted_by: str, dry_run: bool) -> JobSubmitted:
    job_id = new_id()
    began = store.insert_job(
        job_id, name=plan.name, key=plan.key, plan=text, submitted_by=submitted_by
    )
    if began is None:
        found = store.job_of_key(plan.key or "", text)
        assert found is not None, "only the key of a job on record is refused"
        job_id, same = found
        if not same:
            message = f"on record already with another plan, as job {job_id}"
            remedy = "give this one a key of its own, or send the plan that was sent before"
            raise JobKeyTaken([Fault("key", f"{message}; {remedy}")])
        return JobSubmitted(job_id, created=False)
    if any(step.is_join for step in plan.steps):
        ensure_kinds([JOIN_KIND])
    ids = {step.name: new_id() for step in plan.steps}
    rows = _task_rows(plan, job_id, ids, began)
    if insert_tasks(rows) != len(rows):
        message = f"another task has the key {plan.key}/STEP that a step of this job would have"
        raise PlanInvalid([Fault("key", f"{message}; give the job another key")])
    insert_edges(
        [
            EdgeRow(ids[step.name], ids[need.on], need.on, need.on_dead, EdgeState.WAITING)
            for step in plan.steps
            for need in step.needs
        ]
    )
    steps.insert_steps(
        [
            StepRow(ids[step.name], place, StepRole.JOIN if step.is_join else StepRole.STEP, job_id)
            for place, step in enumerate(plan.steps)
        ]
    )
    store.add_news([job_id])
    events.wake_supervisor()
    if dry_run:
        transaction.set_rollback(True)
    return JobSubmitted(job_id, created=True)


def _task_rows(
    plan: Plan, job_id: UUID, ids: Mapping[str, UUID], began: datetime
) -> Sequence[TaskRow]:
    return [
        TaskRow(
            id=ids[step.name],
            kind=JOIN_KIND if step.is_join else step.kind,
            key=_key_of(plan, step),
            payload=dump_json(step.payload, PLAN_LIMITS).text,
            priority=plan.priority,
            estimate_seconds=step.estimate_seconds,
            max_attempts=step.max_attempts,
            waiting_on=len(step.needs) + int(step.needs_preparation),
            dependency_count=len(step.needs),
            # The job waits for the end of each of its tasks.
            has_dependents=True,
            job_id=job_id,
            holds=int(step.needs_preparation),
            unprepared=step.needs_preparation,
            # A join is nobody's work: its items have the lock and the deadline.
            lock_key=step.lock_key if isinstance(step.lock_key, str) and not step.is_join else None,
            weight=step.weight,
            deadline_at=None if step.is_join else deadline_of(step, began),
            origins=as_json(origins_of_step(plan, step)),
        )
        for step in plan.steps
    ]


def _key_of(plan: Plan, step: Step) -> str | None:
    """What people call the step's task: by the job's own key, where there is one and it fits."""
    key = f"{plan.key}/{step.name}"
    return key if plan.key and len(key) <= LONGEST_KEY else None


@needs(Role.OPERATOR)
@transactional
def pause_job(job_id: UUID, actor: Actor, reason: str = "") -> bool:
    """Hand out nothing more of a job; what runs goes on. False when there is nothing to pause."""
    return _act("pause", job_id, actor, reason, lambda: _hold(job_id, paused=True))


@needs(Role.OPERATOR)
@transactional
def resume_job(job_id: UUID, actor: Actor, reason: str = "") -> bool:
    """Go on with a paused job."""
    return _act("resume", job_id, actor, reason, lambda: _hold(job_id, paused=False))


def _hold(job_id: UUID, *, paused: bool) -> bool:
    """Pause a job or resume it; the tasks beyond the first portion follow with the next rounds."""
    if not store.set_paused(job_id, paused=paused):
        return False
    job_holds.hold_next(job_id, HELD_AT_ONCE)
    return True


@needs(Role.OPERATOR)
@transactional
def cancel_job(job_id: UUID, actor: Actor, reason: str = "") -> bool:
    """End a job as CANCELLED once what runs has let go; what is done stays done.

    False when it has ended or is being undone.
    """
    return _act("cancel", job_id, actor, reason, lambda: store.ask_cancel(job_id))


@needs(Role.OPERATOR)
@transactional
def compensate_job(job_id: UUID, actor: Actor, reason: str = "") -> bool:
    """End a job by undoing its completed steps. False when it has ended or is ending already."""
    return _act("compensate", job_id, actor, reason, lambda: store.begin_compensation(job_id))


def _act(action: str, job_id: UUID, actor: Actor, reason: str, write: Callable[[], bool]) -> bool:
    store.lock_jobs([job_id])
    if not write():
        return False
    store.add_news([job_id])
    note(actor, action, f"job {job_id}", reason=reason, job=str(job_id))
    events.wake_supervisor()
    return True
