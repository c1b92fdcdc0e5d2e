"""Workers as lists and as a page: the live boots, those that ended, and what one of them did."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.states import WorkerState
from tasks_app.store import sql

MOST_ENDED: Final = 50
MOST_LEASES: Final = 200
ATTEMPTS_LOOKED_AT: Final = 20_000
"""The newest attempts of all workers among which one's recent ones are looked for: 5 ms."""

MOST_ATTEMPTS: Final = 50

WORKER = """
SELECT w.id, w.name, w.host, w.pid, w.version, w.slots, w.state, w.drain_asked, w.registered_at,
       w.ended_at, w.ending, h.at, extract(epoch FROM statement_timestamp() - h.at)::float8,
       coalesce(l.active, 0), coalesce(l.running, 0), coalesce(l.queued, 0)::float8,
       coalesce((SELECT array_agg(c.kind ORDER BY c.kind) FROM capability c
                  WHERE c.worker_id = w.id), '{}'),
       coalesce((SELECT array_agg(c.skill ORDER BY c.kind) FROM capability c
                  WHERE c.worker_id = w.id), '{}')
  FROM worker w
  JOIN heartbeat h ON h.worker_id = w.id
  LEFT JOIN LATERAL (
    SELECT count(*) AS active, count(started_at) AS running,
           sum(greatest(least(expected_seconds, 1e12) - coalesce(
               extract(epoch FROM statement_timestamp() - started_at), 0), 0)) AS queued
      FROM lease WHERE worker_id = w.id
  ) l ON true
"""


@dataclass(frozen=True, slots=True)
class WorkerDetail:
    """One boot; ``active`` are its leases, ``running`` those of them that have begun.

    ``queued_seconds`` is the expected time left on all of them; ``kinds`` and ``skills`` go
    together.
    """

    id: UUID
    name: str
    host: str
    pid: int
    version: str
    slots: int
    state: str
    drain_asked: bool
    registered_at: datetime
    ended_at: datetime | None
    ending: str | None
    heartbeat_at: datetime
    heartbeat_age: float
    active: int
    running: int
    queued_seconds: float
    kinds: Sequence[str]
    skills: Sequence[float]

    @property
    def capabilities(self) -> list[tuple[str, float]]:
        """(kind, skill), by kind."""
        return list(zip(self.kinds, self.skills, strict=True))

    @property
    def live(self) -> bool:
        """Whether this boot has not ended."""
        return self.state in (WorkerState.ACTIVE, WorkerState.DRAINING)

    @property
    def shown_state(self) -> str:
        """Its state as operators see it: one that they asked to drain drains."""
        drains = self.drain_asked and self.state == WorkerState.ACTIVE
        return WorkerState.DRAINING if drains else self.state


LIVE = WORKER + " WHERE w.state IN ('active', 'draining') ORDER BY w.name"


def list_live_workers() -> list[WorkerDetail]:
    """The live boots, by name."""
    return [WorkerDetail(*row) for row in sql.rows(LIVE)]


ONE = WORKER + " WHERE w.id = %(id)s"


def find_worker(worker_id: UUID) -> WorkerDetail | None:
    """One boot, live or ended, or None."""
    found = sql.row(ONE, {"id": worker_id})
    return None if found is None else WorkerDetail(*found)


ENDED = """
SELECT w.id, w.name, w.host, w.version, w.state, w.registered_at, w.ended_at, w.ending
  FROM worker w
 WHERE w.state IN ('stopped', 'lost') AND (%(name)s = '' OR w.name = %(name)s)
 ORDER BY w.ended_at DESC
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class EndedBoot:
    """A boot that ended in good order (stopped) or not (lost)."""

    id: UUID
    name: str
    host: str
    version: str
    state: str
    registered_at: datetime
    ended_at: datetime
    ending: str | None = None


def list_ended_boots(name: str = "") -> list[EndedBoot]:
    """The boots that ended last, of one name or of all, at most ``MOST_ENDED``."""
    return [EndedBoot(*row) for row in sql.rows(ENDED, {"name": name, "limit": MOST_ENDED})]


LEASES = """
SELECT t.id, t.kind, t.key, t.status, l.token, l.assigned_at, l.started_at, l.expected_seconds,
       (h.progress -> l.token::text ->> 'fraction')::float8,
       coalesce(h.progress -> l.token::text ->> 'note', '')
  FROM lease l
  JOIN task t ON t.id = l.task_id
  JOIN heartbeat h ON h.worker_id = l.worker_id
 WHERE l.worker_id = %(id)s
 ORDER BY l.started_at NULLS LAST, l.token
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A task that a worker holds; ``fraction`` is its handler's own word of how far it is."""

    id: UUID
    kind: str
    key: str | None
    status: str
    token: int
    assigned_at: datetime
    started_at: datetime | None
    expected_seconds: float
    fraction: float | None
    note: str


def list_held(worker_id: UUID) -> list[HeldLease]:
    """What a worker holds, what runs longest first, at most ``MOST_LEASES``."""
    found = sql.rows(LEASES, {"id": worker_id, "limit": MOST_LEASES})
    return [HeldLease(*row) for row in found]


RECENT = """
SELECT a.task_id, a.kind, t.key, a.number, a.outcome, a.started_at, a.ended_at,
       extract(epoch FROM a.ended_at - a.started_at)::float8, coalesce(a.error ->> 'type', ''),
       left(split_part(coalesce(a.error ->> 'message', ''), E'\\n', 1), 200)
  FROM (SELECT * FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) newest
         WHERE worker_id = %(id)s
         ORDER BY token DESC
         LIMIT %(limit)s) a
  JOIN task t ON t.id = a.task_id
 ORDER BY a.token DESC
"""


@dataclass(frozen=True, slots=True)
class RecentAttempt:
    """What one of a worker's leases came to."""

    task_id: UUID
    kind: str
    key: str | None
    number: int
    outcome: str
    started_at: datetime | None
    ended_at: datetime
    run_seconds: float | None
    error_type: str
    line: str

    @property
    def error_name(self) -> str:
        """The class without its module."""
        return self.error_type.rpartition(".")[2]


def list_recent_attempts(worker_id: UUID) -> list[RecentAttempt]:
    """A worker's latest attempts among the newest ``ATTEMPTS_LOOKED_AT`` of all."""
    params: dict[str, Any] = {
        "id": worker_id,
        "looked_at": ATTEMPTS_LOOKED_AT,
        "limit": MOST_ATTEMPTS,
    }
    return [RecentAttempt(*row) for row in sql.rows(RECENT, params)]
