"""The tasks of jobs as decisions see them: bounded, whatever number of items a job has.

Called with the jobs locked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.jobs.saga import ItemCounts, JobTask
from tasks_app.core.states import Status
from tasks_app.store import sql

COLUMNS: Final = """t.id, s.place, s.role, t.status, s.item, s.undoes_id,
       extract(epoch FROM t.finished_at)::float8"""


def _task_of(row: Sequence[Any]) -> JobTask:
    return JobTask(row[0], row[1], Role(row[2]), Status(row[3]), row[4], row[5], row[6])


STEPS: Final = f"""
SELECT j.id, {COLUMNS}, s.items, s.items_completed, s.items_open, t.unprepared
  FROM unnest(%(jobs)s::uuid[]) AS j(id)
 CROSS JOIN LATERAL (
    SELECT * FROM step_task WHERE job_id = j.id AND role IN ('step', 'join') OFFSET 0
 ) s
 CROSS JOIN LATERAL (
    SELECT id, status, finished_at, unprepared FROM task WHERE id = s.task_id OFFSET 0
 ) t
"""  # noqa: S608  a constant

Steps = tuple[dict[UUID, list[JobTask]], dict[UUID, dict[int, ItemCounts]]]


def steps_of_jobs(jobs: Sequence[UUID]) -> Steps:
    """The tasks of the steps of these jobs, and how the items of each join stand, by its place."""
    tasks: dict[UUID, list[JobTask]] = {job_id: [] for job_id in jobs}
    items: dict[UUID, dict[int, ItemCounts]] = {job_id: {} for job_id in jobs}
    for job_id, *row in sql.rows_by_key(STEPS, {"jobs": sql.uuids(jobs)}):
        task = _task_of(row)
        tasks[job_id].append(task)
        total, completed, still_open, unprepared = row[7:]
        if task.role is Role.JOIN:
            items[job_id][task.place] = ItemCounts(total, completed, still_open, not unprepared)
    return tasks, items


# Two of each job: one that is being undone may be among them.
REST: Final = f"""
SELECT j.id, {COLUMNS}, t.cancel_asked
  FROM unnest(%(jobs)s::uuid[]) AS j(id)
 CROSS JOIN LATERAL (
    SELECT id, status, finished_at, cancel_asked FROM task
     WHERE job_id = j.id AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
     ORDER BY job_id, cancel_asked, id
     LIMIT 2
 ) t
 CROSS JOIN LATERAL (SELECT * FROM step_task WHERE task_id = t.id OFFSET 0) s
"""  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class Rest:
    """Some tasks of a job that have not ended; ``unasked``: not all were asked to let go."""

    tasks: Sequence[JobTask] = ()
    unasked: bool = False

    @property
    def forward(self) -> bool:
        """Whether any of them is not there to undo another."""
        return any(task.role is not Role.COMPENSATION for task in self.tasks)


def rest_of_jobs(jobs: Sequence[UUID]) -> Mapping[UUID, Rest]:
    """What of each of these jobs has not ended: up to two tasks."""
    found: dict[UUID, list[JobTask]] = {}
    unasked = set()
    for job_id, *row in sql.rows_by_key(REST, {"jobs": sql.uuids(jobs)}):
        task = _task_of(row)
        found.setdefault(job_id, []).append(task)
        if not row[7] and task.role is not Role.COMPENSATION:
            unasked.add(job_id)
    return {job_id: Rest(found.get(job_id, ()), job_id in unasked) for job_id in jobs}


# Whoever has one of them locked is not waited for.
LOCK_REST: Final = """
SELECT t.id, t.status
  FROM unnest(%(jobs)s::uuid[]) AS j(id)
 CROSS JOIN LATERAL (
    SELECT u.id, u.status FROM task u
     WHERE u.job_id = j.id AND NOT u.cancel_asked
       AND u.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
       AND NOT EXISTS (
           SELECT FROM step_task s
            WHERE s.task_id = ANY (ARRAY[u.id]) AND s.role = 'compensation' OFFSET 0)
     ORDER BY u.job_id, u.cancel_asked, u.id
     LIMIT %(limit)s
       FOR NO KEY UPDATE OF u SKIP LOCKED
 ) t
 LIMIT %(limit)s
"""


def lock_rest(jobs: Sequence[UUID], limit: int) -> list[tuple[UUID, Status]]:
    """Lock up to ``limit`` tasks of jobs that end: those to let go, and those to close."""
    found = sql.rows_by_key(LOCK_REST, {"jobs": sql.uuids(jobs), "limit": limit})
    return [(r[0], Status(r[1])) for r in found]


LOCK_SPARE: Final = """
SELECT t.id
  FROM unnest(%(joins)s::uuid[]) AS j(id)
 CROSS JOIN LATERAL (
    SELECT u.id
      FROM step_task s
     CROSS JOIN LATERAL (
        SELECT id FROM task
         WHERE id = s.task_id AND NOT cancel_asked
           AND status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')
           FOR NO KEY UPDATE SKIP LOCKED
     ) u
     WHERE s.join_id = j.id AND s.role = 'item'
     LIMIT %(limit)s
 ) t
 LIMIT %(limit)s
"""


def lock_spare(joins: Sequence[UUID], limit: int) -> list[UUID]:
    """Lock up to ``limit`` items that may still move of joins that need them no more."""
    found = sql.rows_by_key(LOCK_SPARE, {"joins": sql.uuids(joins), "limit": limit})
    return [task_id for (task_id,) in found]


# Backwards from where the last look stopped. Those that are undone already were completed in the
# same instant as one that was.
DONE: Final = f"""
SELECT j.id, {COLUMNS}, EXISTS (SELECT FROM step_task c WHERE c.undoes_id = ANY (ARRAY[t.id]))
  FROM unnest(%(jobs)s::uuid[]) AS i(id)
 CROSS JOIN LATERAL (
    SELECT id, coalesce(undone_to, 'infinity') AS at, coalesce(undone_id, %(last)s) AS after
      FROM job WHERE id = i.id OFFSET 0
 ) j
 CROSS JOIN LATERAL (
    SELECT id, status, finished_at FROM task
     WHERE job_id = j.id AND status = 'COMPLETED' AND (finished_at, id) <= (j.at, j.after)
     ORDER BY job_id DESC, finished_at DESC, id DESC
     LIMIT %(limit)s
 ) t
 CROSS JOIN LATERAL (SELECT * FROM step_task WHERE task_id = t.id OFFSET 0) s
"""  # noqa: S608  a constant

LAST: Final = UUID(int=2**128 - 1)
"""Comes after every id."""


def done_of_jobs(jobs: Sequence[UUID], limit: int) -> dict[UUID, list[tuple[JobTask, bool]]]:
    """Up to ``limit`` COMPLETED tasks of each job, the last first, and whether each is undone."""
    found: dict[UUID, list[tuple[JobTask, bool]]] = {job_id: [] for job_id in jobs}
    params = {"jobs": sql.uuids(jobs), "limit": limit, "last": LAST}
    for job_id, *row in sql.rows_by_key(DONE, params):
        found[job_id].append((_task_of(row), bool(row[7])))
    return found


GO_ON_FROM: Final = """
UPDATE job j SET undone_to = t.finished_at, undone_id = i.after_id
  FROM unnest(%(tasks)s::uuid[], %(after)s::uuid[]) AS i(task_id, after_id)
  JOIN task t ON t.id = i.task_id
 WHERE j.id = t.job_id
"""


def go_on_from(tasks: Mapping[UUID, UUID]) -> None:
    """Have the way back go on from these tasks, by the ids at that instant up to which it looks."""
    if tasks:
        sql.execute(GO_ON_FROM, {"tasks": list(tasks), "after": list(tasks.values())})
