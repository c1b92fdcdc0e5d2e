"""The supervisor's look at jobs of which something moved: prepare, join, decide, apply.

One transaction for a batch of jobs, each statement once for all of them. Everything is decided on
what was read after the jobs were locked; what moved since, moves the inbox again. Each part is
bounded in rows, whatever a job has: what is left over puts the job into the inbox again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tasks_app.core.jobs.job_states import JOB_FINAL, JobStatus, Role
from tasks_app.core.jobs.plans import Plan, load_plan
from tasks_app.core.jobs.saga import JobDecision, JobFacts, JobTask, decide_job
from tasks_app.core.states import Status
from tasks_app.services.actions.cancellation import let_go
from tasks_app.services.jobs.job_compensation import compensate, done_last
from tasks_app.services.jobs.job_joins import settle_joins
from tasks_app.services.jobs.job_results import results_of
from tasks_app.services.jobs.job_steps import LockedJob, prepare_steps
from tasks_app.services.jobs.jobs import HELD_AT_ONCE, schema_check
from tasks_app.store.failures import dead_letters
from tasks_app.store.jobs import job_holds, job_tasks
from tasks_app.store.jobs import jobs as store
from tasks_app.store.jobs.jobs import JobRow

Decided = tuple[LockedJob, JobDecision]

PLANS_AT_ONCE: Final = 256 * 1024
"""Characters of plans that one transaction reads: some tenths of a second."""

STOPPED_AT_ONCE: Final = 500
"""Tasks that one transaction lets go or closes because their jobs end."""


@dataclass(frozen=True, slots=True)
class JobsLook:
    """How many jobs were looked at, and whether the inbox may hold more that can be now."""

    moved: int = 0
    more: bool = False


def settle_jobs(limit: int) -> JobsLook:
    """Look at up to about ``limit`` jobs of the inbox. Part of a round."""
    taken = store.take_news(limit)
    locked = store.lock_free_jobs(taken, PLANS_AT_ONCE)
    left = sorted(set(taken) - {row.id for row in locked})
    # Somebody has them locked, or there were enough plans: an entry is never lost.
    store.add_news(left)
    rows = [row for row in locked if row.status not in JOB_FINAL]
    if rows:
        _hold(rows)
        _look_at(rows)
    return JobsLook(len(locked), more=bool(locked) and len(taken) >= limit)


def _hold(rows: Sequence[JobRow]) -> None:
    """Have a portion of the tasks follow a pause or a resumption of their jobs."""
    room = HELD_AT_ONCE
    for row in rows:
        if not row.pause_under_way:
            continue
        is_over, looked_at = job_holds.hold_next(row.id, room) if room else (False, 0)
        room -= looked_at
        if not is_over:
            store.add_news([row.id])


def _look_at(rows: Sequence[JobRow]) -> None:
    plans = {row.id: load_plan(row.plan) for row in rows}
    jobs = _with_tasks(rows, plans)
    if prepare_steps(jobs, schema_check()):
        jobs = _with_tasks(rows, plans)
    if settle_joins(jobs):
        jobs = _with_tasks(rows, plans)
    facts = _facts_of(jobs)
    decided = [
        (job, decide_job(JobFacts(job.plan, job.status, facts[job.id], job.cancel_asked)))
        for job in jobs
        if job.id in facts
    ]
    stayed = _stop([each for each in decided if each[1].stop])
    compensate([(job, each.undo) for job, each in decided if each.undo is not None])
    _move([(job, decision) for job, decision in decided if job.id not in stayed])


def _with_tasks(rows: Sequence[JobRow], plans: Mapping[UUID, Plan]) -> list[LockedJob]:
    tasks, items = job_tasks.steps_of_jobs([row.id for row in rows])
    return [
        LockedJob(
            row.id,
            row.status,
            plans[row.id],
            paused=row.paused,
            cancel_asked=row.cancel_asked,
            created_at=row.created_at,
            tasks=tasks[row.id],
            items=items[row.id],
        )
        for row in rows
    ]


def _facts_of(jobs: Sequence[LockedJob]) -> dict[UUID, Sequence[JobTask]]:
    """What is decided on; a job of which more must be read first is left out."""
    rest = job_tasks.rest_of_jobs([job.id for job in jobs if not job.goes_forward])
    # Nothing is undone before everything else has ended.
    backward = [
        job for job in jobs if job.status is JobStatus.COMPENSATING and not rest[job.id].tasks
    ]
    done = done_last(backward)
    facts: dict[UUID, Sequence[JobTask]] = {}
    for job in jobs:
        if job.goes_forward:
            facts[job.id] = [*job.tasks, *_open_items(job)]
        elif job not in backward or job.id in done:
            facts[job.id] = [*rest[job.id].tasks, *done.get(job.id, ())]
    return facts


def _open_items(job: LockedJob) -> list[JobTask]:
    """One item for each join that has some which may still move: it stands for all of them."""
    return [
        JobTask(task.id, task.place, Role.ITEM, Status.PENDING)
        for task in job.tasks
        if task.role is Role.JOIN and job.items[task.place].open
    ]


def _stop(decided: Sequence[Decided]) -> set[UUID]:
    """End some of what is open, close some of what is DEAD; return the jobs that cannot end yet."""
    ids = [job.id for job, _ in decided]
    if not ids:
        return set()
    locked = job_tasks.lock_rest(ids, STOPPED_AT_ONCE)
    let_go([task_id for task_id, status in locked if status is not Status.DEAD])
    dead = [task_id for task_id, status in locked if status is Status.DEAD]
    if dead:
        dead_letters.dismiss(dead)
    # More than could be stopped at once, locked by somebody, or requeued by a human meanwhile.
    rest = job_tasks.rest_of_jobs(ids)
    store.add_news([job_id for job_id in ids if rest[job_id].unasked])
    return {
        job.id for job, decision in decided if decision.status in JOB_FINAL and rest[job.id].forward
    }


def _move(decided: Sequence[Decided]) -> None:
    moving = [(job, decision) for job, decision in decided if decision.status is not job.status]
    results = results_of([job for job, d in moving if d.status is JobStatus.COMPLETED])
    store.move_jobs([(job.id, decision.status, results.get(job.id)) for job, decision in moving])
    # Where nothing was open when the way back began, nothing else would announce it.
    turned = [job.id for job, d in moving if d.status is JobStatus.COMPENSATING]
    if turned:
        store.add_news(turned)
