"""The way back of a job: the next compensation of each that goes back, one at a time."""

import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.jobs.plans import Compensation, undo_payload
from tasks_app.core.jobs.references import Scope, assemble
from tasks_app.core.jobs.saga import JobTask, next_compensation
from tasks_app.core.masking.origins import as_json, origins_of_undo
from tasks_app.core.sanitise import sanitise
from tasks_app.models.ids import new_id
from tasks_app.services.jobs.job_results import results_for
from tasks_app.services.jobs.job_steps import LockedJob
from tasks_app.store.intake.submission import TaskRow, existing_keys, insert_tasks
from tasks_app.store.jobs import job_tasks, steps
from tasks_app.store.jobs import jobs as store
from tasks_app.store.jobs.steps import StepRow

Undoing = tuple[LockedJob, JobTask]
"""A job and the task of it that is undone next."""


DONE_AT_ONCE: Final = 500
"""COMPLETED tasks of each job among which one look seeks the next to undo."""


def done_last(jobs: Sequence[LockedJob]) -> dict[UUID, Sequence[JobTask]]:
    """Of each job COMPLETED tasks that are not undone yet, the one to undo next among them.

    A job of which those looked at have none, but more are left, is looked at again and left out.
    """
    if not jobs:
        return {}
    found = job_tasks.done_of_jobs([job.id for job in jobs], DONE_AT_ONCE)
    candidates: dict[UUID, Sequence[JobTask]] = {}
    passed: dict[UUID, UUID] = {}
    for job in jobs:
        tasks = found[job.id]
        candidates[job.id] = [task for task, is_undone in tasks if not is_undone]
        undoable = next_compensation(job.plan, candidates[job.id])
        if undoable is None and len(tasks) == DONE_AT_ONCE:
            last, _ = tasks[-1]
            passed[last.id] = last.id
            del candidates[job.id]
        elif undoable is not None:
            passed[undoable.id] = job_tasks.LAST
    job_tasks.go_on_from(passed)
    store.add_news([job.id for job in jobs if job.id not in candidates])
    return candidates


def compensate(undoing: Sequence[Undoing]) -> None:
    """Make the next compensation of each of these jobs."""
    if not undoing:
        return
    found = steps.payloads_and_results([task.id for _, task in undoing])
    origins = steps.origins_of([task.id for _, task in undoing])
    taken = existing_keys([(_compensation_of(*each).kind, _key_of(each[1])) for each in undoing])
    tasks, rows = [], []
    for job, undone in undoing:
        step, compensation = job.plan.steps[undone.place], _compensation_of(job, undone)
        task_id, key = new_id(), _key_of(undone)
        row = TaskRow(
            id=task_id,
            kind=compensation.kind,
            # Of parts that are stored already, and never refused: what was done must be undone,
            # though it come to more than a payload at the door may.
            payload=json.dumps(_payload_of(job, undone, *found[undone.id]), allow_nan=False),
            # Anybody may have submitted a task under that key: it must not keep this one out. Each
            # step is undone once by the lock of the job, and by step_task.
            key=f"{key}:{task_id}" if (compensation.kind, key) in taken else key,
            priority=job.plan.priority,
            waiting_on=int(job.paused),
            holds=int(job.paused),
            has_dependents=True,
            job_id=job.id,
            origins=as_json(origins_of_undo(job.plan, step, origins[undone.id])),
        )
        tasks.append(row)
        rows.append(
            StepRow(row.id, undone.place, Role.COMPENSATION, job.id, undone.item, undone.id)
        )
    insert_tasks(tasks)
    steps.insert_steps(rows)


def _compensation_of(job: LockedJob, undone: JobTask) -> Compensation:
    compensation = job.plan.steps[undone.place].compensation
    assert compensation is not None, "only what can be undone is"
    return compensation


def _payload_of(job: LockedJob, undone: JobTask, payload: object, result: object) -> object:
    step = job.plan.steps[undone.place]
    compensation = _compensation_of(job, undone)
    if not compensation.has_template:
        return undo_payload(step.name, payload, result)
    results = results_for(compensation.template, job) | {step.name: result}
    return sanitise(assemble(compensation.template, Scope(results)))


def _key_of(undone: JobTask) -> str:
    """The key by which a receiver knows the compensation of a task, whoever runs it."""
    return f"undo:{undone.id}"
