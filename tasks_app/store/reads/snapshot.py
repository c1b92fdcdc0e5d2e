"""What one round decides on: a bounded window of the record."""

from collections.abc import Sequence
from dataclasses import replace

from tasks_app.core.facts import LimitFacts, Order, Snapshot, TaskFacts, WorkerFacts
from tasks_app.core.limits import refill
from tasks_app.core.windows import first_window
from tasks_app.models import SupervisorSettings
from tasks_app.store import sql
from tasks_app.store.reads.configuration import kind_policies

# One range scan of the ready queue a kind. Tasks whose run_at lies ahead are filtered out here:
# their queue_at may be early when their priority is high.
READY = """
SELECT t.id, k.name, t.priority, extract(epoch FROM t.queue_at)::float8, t.estimate_seconds,
       t.lock_key, t.weight,
       CASE WHEN t.attempts > 0 THEN
           (SELECT array_agg(DISTINCT a.worker_id) FROM attempt a
             WHERE a.task_id = t.id AND a.outcome IN ('error', 'timeout', 'crashed'))
       END
  FROM kind k
 CROSS JOIN LATERAL (
    SELECT id, priority, queue_at, estimate_seconds, lock_key, weight, attempts FROM task
     WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
       AND run_at <= statement_timestamp()
     ORDER BY queue_at, id
     LIMIT %(limit)s
 ) t
 WHERE NOT k.paused AND NOT k.by_people AND k.name = ANY (%(kinds)s)
"""

WORKERS = """
SELECT w.id, w.name, w.slots, w.state = 'draining' OR w.drain_asked,
       coalesce(l.active, 0), coalesce(l.queued, 0)
  FROM worker w
  JOIN heartbeat h ON h.worker_id = w.id
  LEFT JOIN (
    SELECT worker_id, count(*) AS active,
           sum(greatest(expected_seconds - coalesce(
               extract(epoch FROM statement_timestamp() - started_at), 0), 0)) AS queued
      FROM lease GROUP BY worker_id
  ) l ON l.worker_id = w.id
 WHERE w.state IN ('active', 'draining')
   AND h.at >= statement_timestamp() - %(stale_after)s * interval '1 second'
 ORDER BY w.name
"""

SKILLS = """
SELECT c.worker_id, c.kind, c.skill
  FROM capability c JOIN worker w ON w.id = c.worker_id
 WHERE w.state IN ('active', 'draining')
"""

LOCKED = "SELECT lock_key FROM lease WHERE lock_key IS NOT NULL"

LIMITS = """
SELECT l.name,
       l.max_concurrent - (SELECT coalesce(sum(e.weight), 0)
                             FROM lease e JOIN kind k ON k.name = e.kind
                            WHERE k.limit_name = l.name),
       CASE WHEN l.rate_per_second IS NOT NULL THEN coalesce(s.tokens, l.burst) END,
       coalesce(extract(epoch FROM statement_timestamp() - s.at), 0)::float8,
       l.rate_per_second, l.burst, l.max_concurrent,
       coalesce(s.paused_until > statement_timestamp(), false)
  FROM shared_limit l
  LEFT JOIN limit_state s ON s.limit_id = l.name
"""

CLOCK = "SELECT extract(epoch FROM statement_timestamp())::float8"


def worker_facts(stale_after: float) -> list[WorkerFacts]:
    """The live workers with their load; ``stale_after`` in seconds."""
    skills: dict[object, dict[str, float]] = {}
    for worker_id, kind, skill in sql.rows(SKILLS):
        skills.setdefault(worker_id, {})[kind] = float(skill)
    return [
        WorkerFacts(
            id=r[0],
            name=r[1],
            slots=r[2],
            draining=r[3],
            active=int(r[4]),
            queued_seconds=float(r[5]),
            skills=skills.get(r[0], {}),
        )
        for r in sql.rows(WORKERS, {"stale_after": stale_after})
    ]


def limit_facts() -> dict[str, LimitFacts]:
    """The shared limits as they stand, their token buckets refilled up to now."""
    return {
        r[0]: LimitFacts(
            name=r[0],
            free=r[1],
            tokens=None if r[2] is None else refill(r[2], r[3], r[4], r[5]),
            burst=r[5],
            most=r[6],
            paused=r[7],
        )
        for r in sql.rows(LIMITS)
    }


def ready_tasks(kinds: Sequence[str], limit: int) -> list[TaskFacts]:
    """The first ``limit`` ready tasks of each of these kinds."""
    if not kinds:
        return []
    return [
        TaskFacts(
            id=r[0],
            kind=r[1],
            priority=r[2],
            queue_at=r[3],
            estimate=r[4],
            lock_key=r[5],
            weight=r[6],
            failed_on=frozenset(r[7] or ()),
        )
        for r in sql.rows_in_index_order(READY, {"kinds": list(kinds), "limit": limit})
    ]


def read_snapshot(settings: SupervisorSettings, seed: int) -> tuple[Snapshot, int]:
    """Read kinds, workers and the ready tasks that they have room for.

    Returns the snapshot and how many tasks a kind were looked at, at most ``settings.window``.
    """
    clock = sql.row(CLOCK)
    workers = worker_facts(settings.stale_after_seconds)
    first = first_window(workers, settings.backlog, settings.window)
    kinds = kind_policies()
    snapshot = Snapshot(
        now=float(clock[0]) if clock else 0.0,
        kinds=kinds,
        workers=workers,
        ready=[
            *ready_tasks([k for k in kinds if kinds[k].order is Order.FIFO], first),
            # Which task is the longest is only known from the whole window.
            *ready_tasks([k for k in kinds if kinds[k].order is not Order.FIFO], settings.window),
        ],
        backlog=settings.backlog,
        seed=seed,
        # A statement that is not run is the cheapest: a quarter of a millisecond a round each.
        limits=limit_facts() if any(kind.limit for kind in kinds.values()) else {},
    )
    return with_locks(snapshot), first


def with_locks(snapshot: Snapshot) -> Snapshot:
    """The snapshot with the lock keys that are held, if any of its tasks needs one."""
    if all(task.lock_key is None for task in snapshot.ready):
        return snapshot
    return replace(snapshot, locked=frozenset(key for (key,) in sql.rows(LOCKED)))
