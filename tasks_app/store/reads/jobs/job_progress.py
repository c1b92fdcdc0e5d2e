"""What the tasks of a job took, take and should take: by step, and as bars by worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.jobs.job_times import StepTime
from tasks_app.core.jobs.plans import Plan, Step
from tasks_app.core.states import FINAL, Status
from tasks_app.store import sql

# Seconds since the epoch throughout. A lease that has begun tells since when its task runs.
TIMINGS = """
SELECT s.place, s.role, t.status, count(*), avg(t.estimate_seconds)::float8,
       extract(epoch FROM min(t.created_at))::float8,
       extract(epoch FROM max(t.finished_at))::float8,
       extract(epoch FROM statement_timestamp() - min(l.started_at))::float8,
       count(l.started_at)
  FROM task t
  JOIN step_task s ON s.task_id = t.id
  LEFT JOIN lease l ON l.task_id = t.id
 WHERE t.job_id = %(job)s
 GROUP BY s.place, s.role, t.status
"""

OBSERVED = """
SELECT s.place, avg(extract(epoch FROM a.ended_at - a.started_at))::float8
  FROM task t
  JOIN step_task s ON s.task_id = t.id AND s.role IN ('step', 'item')
  JOIN attempt a ON a.task_id = t.id AND a.outcome = 'completed'
 WHERE t.job_id = %(job)s
 GROUP BY s.place
"""

SLOTS = """
SELECT c.kind, sum(w.slots)::int
  FROM capability c JOIN worker w ON w.id = c.worker_id
 WHERE w.state = 'active' AND NOT w.drain_asked AND c.kind = ANY (%(kinds)s)
 GROUP BY c.kind
"""


@dataclass(frozen=True, slots=True)
class Timing:
    """The tasks of one step in one role and status; ``elapsed`` is how long the first runs."""

    place: int
    role: str
    status: str
    count: int
    estimate: float
    made: float
    ended: float | None
    elapsed: float | None
    running: int


@dataclass(frozen=True, slots=True)
class JobTimes:
    """A job's timings by step; ``observed`` are mean seconds by place, ``slots`` by kind."""

    timings: Sequence[Timing]
    observed: Mapping[int, float]
    slots: Mapping[str, int]

    def steps(self, plan: Plan) -> list[StepTime]:
        """Each step as ``core.job_times`` sees it, in an order in which they may run."""
        return [self._step(step, plan.places[step.name]) for step in plan.in_order]

    def _step(self, step: Step, place: int) -> StepTime:
        role = Role.ITEM if step.is_join else Role.STEP
        own = [each for each in self.timings if each.place == place]
        ended = any(t.status in FINAL for t in own if t.role in (Role.STEP, Role.JOIN))
        tasks = [each for each in own if each.role == role]
        left = sum(t.count for t in tasks if t.status not in FINAL)
        unknown = step.is_join and not tasks and not ended
        estimates = [each.estimate for each in tasks or own] or [1.0]
        return StepTime(
            name=step.name,
            needs=[need.on for need in step.needs],
            seconds=self.observed.get(place, estimates[0]),
            left=0 if ended else max(left, int(unknown)),
            lanes=min(max(self.slots.get(step.kind, 1), 1), max(left, 1)),
            elapsed=max((t.elapsed for t in tasks if t.elapsed is not None), default=0.0),
            unknown=unknown,
        )

    def undone_in_order(self, plan: Plan) -> list[int]:
        """Places of the steps that are undone: those begun in their order, then those to come."""
        begun: dict[int, float] = {}
        done: dict[int, float] = {}
        for each in self.timings:
            if each.role == Role.COMPENSATION:
                begun[each.place] = min(begun.get(each.place, each.made), each.made)
            elif each.role != Role.JOIN and each.status == Status.COMPLETED:
                done[each.place] = each.ended or 0.0
        coming = [
            place
            for place in done
            if place not in begun and plan.steps[place].compensation is not None
        ]
        return sorted(begun, key=lambda place: begun[place]) + sorted(
            coming, key=lambda place: (-done[place], -place)
        )


def read_times(job_id: UUID, plan: Plan) -> JobTimes:
    """Three short statements; the job's tasks are read once for each of the first two."""
    kinds = sorted({step.kind for step in plan.steps})
    return JobTimes(
        timings=[Timing(*row) for row in sql.rows(TIMINGS, {"job": job_id})],
        observed=dict(sql.rows(OBSERVED, {"job": job_id})),
        slots=dict(sql.rows(SLOTS, {"kinds": kinds})),
    )


MOST_BARS: Final = 400

# What runs now has no attempt row yet. The newest are taken where there are too many.
BARS = """
SELECT * FROM (
    (SELECT a.task_id, s.place, s.role, a.worker_id, coalesce(w.name, 'gone'), a.outcome,
            extract(epoch FROM a.started_at)::float8 AS began,
            extract(epoch FROM a.ended_at)::float8
       FROM task t
       JOIN step_task s ON s.task_id = t.id
       JOIN attempt a ON a.task_id = t.id AND a.started_at IS NOT NULL
       LEFT JOIN worker w ON w.id = a.worker_id
      WHERE t.job_id = %(job)s
      ORDER BY a.started_at DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT l.task_id, s.place, s.role, l.worker_id, w.name, 'running',
            extract(epoch FROM l.started_at)::float8,
            extract(epoch FROM statement_timestamp())::float8
       FROM task t
       JOIN step_task s ON s.task_id = t.id
       JOIN lease l ON l.task_id = t.id AND l.started_at IS NOT NULL
       JOIN worker w ON w.id = l.worker_id
      WHERE t.job_id = %(job)s
      ORDER BY l.started_at DESC LIMIT %(limit)s)
) bars
 ORDER BY began DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One attempt, or what runs now (``outcome`` running); seconds since the epoch."""

    task_id: UUID
    place: int
    role: str
    worker_id: UUID
    worker: str
    outcome: str
    began: float
    ended: float


def list_bars(job_id: UUID) -> list[Bar]:
    """A job's attempts that began, oldest first; the newest ``MOST_BARS`` where there are more."""
    params: dict[str, Any] = {"job": job_id, "limit": MOST_BARS}
    return [Bar(*row) for row in reversed(sql.rows(BARS, params))]
