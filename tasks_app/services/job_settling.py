"""The supervisor's look at jobs of which something moved: prepare, join, decide, apply.

One transaction for a batch of jobs, each statement once for all of them. Everything is decided on
what was read after the jobs were locked; what moved since, moves the inbox again.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from tasks_app.core.jobs import JOB_FINAL, JobStatus, Role
from tasks_app.core.plans import Plan, load_plan
from tasks_app.core.saga import JobDecision, JobFacts, JobTask, decide_job
from tasks_app.core.states import Status
from tasks_app.services.cancellation import let_go
from tasks_app.services.job_compensation import compensate
from tasks_app.services.job_results import results_of
from tasks_app.services.job_steps import LockedJob, prepare_steps, settle_joins
from tasks_app.services.jobs import schema_check
from tasks_app.store import dead_letters, steps
from tasks_app.store import jobs as store
from tasks_app.store.jobs import JobRow

Decided = tuple[LockedJob, JobDecision]


def settle_jobs(limit: int) -> int:
    """Look at up to about ``limit`` jobs of the inbox; return how many. Part of a round."""
    taken = store.take_news(limit)
    rows = [row for row in store.lock_jobs(taken) if row.status not in JOB_FINAL]
    if not rows:
        return len(taken)
    plans = {row.id: load_plan(row.plan) for row in rows}
    jobs = _with_tasks(rows, plans)
    if prepare_steps(jobs, schema_check()):
        jobs = _with_tasks(rows, plans)
    if settle_joins(jobs):
        jobs = _with_tasks(rows, plans)
    decided = [
        (job, decide_job(JobFacts(job.plan, job.status, job.tasks, job.cancel_asked)))
        for job in jobs
    ]
    stayed = _stop([each for each in decided if each[1].stop])
    compensate([(job, each.undo) for job, each in decided if each.undo is not None])
    _move([(job, decision) for job, decision in decided if job.id not in stayed])
    return len(taken)


def _with_tasks(rows: Sequence[JobRow], plans: Mapping[UUID, Plan]) -> list[LockedJob]:
    """The jobs with their tasks; with every item only where the way goes back."""
    whole = [row.id for row in rows if _goes_back(row)]
    forward = [row.id for row in rows if not _goes_back(row)]
    tasks = steps.tasks_of_jobs(whole, items=True) | steps.tasks_of_jobs(forward, items=False)
    items = steps.count_items([row.id for row in rows])
    for job_id in forward:
        tasks[job_id] += [
            JobTask(one, place, Role.ITEM, Status.PENDING)
            for place, (_, one) in items[job_id].items()
            if one is not None
        ]
    return [
        LockedJob(
            row.id,
            row.status,
            plans[row.id],
            paused=row.paused,
            cancel_asked=row.cancel_asked,
            created_at=row.created_at,
            tasks=tasks[row.id],
            items={place: counts for place, (counts, _) in items[row.id].items()},
        )
        for row in rows
    ]


def _goes_back(row: JobRow) -> bool:
    return row.cancel_asked or row.status is JobStatus.COMPENSATING


def _stop(decided: Sequence[Decided]) -> set[UUID]:
    """End what is open and close what is DEAD; return the jobs of which a human took one back."""
    whole = steps.tasks_of_jobs([job.id for job, _ in decided], items=True)
    ends = {job.id for job, decision in decided if decision.status in JOB_FINAL}
    # Nothing was open when the end was decided: a DEAD task has been requeued since.
    stayed = {job_id for job_id in ends if any(task.is_open for task in whole[job_id])}
    forward = [
        (job_id, task)
        for job_id, tasks in whole.items()
        for task in tasks
        if job_id not in stayed and task.role is not Role.COMPENSATION
    ]
    let_go([task.id for _, task in forward if task.is_open])
    dead = {task.id: job_id for job_id, task in forward if task.status is Status.DEAD}
    closed = dead_letters.dismiss(list(dead)) if dead else set()
    return stayed | {job_id for task_id, job_id in dead.items() if task_id not in closed}


def _move(decided: Sequence[Decided]) -> None:
    moving = [(job, decision) for job, decision in decided if decision.status is not job.status]
    results = results_of([job for job, d in moving if d.status is JobStatus.COMPLETED])
    store.move_jobs([(job.id, decision.status, results.get(job.id)) for job, decision in moving])
    # Where nothing was open when the way back began, nothing else would announce it.
    turned = [job.id for job, d in moving if d.status is JobStatus.COMPENSATING]
    if turned:
        store.add_news(turned)
