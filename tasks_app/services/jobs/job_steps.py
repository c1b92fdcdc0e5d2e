"""Steps on their way: prepared when all that they need has ended, joined when their items have."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.jobs.job_states import JobStatus, Role
from tasks_app.core.jobs.plans import LARGEST_FAN_OUT, PayloadCheck, Plan, Step, deadline_of
from tasks_app.core.jobs.preparation import (
    FannedOut,
    Prepared,
    Ready,
    Skipped,
    Unfit,
    length_of,
    prepare_step,
)
from tasks_app.core.jobs.references import Scope
from tasks_app.core.jobs.saga import ItemCounts, JobTask, steps_of
from tasks_app.core.masking.origins import Origin, as_json, origins_of_error, origins_of_item
from tasks_app.core.states import DeadReason, OnDead, Status
from tasks_app.models.ids import new_id
from tasks_app.store.actions import unleased_ends
from tasks_app.store.intake.submission import TaskRow, insert_tasks
from tasks_app.store.jobs import jobs as store
from tasks_app.store.jobs import steps
from tasks_app.store.jobs.steps import StepRow
from tasks_app.store.reads.hidden_words import fingerprints_of

SOURCES_AT_ONCE: Final = 50
"""Results, of up to 256 kB, that are in memory at a time."""

ROWS_AT_ONCE: Final = 2000
"""Steps, items and edges of items after which one transaction prepares no further step. Of a join
whose items come to more they are made in several."""

MOST_PREPARED: Final = LARGEST_FAN_OUT // 2
"""Characters of payloads after which one transaction prepares no further step."""


@dataclass(frozen=True, slots=True)
class LockedJob:
    """A job that has not ended, with its tasks, locked for the rest of the transaction.

    ``tasks`` are those of its steps; ``items`` are counted by the place of their step.
    """

    id: UUID
    status: JobStatus
    plan: Plan
    paused: bool
    cancel_asked: bool
    created_at: datetime
    tasks: Sequence[JobTask]
    items: Mapping[int, ItemCounts]

    @property
    def goes_forward(self) -> bool:
        """Whether its steps are still to be done."""
        return not self.cancel_asked and self.status is not JobStatus.COMPENSATING

    def task_of(self, name: str) -> JobTask:
        """The task of a step: its join where it has items."""
        place = self.plan.places[name]
        return next(task for task in steps_of(self.tasks) if task.place == place)


@dataclass(slots=True)
class _Outcomes:
    """What preparing came to, gathered so that each statement runs once for all jobs."""

    released: dict[UUID, Ready] = field(default_factory=dict)
    expanded: list[UUID] = field(default_factory=list)
    emptied: list[UUID] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    steps: list[StepRow] = field(default_factory=list)
    items: list[tuple[UUID, UUID]] = field(default_factory=list)
    skipped: list[UUID] = field(default_factory=list)
    unfit: dict[UUID, str] = field(default_factory=dict)
    unfit_origins: dict[UUID, Sequence[Origin]] = field(default_factory=dict)
    characters: int = 0
    rows: int = 0


def _unchecked(_kind: str, _payload: Any) -> None:
    """Find no fault in any payload."""


Due = tuple[LockedJob, JobTask]
"""A step of a job that can be prepared."""


def prepare_steps(jobs: Sequence[LockedJob], check: PayloadCheck) -> bool:
    """Prepare every step that waits for nothing else; return whether there was one."""
    # The items of a paused job would be made without its hold.
    forward = [job for job in jobs if job.goes_forward and not job.paused]
    if not forward:
        return False
    waiting, more = steps.lock_unprepared([job.id for job in forward], ROWS_AT_ONCE)
    store.add_news(sorted(more))
    if not waiting:
        return False
    due = [(job, task) for job in forward for task in job.tasks if task.id in waiting]
    outcomes = _Outcomes()
    done = 0
    for portion in _portions(due):
        if outcomes.characters > MOST_PREPARED or outcomes.rows >= ROWS_AT_ONCE:
            # What is left comes with the next look; a leader must not be busy for too long.
            store.add_news(sorted({job.id for job, _ in due[done:]}))
            break
        results = steps.payloads_and_results([each.id for one in portion for each in _sources(one)])
        for job, task in portion:
            step = job.plan.steps[task.place]
            # Items are checked before the first of them is made: all or none.
            checked = (
                _unchecked if task.place in job.items and job.items[task.place].total else check
            )
            prepared = prepare_step(step, _scope_of(job, step, results), checked)
            _note(job, task, step, prepared, outcomes)
        done += len(portion)
    _apply(outcomes)
    return True


def _portions(due: Iterable[Due]) -> Iterable[Sequence[Due]]:
    """Those that fan out by themselves; of the others as many as have so many results to read."""
    portion: list[Due] = []
    sources = 0
    for one in due:
        more = len({task.id for task in _sources(one)})
        alone = one[0].plan.steps[one[1].place].is_join
        if portion and (alone or sources + more > SOURCES_AT_ONCE):
            yield portion
            portion, sources = [], 0
        portion.append(one)
        sources += SOURCES_AT_ONCE if alone else more
    if portion:
        yield portion


def _sources(due: Due) -> Iterable[JobTask]:
    """The tasks whose results are referred to."""
    job, task = due
    for reference in job.plan.steps[task.place].references:
        if reference.step is not None:
            yield job.task_of(reference.step)


def _scope_of(job: LockedJob, step: Step, results: Mapping[UUID, tuple[Any, Any]]) -> Scope:
    found = {}
    void = set()
    on_dead = {need.on: need.on_dead for need in step.needs}
    for name in {reference.step for reference in step.references if reference.step is not None}:
        task = job.task_of(name)
        if task.status is Status.COMPLETED:
            found[name] = results[task.id][1]
        elif on_dead[name] is OnDead.CONTINUE:
            void.add(name)
    return Scope(found, frozenset(void))


def _note(
    job: LockedJob, task: JobTask, step: Step, prepared: Prepared, outcomes: _Outcomes
) -> None:
    match prepared:
        case Skipped():
            outcomes.skipped.append(task.id)
        case Unfit(reason):
            outcomes.unfit[task.id] = reason
            outcomes.unfit_origins[task.id] = origins_of_error(job.plan, step)
        case Ready(payload):
            outcomes.released[task.id] = prepared
            outcomes.rows += 1
            outcomes.characters += length_of(payload)
        case FannedOut(items):
            _note_items(job, task, step, items, outcomes)


def _note_items(
    job: LockedJob, task: JobTask, step: Step, items: Sequence[Ready], outcomes: _Outcomes
) -> None:
    """Make the next items of a join, from the first that there is not yet."""
    first = job.items[task.place].total
    each = 1 + len(step.needs)
    end = min(len(items), first + max(1, (ROWS_AT_ONCE - outcomes.rows) // each))
    if end == len(items):
        outcomes.expanded.append(task.id)
    else:
        store.add_news([job.id])
    if not items:
        outcomes.emptied.append(task.id)
    outcomes.characters += sum(length_of(item.payload) for item in items[first:end])
    outcomes.rows += each * (end - first)
    for number in range(first, end):
        row = TaskRow(
            id=new_id(),
            kind=step.kind,
            payload=items[number].payload,
            priority=job.plan.priority,
            estimate_seconds=step.estimate_seconds,
            max_attempts=step.max_attempts,
            dependency_count=len(step.needs),
            has_dependents=True,
            job_id=job.id,
            lock_key=items[number].lock_key,
            weight=step.weight,
            deadline_at=deadline_of(step, job.created_at),
            origins=as_json(origins_of_item(job.plan, step, number, len(items))),
        )
        outcomes.tasks.append(row)
        outcomes.steps.append(
            StepRow(row.id, task.place, Role.ITEM, job.id, number, join_id=task.id)
        )
        outcomes.items.append((row.id, task.id))


def _apply(outcomes: _Outcomes) -> None:
    unleased_ends.close_waiting(outcomes.skipped, Status.SKIPPED)
    _give_up(outcomes)
    steps.release(
        [(task_id, ready.payload, ready.lock_key) for task_id, ready in outcomes.released.items()]
    )
    steps.mark_expanded(outcomes.expanded)
    insert_tasks(outcomes.tasks)
    steps.insert_steps(outcomes.steps)
    steps.copy_edges(outcomes.items)
    steps.complete_joins(dict.fromkeys(outcomes.emptied, "[]"))


def _give_up(outcomes: _Outcomes) -> None:
    """Steps that could not be filled in: what is said of them may repeat what they refer to."""
    if not outcomes.unfit:
        return
    origins = {task: as_json(found) for task, found in outcomes.unfit_origins.items()}
    steps.add_origins({task: text for task, text in origins.items() if text})
    errors = {
        task: error_text("PreparationFailed", reason) for task, reason in outcomes.unfit.items()
    }
    found = fingerprints_of(errors)
    unleased_ends.close_waiting(
        list(errors),
        Status.DEAD,
        reason=DeadReason.PERMANENT,
        errors=list(errors.values()),
        fingerprints=[found[task] for task in errors],
    )


def error_text(kind: str, message: str) -> str:
    """What an error of the supervisor's own says, as JSON text."""
    return json.dumps(ErrorFacts(type=kind, message=message).as_json())
