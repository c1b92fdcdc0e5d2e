"""One task in full: the task itself, its leases past and present, its edges, its ledger."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.states import EdgeState
from tasks_app.store import sql

MOST_ATTEMPTS: Final = 100
MOST_EDGES: Final = 100
MOST_LATE: Final = 50
LONGEST_INPUT: Final = 20_000
"""Bytes of an input that is shown with the task that it went to."""

LONGEST_INPUTS: Final = 400_000
"""Characters of all of them together: a page draws no more, and the tasks have the rest."""

TASK = """
SELECT t.id, t.kind, t.status, t.key, t.priority, t.estimate_seconds, t.created_at, t.run_at,
       t.run_at > statement_timestamp(), t.deadline_at, t.lock_key, t.weight, t.cancel_asked,
       t.waiting_on, t.has_dependents, t.token, t.attempts, t.max_attempts, t.total_attempts,
       t.requeues, t.free_reclaims, t.dead_reason, t.finished_at,
       t.payload::text, t.result::text, t.result IS NOT NULL,
       coalesce(t.error ->> 'type', ''), coalesce(t.error ->> 'message', ''), k.timeout_seconds,
       t.job_id, ARRAY(SELECT jsonb_array_elements_text(t.error -> 'casualties'))
  FROM task t JOIN kind k ON k.name = t.kind
 WHERE t.id = %(task)s
"""


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """One task; a ``result`` may itself be null: ``has_result`` says whether there is one.

    ``later``: its ``run_at`` is still ahead, by the database's clock. ``casualties`` are the
    workers that a poison task took down.
    """

    id: UUID
    kind: str
    status: str
    key: str | None
    priority: int
    estimate_seconds: float
    created_at: datetime
    run_at: datetime
    later: bool
    deadline_at: datetime | None
    lock_key: str | None
    weight: float
    cancel_asked: bool
    waiting_on: int
    has_dependents: bool
    token: int | None
    attempts: int
    max_attempts: int
    total_attempts: int
    requeues: int
    free_reclaims: int
    dead_reason: str | None
    finished_at: datetime | None
    payload: Any
    result: Any
    has_result: bool
    error_type: str
    error_message: str
    timeout_seconds: float
    job_id: UUID | None
    casualties: Sequence[str]


def find_detail(task_id: UUID) -> TaskDetail | None:
    """Read one task, or None."""
    found = sql.row(TASK, {"task": task_id})
    if found is None:
        return None
    task = TaskDetail(*found)
    return replace(task, payload=sql.loaded(task.payload), result=sql.loaded(task.result))


LEASE = """
SELECT l.token, w.id, w.name, l.assigned_at, l.started_at, l.expected_seconds, h.at,
       (h.progress -> l.token::text ->> 'fraction')::float8,
       coalesce(h.progress -> l.token::text ->> 'note', '')
  FROM lease l
  JOIN worker w ON w.id = l.worker_id
  JOIN heartbeat h ON h.worker_id = l.worker_id
 WHERE l.task_id = %(task)s
"""


@dataclass(frozen=True, slots=True)
class LeaseDetail:
    """The lease that stands; ``fraction`` is the handler's own word, None where it said none."""

    token: int
    worker_id: UUID
    worker: str
    assigned_at: datetime
    started_at: datetime | None
    expected_seconds: float
    heartbeat_at: datetime
    fraction: float | None
    note: str


def find_lease(task_id: UUID) -> LeaseDetail | None:
    """The lease on a task, or None."""
    found = sql.row(LEASE, {"task": task_id})
    return None if found is None else LeaseDetail(*found)


ATTEMPTS = """
SELECT a.token, a.number, a.requeues, a.worker_id, w.name, a.assigned_at, a.started_at, a.ended_at,
       extract(epoch FROM coalesce(a.started_at, a.ended_at) - a.assigned_at)::float8,
       extract(epoch FROM a.ended_at - a.started_at)::float8, a.outcome,
       coalesce(a.error ->> 'type', ''), coalesce(a.error ->> 'message', ''),
       coalesce(a.error ->> 'traceback', ''), a.dead_reason, a.next_run_at
  FROM attempt a
  LEFT JOIN worker w ON w.id = a.worker_id
 WHERE a.task_id = %(task)s
 ORDER BY a.token DESC
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class AttemptDetail:
    """One lease that ended; seconds. ``run_seconds`` is None where it never began."""

    token: int
    number: int
    requeues: int
    worker_id: UUID
    worker: str | None
    assigned_at: datetime
    started_at: datetime | None
    ended_at: datetime
    wait_seconds: float
    run_seconds: float | None
    outcome: str
    error_type: str
    error_message: str
    traceback: str
    dead_reason: str | None
    next_run_at: datetime | None

    @property
    def error_name(self) -> str:
        """The class without its module."""
        return self.error_type.rpartition(".")[2]


def list_attempts(task_id: UUID) -> list[AttemptDetail]:
    """The latest attempts, the last first, at most ``MOST_ATTEMPTS``."""
    found = sql.rows(ATTEMPTS, {"task": task_id, "limit": MOST_ATTEMPTS})
    return [AttemptDetail(*row) for row in found]


EDGES = """
(SELECT true, e.name, e.on_dead, e.state, e.id, e.kind, e.key, e.status, e.has_result,
        CASE WHEN sum(length(e.result)) OVER (ORDER BY e.name) <= %(together)s THEN e.result END
   FROM (SELECT d.name, d.on_dead, d.state, p.id, p.kind, p.key, p.status,
                d.state = 'met' AND p.result IS NOT NULL AS has_result,
                CASE WHEN d.state = 'met' AND pg_column_size(p.result) <= %(longest)s
                     THEN p.result::text END AS result
           FROM dependency d JOIN task p ON p.id = d.depends_on_id
          WHERE d.task_id = %(task)s
          ORDER BY d.name LIMIT %(limit)s) e
  ORDER BY e.name)
UNION ALL
(SELECT false, d.name, d.on_dead, d.state, c.id, c.kind, c.key, c.status, false, NULL
   FROM dependency d JOIN task c ON c.id = d.task_id
  WHERE d.depends_on_id = %(task)s
  ORDER BY c.id LIMIT %(limit)s)
"""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge seen from this task: to what it needs, or (not ``needed``) to what needs it.

    Once it is met it gives a ``result`` as an input (``has_result``), left out where ``is_long``.
    """

    needed: bool
    name: str
    on_dead: str
    state: str
    id: UUID
    kind: str
    key: str | None
    status: str
    has_result: bool
    result: Any
    is_long: bool = False

    @property
    def waits(self) -> bool:
        """Whether this task waits for the other one."""
        return self.needed and self.state in (EdgeState.WAITING, EdgeState.BLOCKED)


def list_edges(task_id: UUID) -> list[Edge]:
    """Both sides' edges, at most ``MOST_EDGES`` each."""
    params: dict[str, Any] = {
        "task": task_id,
        "limit": MOST_EDGES,
        "longest": LONGEST_INPUT,
        "together": LONGEST_INPUTS,
    }
    found = [Edge(*row) for row in sql.rows(EDGES, params)]
    return [
        replace(e, result=sql.loaded(e.result), is_long=e.has_result and e.result is None)
        for e in found
    ]


LATE = """
SELECT l.received_at, w.name, l.worker_id, l.token_held, l.token_now, l.overlap_seconds, l.outcome
  FROM late_result l
  LEFT JOIN worker w ON w.id = l.worker_id
 WHERE l.task_id = %(task)s
 ORDER BY l.id DESC
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Late:
    """A report that was rejected: its token was no longer held; ``overlap_seconds`` too late."""

    received_at: datetime
    worker: str | None
    worker_id: UUID
    token_held: int
    token_now: int | None
    overlap_seconds: float | None
    outcome: str


def list_late(task_id: UUID) -> list[Late]:
    """Rejected reports on a task, the last first, at most ``MOST_LATE``."""
    return [Late(*row) for row in sql.rows(LATE, {"task": task_id, "limit": MOST_LATE})]
