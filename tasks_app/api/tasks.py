"""Submitting tasks, and asking what became of one."""

from dataclasses import replace
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Body, Header, Query, Router, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError

from tasks_app.api import faults
from tasks_app.api.bodies import bounded
from tasks_app.api.key_guesses import few_guesses
from tasks_app.api.schemas import (
    AttemptOut,
    FaultOut,
    FaultsOut,
    KindOut,
    ProblemOut,
    SubmitOut,
    SubmittedOut,
    TaskIn,
    TaskOrBatch,
    TaskOut,
    WaitOut,
)
from tasks_app.api.security import ProgramToken, program_of
from tasks_app.api.task_schemas import ListIn, TaskListOut, TaskRowOut
from tasks_app.core import states
from tasks_app.core.intake.new_tasks import TaskFault, shown
from tasks_app.core.masking.redaction import Budget
from tasks_app.core.people.scopes import Scope
from tasks_app.core.search.query_checks import QueryFault
from tasks_app.services.intake.submission import NewTask, SubmissionInvalid, submit_tasks
from tasks_app.services.masking.payload_masking import hidden_from
from tasks_app.services.masking.word_masking import shown_rows, words_about
from tasks_app.services.search.task_search import SearchOrder, read_query
from tasks_app.store.reads.search import task_answers
from tasks_app.store.reads.search.task_lists import SEARCH_SECONDS, list_tasks
from tasks_app.store.reads.search.task_rows import Cursor, Sort

router = Router(tags=["tasks"])

REFUSALS = {401: ProblemOut, 403: ProblemOut, 422: FaultsOut, 429: ProblemOut}
BODY_REFUSALS = {400: ProblemOut, 411: ProblemOut, 413: ProblemOut, 415: ProblemOut}


@router.post(
    "/tasks",
    auth=ProgramToken(Scope.SUBMIT),
    response={200: SubmitOut, 201: SubmitOut, 409: FaultsOut, **BODY_REFUSALS, **REFUSALS},
    summary="Submit one task, or up to 10,000 at once",
)
@decorate_view(bounded)
def submit(
    request: HttpRequest,
    body: Annotated[TaskOrBatch, Body()],
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
) -> Any:
    """All are submitted, or none: 422 names every fault by item and field.

    A task whose key is on record with the same content is not made again: its id is returned with
    created false. 201 when at least one is new, else 200; 409 names each item whose key is taken by
    other content. The header is the key of a single task.
    """
    try:
        new = _tasks_of(body, idempotency_key)
        with few_guesses(program_of(request), {task.kind for task in new if task.key is not None}):
            report = submit_tasks(new)
    except SubmissionInvalid as invalid:
        return Status(409 if invalid.is_conflict else 422, faults.answer(invalid.faults))
    return Status(
        201 if report.created_count else 200,
        SubmitOut(
            tasks=[
                SubmittedOut(id=task_id, created=created)
                for task_id, created in zip(report.ids, report.created, strict=True)
            ],
            created=report.created_count,
            existing=report.existing_count,
        ),
    )


def _tasks_of(body: Any, key: str | None) -> list[NewTask]:
    if isinstance(body, TaskIn):
        if key is not None and body.key not in (None, key):
            message = f"differs from the header Idempotency-Key, {shown(key)}; send one of them"
            raise SubmissionInvalid([TaskFault(0, "key", shown(body.key), message)])
        return [body.task(key)]
    if key is not None:
        message = "is for a single task; give each task of a batch a key of its own"
        raise SubmissionInvalid([TaskFault(0, "Idempotency-Key", shown(key), message)])
    return [item.task() for item in body.tasks]


@router.get(
    "/tasks",
    response={200: TaskListOut, 503: ProblemOut, **REFUSALS},
    summary="The tasks that a query finds, page after page",
)
def tasks(request: HttpRequest, wanted: Annotated[ListIn, Query()]) -> Any:
    """Look at a bounded number of tasks; 422 says where a query is wrong, and what instead."""
    order = SearchOrder(Sort(wanted.sort.removeprefix("-")), wanted.sort.startswith("-"))
    sees = program_of(request).may(Scope.PAYLOADS)
    read = read_query(wanted.q, sees_payloads=sees, order=order)
    after = Cursor.read(wanted.after) if wanted.after else None
    wrong = [_query_fault(read.text, fault) for fault in read.faults]
    if wanted.after and after is None:
        wrong.append(_field_fault("after", wanted.after, "is no `next` of an answer"))
    # A misspelt q would list everything.
    strange = sorted(set(request.GET) - set(ListIn.model_fields))
    wrong += [_field_fault(name[:200], "", "there is no such parameter") for name in strange]
    if wrong:
        return Status(422, faults.counted(wrong))
    page = list_tasks(read.wanted, after, most=wanted.limit)
    if page.timed_out:
        raise HttpError(503, f"stopped after {SEARCH_SECONDS} s: narrow it by kind or status")
    shown_tasks = shown_rows(
        page.rows, read.wanted.hidden, "id", "error", "lock_key", budget=Budget()
    )
    rows = [TaskRowOut.from_orm(row) for row in shown_tasks]
    following = None if page.next is None else str(page.next)
    return TaskListOut(tasks=rows, next=following, looked_back_to=page.stopped_at)


def _query_fault(text: str, fault: QueryFault) -> FaultOut:
    wrong = shown(text[fault.at.start : fault.at.end])
    return FaultOut(index=None, field="q", value=wrong, message=str(fault))


def _field_fault(name: str, value: str, message: str) -> FaultOut:
    return FaultOut(index=None, field=name, value=shown(value), message=message)


@router.get(
    "/tasks/{task_id}",
    response={200: TaskOut, 404: ProblemOut, **REFUSALS},
    summary="One task: status, result, attempts",
)
def task(request: HttpRequest, task_id: UUID) -> Any:
    """Look up one task as the record shows it now."""
    found = task_answers.find_task(task_id)
    if found is None:
        raise HttpError(404, f"there is no task {task_id}")
    hidden = hidden_from(program_of(request).may(Scope.PAYLOADS))
    words = words_about([task_id], hidden)
    latest, more_attempts = task_answers.attempts_of(task_id)
    attempts = [replace(each, error=words.json(task_id, each.error)) for each in latest]
    return TaskOut(
        id=found.id,
        kind=found.kind_id,
        status=states.Status(found.status),
        key=found.key,
        priority=found.priority,
        payload=words.payload(task_id, found.payload),
        result=words.result(task_id, found.result),
        error=words.json(task_id, found.error),
        dead_reason=found.dead_reason,
        attempts=[AttemptOut.from_orm(each) for each in attempts],
        more_attempts=more_attempts,
        attempt_count=found.attempts,
        max_attempts=found.max_attempts,
        requeues=found.requeues,
        depends_on=[WaitOut.from_orm(each) for each in task_answers.dependencies_of(task_id)],
        lock_key=words.lock_key(task_id, found.lock_key),
        weight=found.weight,
        created_at=found.created_at,
        run_at=found.run_at,
        deadline_at=found.deadline_at,
        finished_at=found.finished_at,
    )


@router.get("/kinds", response={200: list[KindOut], **REFUSALS}, summary="The kinds of work")
def kinds(request: HttpRequest) -> Any:
    """Every kind by name, with the schema that its payloads must satisfy."""
    return task_answers.list_kinds()
