"""Jobs as screens and the API show them: steps, progress, and whom they wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.jobs.plans import Plan, Step, load_plan
from tasks_app.core.states import ACTIVE, Status
from tasks_app.core.words import say
from tasks_app.models import Job
from tasks_app.store import sql


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """One step: the task of it (its join where it has items), its items and its compensations.

    ``items`` and ``compensations`` count tasks by status.
    """

    name: str
    kind: str
    task_id: UUID
    status: str
    items: Mapping[str, int]
    compensations: Mapping[str, int]

    @property
    def shown_status(self) -> str:
        """Its status as people see it: a join, which no worker runs, runs while its items do."""
        runs = any(self.items.get(status) for status in ACTIVE)
        return Status.RUNNING if runs and self.status == Status.PENDING else self.status


@dataclass(frozen=True, slots=True)
class Decision:
    """What a human decides: about a DEAD task, or (``ASKED``) by doing a step of people."""

    task_id: UUID
    step: str
    role: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """One job. ``progress`` counts all its tasks by status; ``waits_for`` names human decisions.

    ``more_waits`` says that there are more decisions than it names.
    """

    job: Job
    plan: Plan
    steps: Sequence[StepAnswer]
    progress: Mapping[str, int]
    waits_for: Sequence[Decision]
    more_waits: bool = False

    @property
    def dead(self) -> Sequence[Decision]:
        """What waits for a human because it is DEAD."""
        return [each for each in self.waits_for if each.reason != ASKED]

    @property
    def asked(self) -> Sequence[Decision]:
        """Steps that people do: those in the inbox and those that somebody has."""
        return [each for each in self.waits_for if each.reason == ASKED]


ASKED = "asked"
"""The reason of a decision for which the plan itself asks."""

TASKS = """
SELECT s.place, s.role, t.status, count(*), (array_agg(t.id))[1]
  FROM task t JOIN step_task s ON s.task_id = t.id
 WHERE t.job_id = %(job)s
 GROUP BY s.place, s.role, t.status
"""

MOST_DECISIONS = 100

WAITS_FOR = """
(SELECT t.id, s.place, s.role, t.dead_reason, t.error ->> 'message'
   FROM task t JOIN step_task s ON s.task_id = t.id
  WHERE t.job_id = %(job)s AND t.status = 'DEAD'
  ORDER BY t.id
  LIMIT %(limit)s)
UNION ALL
(SELECT t.id, s.place, s.role, %(asked)s,
        w.name
   FROM task t
   JOIN kind k ON k.name = t.kind
   JOIN step_task s ON s.task_id = t.id
   LEFT JOIN lease l ON l.task_id = t.id
   LEFT JOIN worker w ON w.id = l.worker_id
  WHERE t.job_id = %(job)s AND k.by_people
    AND (t.status = 'RUNNING'
         OR t.status = 'PENDING' AND t.waiting_on = 0 AND t.run_at <= statement_timestamp())
  ORDER BY t.id
  LIMIT %(limit)s)
"""


def _waits_why(reason: str, told: str | None) -> str:
    """The error's own message, or who has the step that asks a person."""
    if reason != ASKED:
        return told or ""
    return say("%(person)s has it.", person=told) if told else say("It waits in the inbox.")


def find_job(job_id: UUID) -> JobAnswer | None:
    """One job as it stands, or None; up to 100 of each sort of what it waits for."""
    job = Job.objects.filter(id=job_id).first()
    if job is None:
        return None
    plan = load_plan(job.plan)
    counts = sql.rows(TASKS, {"job": job_id})
    progress: dict[str, int] = {}
    for _, _, status, count, _ in counts:
        progress[status] = progress.get(status, 0) + int(count)
    # One more of each sort than is told shows whether there are more.
    found = sql.rows(WAITS_FOR, {"job": job_id, "asked": ASKED, "limit": MOST_DECISIONS + 1})
    dead, asked = [r for r in found if r[3] != ASKED], [r for r in found if r[3] == ASKED]
    waits = [*dead[:MOST_DECISIONS], *asked[:MOST_DECISIONS]]
    return JobAnswer(
        job,
        plan,
        _steps(plan, counts),
        progress,
        [Decision(r[0], plan.steps[r[1]].name, r[2], r[3], _waits_why(r[3], r[4])) for r in waits],
        more_waits=len(waits) < len(found),
    )


PLACE = """
SELECT t.job_id, s.place FROM task t JOIN step_task s ON s.task_id = t.id
 WHERE t.id = %(task)s AND t.job_id IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Which step of which job a task is, or is an item or the compensation of."""

    job_id: UUID
    place: int


def find_place(task_id: UUID) -> Place | None:
    """Where a task stands in its job, or None when it has none."""
    found = sql.row(PLACE, {"task": task_id})
    return None if found is None else Place(*found)


def _steps(plan: Plan, counts: Sequence[tuple[Any, ...]]) -> list[StepAnswer]:
    of_place: dict[int, list[tuple[Any, ...]]] = {place: [] for place in range(len(plan.steps))}
    for place, *rest in counts:
        of_place[place].append(tuple(rest))
    return [_step(plan.steps[place], found) for place, found in of_place.items()]


def _step(step: Step, counts: Sequence[tuple[Any, ...]]) -> StepAnswer:
    by_role: dict[str, dict[str, int]] = {role: {} for role in Role}
    task_id, status = None, Status.PENDING.value
    for role, found, count, first in counts:
        by_role[role][found] = int(count)
        if role in (Role.STEP, Role.JOIN):
            task_id, status = first, found
    assert task_id is not None, "every step has its task from the first"
    return StepAnswer(
        step.name, step.kind, task_id, status, by_role[Role.ITEM], by_role[Role.COMPENSATION]
    )
