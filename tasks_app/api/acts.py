"""What operators' programs do: pause, resume, quarantine, free, drain, cancel; all is audited."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import UUID

from django.http import HttpRequest
from ninja import Body, Router, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError

from tasks_app.api import faults
from tasks_app.api.act_schemas import (
    ActOut,
    BulkIn,
    BulkOut,
    CancelIn,
    CancelOut,
    KindActIn,
    ReasonIn,
    RefusalOut,
    WorkerActIn,
)
from tasks_app.api.bodies import bounded
from tasks_app.api.key_guesses import few_guesses
from tasks_app.api.schemas import FaultOut, FaultsOut, ProblemOut
from tasks_app.api.security import ProgramToken, actor_of, program_of
from tasks_app.api.tasks import BODY_REFUSALS, REFUSALS
from tasks_app.core.actions.bulks import BulkAction, BulkOrder, BulkState
from tasks_app.core.people.scopes import Scope
from tasks_app.services.actions import kind_holds, operations
from tasks_app.services.actions.bulks import BulkKeyTaken, OrderInvalid, abort
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.jobs import jobs
from tasks_app.services.people.people import Actor
from tasks_app.services.search.found_tasks import begin_found, read_words
from tasks_app.store.reads.actions import kind_holds as holds
from tasks_app.store.reads.actions.bulks import BulkRow, find_bulk

router = Router(tags=["acts"], auth=ProgramToken(Scope.OPERATE))

ACTED: Final[Any] = {200: ActOut, 404: ProblemOut, **BODY_REFUSALS, **REFUSALS}


class KindAct(StrEnum):
    """What can be done to a kind."""

    PAUSE = "pause"
    RESUME = "resume"
    QUARANTINE = "quarantine"
    FREE = "free"


class WorkerAct(StrEnum):
    """What can be done to a worker; to drain one is to pause it."""

    DRAIN = "drain"
    RESUME = "resume"


class JobAct(StrEnum):
    """What can be done to a job."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    COMPENSATE = "compensate"


KIND_ACTS: Final[Mapping[KindAct, Callable[[str, Actor, str], bool]]] = {
    KindAct.PAUSE: kind_holds.pause_kind,
    KindAct.RESUME: kind_holds.resume_kind,
    KindAct.QUARANTINE: kind_holds.quarantine_kind,
    KindAct.FREE: kind_holds.free_kind,
}
WORKER_ACTS: Final[Mapping[WorkerAct, Callable[[UUID, Actor, str], bool]]] = {
    WorkerAct.DRAIN: operations.drain_worker,
    WorkerAct.RESUME: operations.resume_worker,
}
JOB_ACTS: Final[Mapping[JobAct, Callable[[UUID, Actor, str], bool]]] = {
    JobAct.PAUSE: jobs.pause_job,
    JobAct.RESUME: jobs.resume_job,
    JobAct.CANCEL: jobs.cancel_job,
    JobAct.COMPENSATE: jobs.compensate_job,
}


@router.post("/kinds/{act}", response=ACTED, summary="Pause, resume, quarantine or free a kind")
@decorate_view(bounded)
def kind(request: HttpRequest, act: KindAct, body: Annotated[KindActIn, Body()]) -> Any:
    """``free`` ends a quarantine. What has begun goes on in any case."""
    if not holds.kind_exists(body.kind):
        raise HttpError(404, f"there is no kind {body.kind}")
    return ActOut(changed=KIND_ACTS[act](body.kind, actor_of(request), body.reason))


@router.post("/workers/{act}", response=ACTED, summary="Drain a worker, or let it take work again")
@decorate_view(bounded)
def worker(request: HttpRequest, act: WorkerAct, body: Annotated[WorkerActIn, Body()]) -> Any:
    """A drained worker ends what it has begun; what it has not begun goes to others at once."""
    found = holds.live_worker(body.worker)
    if found is None:
        raise HttpError(404, f"there is no live worker {body.worker}")
    return ActOut(changed=WORKER_ACTS[act](found, actor_of(request), body.reason))


@router.post(
    "/jobs/{job_id}/{act}", response=ACTED, summary="Pause, resume, cancel or undo a whole job"
)
@decorate_view(bounded)
def job(request: HttpRequest, job_id: UUID, act: JobAct, body: Annotated[ReasonIn, Body()]) -> Any:
    """``cancel`` lets go what runs and keeps what is done; ``compensate`` undoes what is done."""
    if not holds.job_exists(job_id):
        raise HttpError(404, f"there is no job {job_id}")
    return ActOut(changed=JOB_ACTS[act](job_id, actor_of(request), body.reason))


@router.post(
    "/cancellations",
    response={200: CancelOut, **BODY_REFUSALS, **REFUSALS},
    summary="Cancel tasks by their ids",
)
@decorate_view(bounded)
def cancel(request: HttpRequest, body: Annotated[CancelIn, Body()]) -> Any:
    """At once where nobody works on them; the workers of others are asked to let go."""
    result = cancel_tasks(list(dict.fromkeys(body.ids)), actor_of(request), body.reason)
    return CancelOut(
        cancelled=sorted(result.done),
        asked=sorted(result.asked),
        refused=[RefusalOut(id=each, reason=why) for each, why in sorted(result.refused.items())],
    )


@router.post(
    "/bulks",
    response={200: BulkOut, 202: BulkOut, 409: FaultsOut, **BODY_REFUSALS, **REFUSALS},
    summary="Cancel, requeue or dismiss whatever a query finds",
)
@decorate_view(bounded)
def begin_bulk(request: HttpRequest, body: Annotated[BulkIn, Body()]) -> Any:
    """Up to 1,000,000 tasks, frozen now and held for ten seconds; then done in the background.

    A key that was sent before gets the bulk that it began; 409 where that was another act. 200 with
    total 0 and no id: the query finds no task that the act can touch.
    """
    order = BulkOrder(body.action, body.reason, key=body.key or "")
    program = program_of(request)
    try:
        read = read_words(body.query, sees_payloads=program.may(Scope.PAYLOADS))
        # The query of a bulk may hold values of any kind.
        with few_guesses(program, None if order.key else ()):
            found = begin_found(order, read, actor_of(request))
    except OrderInvalid as invalid:
        told = [
            FaultOut(index=None, field=fault.place, value="", message=fault.message)
            for fault in invalid.faults
        ]
        status = 409 if isinstance(invalid, BulkKeyTaken) else 422
        return Status(status, faults.counted(told))
    if found is None:
        return Status(200, BulkOut(action=body.action, ended="The query finds no such task."))
    return Status(202, _told(found))


@router.get(
    "/bulks/{bulk_id}",
    auth=ProgramToken(Scope.READ),
    response={200: BulkOut, 404: ProblemOut, **REFUSALS},
    summary="How far a bulk has come",
)
def bulk(request: HttpRequest, bulk_id: UUID) -> Any:
    """The bulk as the record shows it now."""
    return _told(_found(bulk_id))


@router.post("/bulks/{bulk_id}/abort", response=ACTED, summary="Stop a bulk")
@decorate_view(bounded)
def abort_bulk(request: HttpRequest, bulk_id: UUID, body: Annotated[ReasonIn, Body()]) -> Any:
    """Nothing more is moved; what it has moved stays moved. While it is held that is nothing."""
    _found(bulk_id)
    return ActOut(changed=abort(bulk_id, actor_of(request)))


def _found(bulk_id: UUID) -> BulkRow:
    found = find_bulk(bulk_id)
    if found is None:
        raise HttpError(404, f"there is no bulk {bulk_id}")
    return found


def _told(found: BulkRow) -> BulkOut:
    return BulkOut(
        id=found.id,
        action=BulkAction(found.action),
        state=BulkState(found.state),
        total=found.total,
        dealt_with=found.place,
        moved=found.moved,
        ended=found.ended,
    )
