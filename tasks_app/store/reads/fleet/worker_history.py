"""What a worker did beside its peers: slots in use, kinds, casualties, near misses, versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.reads.fleet.worker_lists import ATTEMPTS_LOOKED_AT, WorkerDetail

MINUTES: Final = 60

# A minute without a sample has no row in it, one in which the worker was not there has no share.
STRIP = """
SELECT extract(epoch FROM m.at)::float8, u.share
  FROM generate_series(date_trunc('minute', statement_timestamp()) - interval '59 minutes',
                       date_trunc('minute', statement_timestamp()), interval '1 minute') AS m(at)
  LEFT JOIN (
    SELECT date_trunc('minute', at) AS at,
           avg(least((active ->> %(name)s)::float8 / %(slots)s, 1)) AS share
      FROM sample
     WHERE resolution = 1
       AND at >= date_trunc('minute', statement_timestamp()) - interval '59 minutes'
     GROUP BY 1
  ) u USING (at)
 ORDER BY m.at
"""


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute's mean share of busy slots, 0 to 1; None where nobody knows."""

    at: float
    share: float | None


def read_strip(worker: WorkerDetail) -> list[Minute]:
    """The last hour of a worker's name, by minute, oldest first.

    A sample counts what it holds; more than its slots is as busy as it can be.
    """
    params = {"name": worker.name, "slots": worker.slots}
    return [Minute(*row) for row in sql.rows(STRIP, params)]


KINDS = """
SELECT kind,
       count(*) FILTER (WHERE mine),
       count(*) FILTER (WHERE mine AND outcome IN ('error', 'timeout', 'crashed')),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
           FILTER (WHERE mine AND outcome = 'completed'),
       count(*) FILTER (WHERE NOT mine),
       count(*) FILTER (WHERE NOT mine AND outcome IN ('error', 'timeout', 'crashed')),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
           FILTER (WHERE NOT mine AND outcome = 'completed')
  FROM (SELECT kind, outcome, worker_id = %(id)s AS mine,
               extract(epoch FROM ended_at - started_at)::float8 AS seconds
          FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) newest
         WHERE started_at IS NOT NULL) a
 GROUP BY kind
HAVING bool_or(mine)
 ORDER BY kind
"""


@dataclass(frozen=True, slots=True)
class KindRecord:
    """A kind's attempts on this boot and on all others; medians of completed ones in seconds."""

    kind: str
    attempts: int
    failed: int
    median: float | None
    peers_attempts: int
    peers_failed: int
    peers_median: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as long as its peers it takes."""
        if not self.median or not self.peers_median:
            return None
        return self.median / self.peers_median

    @property
    def slow(self) -> bool:
        """Whether it takes half as long again as its peers, over enough attempts to say so."""
        enough = self.attempts >= 10 and self.peers_attempts >= 10
        return enough and self.ratio is not None and self.ratio >= 1.5

    @property
    def failing(self) -> bool:
        """Whether it fails twice as often as its peers, over enough attempts to say so."""
        enough = self.attempts >= 10 and self.peers_attempts >= 10
        mine, theirs = self.failed / self.attempts, self.peers_failed / (self.peers_attempts or 1)
        return enough and mine >= 0.1 and mine >= 2 * theirs


def list_kinds(worker_id: UUID) -> list[KindRecord]:
    """What a boot did by kind, among the newest ``ATTEMPTS_LOOKED_AT`` attempts of all."""
    params: dict[str, Any] = {"id": worker_id, "looked_at": ATTEMPTS_LOOKED_AT}
    return [KindRecord(*row) for row in sql.rows(KINDS, params)]


CASUALTIES = """
SELECT a.task_id, a.kind, t.key, t.status, a.outcome, a.ended_at
  FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
  JOIN task t ON t.id = a.task_id
 WHERE a.worker_id = %(id)s AND a.outcome IN ('crashed', 'worker_lost', 'not_named')
   AND a.started_at IS NOT NULL
 ORDER BY a.token DESC
 LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class Casualty:
    """A task that was running when its process or this worker died, or lost sight of it."""

    task_id: UUID
    kind: str
    key: str | None
    status: str
    outcome: str
    ended_at: datetime


def list_casualties(worker_id: UUID) -> list[Casualty]:
    """The latest, among the newest attempts of all; at most 20."""
    params: dict[str, Any] = {"id": worker_id, "looked_at": ATTEMPTS_LOOKED_AT}
    return [Casualty(*row) for row in sql.rows(CASUALTIES, params)]


NEAR_MISSES = """
SELECT at, leases, silent_seconds, stale_after_seconds
  FROM near_miss
 WHERE worker_id = %(id)s
 ORDER BY id DESC
 LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class NearMissRow:
    """So many leases were renewed with less than a fifth of their time left."""

    at: datetime
    leases: int
    silent_seconds: float
    stale_after_seconds: float


def list_near_misses(worker_id: UUID) -> list[NearMissRow]:
    """The latest of a boot, at most 20."""
    return [NearMissRow(*row) for row in sql.rows(NEAR_MISSES, {"id": worker_id})]


VERSIONS = """
SELECT version, count(*) FROM worker
 WHERE state IN ('active', 'draining') AND id <> %(id)s
 GROUP BY version
 ORDER BY count(*) DESC, version
 LIMIT 10
"""


def list_peer_versions(worker_id: UUID) -> Sequence[tuple[str, int]]:
    """(version, live workers that run it) of all others, the most frequent first."""
    return [(version, int(n)) for version, n in sql.rows(VERSIONS, {"id": worker_id})]
