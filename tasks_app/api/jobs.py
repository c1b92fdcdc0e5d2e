"""Submitting jobs, and asking what became of one."""

import re
from typing import Annotated, Any, Final
from uuid import UUID

from django.http import HttpRequest
from ninja import Body, Header, Router, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError

from tasks_app.api import faults
from tasks_app.api.bodies import bounded
from tasks_app.api.job_schemas import DecisionOut, JobOut, JobSubmittedOut, PlanIn, StepOut
from tasks_app.api.key_guesses import few_guesses
from tasks_app.api.schemas import FaultOut, FaultsOut, ProblemOut
from tasks_app.api.security import ProgramToken, program_of
from tasks_app.api.tasks import BODY_REFUSALS, REFUSALS
from tasks_app.core.faults import Fault
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.masking.redaction import Budget
from tasks_app.core.people.scopes import Scope
from tasks_app.services.jobs.jobs import JobKeyTaken, PlanInvalid, submit_job
from tasks_app.services.masking.payload_masking import hidden_from, shown_job_result
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.store.reads.jobs.jobs import find_job

router = Router(tags=["jobs"])

STEP: Final = re.compile(r"steps\[(\d+)\]\.?")


@router.post(
    "/jobs",
    auth=ProgramToken(Scope.JOBS),
    response={
        200: JobSubmittedOut,
        201: JobSubmittedOut,
        409: FaultsOut,
        **BODY_REFUSALS,
        **REFUSALS,
    },
    summary="Submit a job: a plan of steps that need one another",
)
@decorate_view(bounded)
def submit(
    request: HttpRequest,
    plan: Annotated[PlanIn, Body()],
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
) -> Any:
    """The whole plan is submitted, or nothing: 422 names every fault, ``index`` being the step's.

    A job whose key and plan are on record is not made again: its id is returned with created false,
    200 instead of 201; 409 where that key has another plan. The header is the plan's key.
    """
    if idempotency_key is not None and plan.setdefault("key", idempotency_key) != idempotency_key:
        return _refusal([Fault("key", "differs from the header Idempotency-Key; send one of them")])
    try:
        program = program_of(request)
        sees = program.may(Scope.PAYLOADS)
        # A plan may hold values of any kind.
        with few_guesses(program, None if plan.get("key") is not None else ()):
            submitted = submit_job(plan, submitted_by=program.name, sees_payloads=sees)
    except JobKeyTaken as taken:
        return _refusal(taken.faults, 409)
    except PlanInvalid as invalid:
        return _refusal(invalid.faults)
    answer = JobSubmittedOut(id=submitted.id, created=submitted.created)
    return Status(201 if submitted.created else 200, answer)


def _refusal(found: Any, status: int = 422) -> Status[FaultsOut]:
    return Status(status, faults.counted(_told(fault) for fault in found))


def _told(fault: Fault) -> FaultOut:
    """A fault of a plan; that of a step has its index."""
    step = STEP.match(fault.place)
    return FaultOut(
        index=int(step[1]) if step else None,
        field=(fault.place[step.end() :] if step else fault.place) or "step",
        value="",
        message=fault.message,
    )


@router.get(
    "/jobs/{job_id}",
    response={200: JobOut, 404: ProblemOut, **REFUSALS},
    summary="One job: its steps, its progress, whom it waits for, its result",
)
def job(request: HttpRequest, job_id: UUID) -> Any:
    """The job as the record shows it now."""
    found = find_job(job_id)
    if found is None:
        raise HttpError(404, f"there is no job {job_id}")
    row = found.job
    hidden = hidden_from(program_of(request).may(Scope.PAYLOADS))
    budget = Budget()
    waits_for = shown_rows(found.waits_for, hidden, "task_id", "message", budget=budget)
    return JobOut(
        id=row.id,
        name=row.name,
        key=row.key,
        status=JobStatus(row.status),
        paused=row.paused,
        cancel_asked=row.cancel_asked,
        on_dead=found.plan.policy,
        progress=found.progress,
        steps=[StepOut.from_orm(step) for step in found.steps],
        waits_for=[DecisionOut.from_orm(each) for each in waits_for],
        more_waits=found.more_waits,
        result=shown_job_result(found, hidden, budget),
        submitted_by=row.submitted_by,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
