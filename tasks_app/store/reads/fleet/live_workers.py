"""The shop floor at a glance: the live workers with their load, and what waits without one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tasks_app.store import sql

WORKERS = """
SELECT w.id, w.name, w.host, w.slots, w.state, w.drain_asked, h.at,
       extract(epoch FROM statement_timestamp() - h.at)::float8,
       coalesce(l.active, 0), coalesce(l.queued, 0)::float8, coalesce(l.kinds, '{}')
  FROM worker w
  JOIN heartbeat h ON h.worker_id = w.id
  LEFT JOIN (
    SELECT worker_id, count(*) AS active, array_agg(DISTINCT kind ORDER BY kind) AS kinds,
           sum(greatest(least(expected_seconds, 1e12) - coalesce(
               extract(epoch FROM statement_timestamp() - started_at), 0), 0)) AS queued
      FROM lease GROUP BY worker_id
  ) l ON l.worker_id = w.id
 WHERE w.state IN ('active', 'draining')
 ORDER BY w.name
"""


@dataclass(frozen=True, slots=True)
class FloorWorker:
    """One live boot: what it holds (``active``: ASSIGNED + RUNNING) and its last sign of life.

    ``queued_seconds`` is the expected time left on all it holds; ``heartbeat_age`` in seconds.
    """

    id: UUID
    name: str
    host: str
    slots: int
    state: str
    drain_asked: bool
    heartbeat_at: datetime
    heartbeat_age: float
    active: int
    queued_seconds: float
    kinds: list[str]


def list_floor() -> list[FloorWorker]:
    """The live workers, by name."""
    return [FloorWorker(*row) for row in sql.rows(WORKERS)]


# A name that is back is no loss, nor is a boot that a person or a newer process ended.
LOST = """
SELECT count(DISTINCT w.name) FROM worker w
 WHERE w.state = 'lost' AND coalesce(w.ending, 'silent') = 'silent'
   AND w.ended_at > statement_timestamp() - interval '1 hour'
   AND NOT EXISTS (SELECT FROM worker n
                    WHERE n.name = w.name AND n.state IN ('active', 'draining'))
"""


def count_lost() -> int:
    """Workers lost in the last hour and not back."""
    found = sql.row(LOST)
    return int(found[0]) if found else 0


WAITING = """
SELECT k.name FROM kind k
 WHERE k.name = ANY (%(kinds)s)
   AND EXISTS (SELECT FROM task t
                WHERE t.kind = k.name AND t.status = 'PENDING' AND t.waiting_on = 0)
"""


def waiting_kinds(kinds: Sequence[str]) -> frozenset[str]:
    """Those of some kinds that have ready tasks: one look into the ready queue each."""
    if not kinds:
        return frozenset()
    return frozenset(name for (name,) in sql.rows(WAITING, {"kinds": list(kinds)}))


# One look into the ready queue a kind; its length comes from nowhere, for counting it costs.
UNSERVED = """
SELECT k.name FROM kind k
 WHERE NOT k.paused AND NOT k.by_people
   AND EXISTS (SELECT FROM task t
                WHERE t.kind = k.name AND t.status = 'PENDING' AND t.waiting_on = 0)
   AND NOT EXISTS (SELECT FROM capability c
                     JOIN worker w ON w.id = c.worker_id AND w.state = 'active'
                      AND NOT w.drain_asked
                     JOIN heartbeat h ON h.worker_id = w.id
                      AND h.at >= statement_timestamp() - %(stale_after)s * interval '1 second'
                    WHERE c.kind = k.name)
 ORDER BY k.name
"""


def list_unserved_kinds(stale_after: float) -> list[str]:
    """Kinds with ready tasks that no live worker can do; a worker is live for ``stale_after`` s."""
    return [name for (name,) in sql.rows(UNSERVED, {"stale_after": stale_after})]
