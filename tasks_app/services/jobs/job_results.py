"""The results of jobs, and those of their steps that a template refers to."""

import json
from collections.abc import Sequence
from uuid import UUID

from tasks_app.core.jobs.references import Reference, Scope, assemble, find_references
from tasks_app.core.jobs.saga import steps_of
from tasks_app.core.sanitise import sanitise
from tasks_app.core.states import Status
from tasks_app.services.jobs.job_steps import LockedJob
from tasks_app.store.jobs import steps


def results_of(jobs: Sequence[LockedJob]) -> dict[UUID, str]:
    """The result of each job, put together as its plan says: without it, from its last steps."""
    return {job.id: _result_of(job) for job in jobs}


def _result_of(job: LockedJob) -> str:
    """Read for one job at a time: those of many would be in memory at once."""
    template = job.plan.result
    if not job.plan.has_result:
        last = [step.name for step in job.plan.steps if not job.plan.dependents[step.name]]
        template = {name: {"$result": name} for name in last}
    results = results_for(template, job)
    return json.dumps(sanitise(assemble(template, Scope(results))), allow_nan=False)


def results_for(template: object, job: LockedJob) -> dict[str, object]:
    """The results of the steps that a template refers to, of those that are COMPLETED."""
    found = find_references(template, "")
    named = {each.step for _, each in found if isinstance(each, Reference)}
    wanted = {
        task.id: name
        for task in steps_of(job.tasks)
        if task.status is Status.COMPLETED and (name := job.plan.steps[task.place].name) in named
    }
    results = steps.payloads_and_results(list(wanted))
    return {wanted[task_id]: result for task_id, (_, result) in results.items()}
