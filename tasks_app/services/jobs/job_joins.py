"""Joins: completed or given up when their items have decided them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.jobs.plans import Step
from tasks_app.core.jobs.saga import ItemCounts, JobTask, judge_join
from tasks_app.core.sanitise import sanitise
from tasks_app.core.states import DeadReason, Status
from tasks_app.services.actions.cancellation import let_go
from tasks_app.services.jobs.job_steps import LockedJob, error_text
from tasks_app.store import row_locks
from tasks_app.store.actions import unleased_ends
from tasks_app.store.failures import dead_letters
from tasks_app.store.jobs import job_tasks, steps
from tasks_app.store.jobs import jobs as store

ITEMS_AT_ONCE: Final = 10_000
"""Items whose results one transaction reads: as many as one join may have."""

ENDED_AT_ONCE: Final = 500
"""Joins that one transaction ends or revives, and items that it lets go."""


@dataclass(slots=True)
class _Decided:
    """What follows for joins, so that each statement runs once for all jobs."""

    completed: list[UUID] = field(default_factory=list)
    dead: dict[UUID, str] = field(default_factory=dict)
    revived: list[UUID] = field(default_factory=list)
    read: int = 0

    @property
    def moves(self) -> int:
        """How many joins end or come back."""
        return len(self.completed) + len(self.dead) + len(self.revived)


def settle_joins(jobs: Sequence[LockedJob]) -> bool:
    """Complete or give up the joins that their items have decided; return whether there was one.

    What is beyond the bounds, or locked by somebody else, has its job looked at again.
    """
    decided = _Decided()
    waiting = set()
    free = row_locks.lock_free([join.id for _, join, _ in _due(jobs)])
    for job, join, verdict in _due(jobs):
        counts = job.items[join.place]
        late = decided.moves >= ENDED_AT_ONCE or decided.read + counts.total > ITEMS_AT_ONCE
        if join.id not in free or (late and decided.moves):
            waiting.add(job.id)
        elif verdict is Status.COMPLETED and join.is_open:
            decided.completed.append(join.id)
            decided.read += counts.total
        elif verdict is Status.DEAD:
            decided.dead[join.id] = _why_dead(job.plan.steps[join.place], counts)
        else:
            decided.revived.append(join.id)
    _end_joins(decided)
    store.add_news(sorted(waiting | _let_spare_go(jobs)))
    return bool(decided.moves)


def _due(jobs: Sequence[LockedJob]) -> Iterator[tuple[LockedJob, JobTask, Status | None]]:
    """The joins that end or come back."""
    for job in jobs:
        if not job.goes_forward:
            continue
        for join in job.tasks:
            counts = job.items.get(join.place)
            if join.role is not Role.JOIN or counts is None or not counts.whole:
                continue
            verdict = judge_join(job.plan.steps[join.place], counts)
            ends = join.is_open and verdict is not None
            if ends or (join.status is Status.DEAD and verdict is not Status.DEAD):
                yield job, join, verdict


def _why_dead(step: Step, counts: ItemCounts) -> str:
    return (
        f"{counts.completed} of {counts.total} items are COMPLETED and "
        f"{counts.needed(step)} are needed, which the others cannot bring about."
    )


def _end_joins(decided: _Decided) -> None:
    steps.complete_joins(
        {
            join: json.dumps(sanitise([result for _, _, result in steps.items_of_join(join)]))
            for join in decided.completed
        }
    )
    unleased_ends.close_waiting(
        list(decided.dead),
        Status.DEAD,
        reason=DeadReason.DEPENDENCY,
        errors=[error_text("TooFewItems", reason) for reason in decided.dead.values()],
    )
    dead_letters.requeue(decided.revived)


def _let_spare_go(jobs: Sequence[LockedJob]) -> set[UUID]:
    """Where enough items are done nobody waits for the others; return the jobs with still more."""
    joins = {
        join.id: job.id
        for job in jobs
        for join in job.tasks
        if join.role is Role.JOIN and join.status is Status.COMPLETED and job.items[join.place].open
    }
    if not joins:
        return set()
    spare = job_tasks.lock_spare(list(joins), ENDED_AT_ONCE)
    let_go(spare)
    return set(joins.values()) if len(spare) == ENDED_AT_ONCE else set()
