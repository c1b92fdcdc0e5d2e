"""What one round decides on: a bounded window of the record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tasks_app.core.dispatch.limits import refill
from tasks_app.core.dispatch.windows import first_window
from tasks_app.core.facts import Breaker, LimitFacts, Order, Snapshot, TaskFacts, WorkerFacts
from tasks_app.models import SupervisorSettings
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.breakers import IS_PROBED
from tasks_app.store.reads.dispatch.ready_queue import ready_tasks
from tasks_app.store.reads.dispatch.waiting_jobs import other_jobs, turns_of
from tasks_app.store.reads.settings.configuration import KINDS, policies_of

SILENT_SHARE: Final = 0.5
"""Share of the time after which a worker is lost, from which on one that says nothing gets nothing
new: its handlers may hold the interpreter, and what it is given would wait until it is lost."""

WORKERS = f"""
SELECT w.id, w.name, w.slots,
       w.state = 'draining' OR w.drain_asked
           OR h.at < statement_timestamp() - %(stale_after)s * {SILENT_SHARE} * interval '1 second',
       coalesce(l.active, 0), coalesce(l.queued, 0)
  FROM worker w
  JOIN heartbeat h ON h.worker_id = w.id
  LEFT JOIN (
    SELECT worker_id, count(*) AS active,
           sum(greatest(least(expected_seconds, 1e12) - coalesce(
               extract(epoch FROM statement_timestamp() - started_at), 0), 0)) AS queued
      FROM lease GROUP BY worker_id
  ) l ON l.worker_id = w.id
 WHERE w.state IN ('active', 'draining')
   AND h.at >= statement_timestamp() - %(stale_after)s * interval '1 second'
 ORDER BY w.name
"""  # noqa: S608  a constant

SKILLS = """
SELECT c.worker_id, c.kind, c.skill
  FROM capability c JOIN worker w ON w.id = c.worker_id
 WHERE w.state IN ('active', 'draining')
"""

LOCKED = "SELECT lock_key FROM lease WHERE lock_key IS NOT NULL"

LIMITS = f"""
SELECT l.name,
       l.max_concurrent - (SELECT coalesce(sum(e.weight), 0)
                             FROM lease e JOIN kind k ON k.name = e.kind
                            WHERE k.limit_name = l.name),
       CASE WHEN l.rate_per_second IS NOT NULL THEN coalesce(s.tokens, l.burst) END,
       coalesce(abs(extract(epoch FROM statement_timestamp() - s.at)), 0)::float8,
       l.rate_per_second, l.burst, l.max_concurrent,
       coalesce(s.paused_until BETWEEN statement_timestamp()
                    AND statement_timestamp() + interval '1 hour', false),
       CASE WHEN l.breaker_failures IS NULL THEN 'closed'
            WHEN b.state = 'half_open' AND {IS_PROBED} THEN 'open'
            ELSE coalesce(b.state, 'closed') END
  FROM shared_limit l
  LEFT JOIN limit_state s ON s.limit_id = l.name
  LEFT JOIN breaker_state b ON b.scope = 'limit' AND b.name = l.name
"""  # noqa: S608  a constant

HAS_JOBS = """
SELECT EXISTS (SELECT FROM job WHERE NOT status IN ('CANCELLED', 'COMPENSATED', 'COMPLETED'))
"""

# Jobs of which not every task has followed a pause yet.
PAUSING = "SELECT id FROM job WHERE paused AND held_to IS NOT NULL"

SETTINGS: Final = [field.attname for field in SupervisorSettings._meta.concrete_fields]

# The settings are in force from the next round, so each asks for them.
BEGIN: Final = f"""
SELECT set_config('lock_timeout', %(longest)s, true), EXISTS (SELECT FROM settled),
       {", ".join(f's."{name}"' for name in SETTINGS)}
  FROM supervisor_settings s WHERE s.id = 1
"""  # noqa: S608  the names of the model's columns


def begin_round() -> tuple[SupervisorSettings, bool]:
    """The settings of a round, and whether any end of a task is to be carried over.

    No statement of the transaction waits for a lock for long from here on.
    """
    ((_, has_settled, *values),) = sql.rows(BEGIN, {"longest": sql.LONGEST_WAIT})
    return SupervisorSettings.from_db("default", SETTINGS, values), bool(has_settled)


def worker_facts(stale_after: float) -> list[WorkerFacts]:
    """The live workers with their load; ``stale_after`` in seconds."""
    return _workers_of(*sql.several((SKILLS, WORKERS), {"stale_after": stale_after}))


def _workers_of(able: list[tuple[Any, ...]], live: list[tuple[Any, ...]]) -> list[WorkerFacts]:
    skills: dict[object, dict[str, float]] = {}
    for worker_id, kind, skill in able:
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
        for r in live
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
            breaker=Breaker(r[8]),
        )
        for r in sql.rows(LIMITS)
    }


def read_snapshot(settings: SupervisorSettings, seed: int) -> tuple[Snapshot, Mapping[str, int]]:
    """Read kinds, workers and the ready tasks that they have room for.

    Returns the snapshot and how many tasks of each kind were looked at, at most
    ``settings.window``.
    """
    known = {"stale_after": settings.stale_after_seconds}
    jobs, pausing, able, live, of_kinds = sql.several(
        (HAS_JOBS, PAUSING, SKILLS, WORKERS, KINDS), known
    )
    workers, kinds = _workers_of(able, live), policies_of(of_kinds)
    first = first_window(workers, settings.backlog, settings.window)
    # Which task is the longest is only known from the whole window.
    looked_at = {k: first if kinds[k].order is Order.FIFO else settings.window for k in kinds}
    snapshot = Snapshot(
        kinds=kinds,
        workers=workers,
        ready=_without(pausing, read_ready(looked_at, has_jobs=jobs[0][0])),
        backlog=settings.backlog,
        seed=seed,
        # A statement that is not run is the cheapest: a quarter of a millisecond a round each.
        limits=limit_facts() if any(kind.limit for kind in kinds.values()) else {},
    )
    return with_holds(snapshot), looked_at


def _without(jobs: Sequence[tuple[Any, ...]], ready: list[TaskFacts]) -> list[TaskFacts]:
    """The ready tasks that are not of these jobs."""
    # Left out here and not where they are read: a job may have a million of them to pass over.
    ids = {job_id for (job_id,) in jobs}
    return [task for task in ready if task.job not in ids] if ids else ready


def read_ready(looked_at: Mapping[str, int], *, has_jobs: bool) -> list[TaskFacts]:
    """So many ready tasks of each kind and, where there are jobs, those of jobs behind them."""
    kinds_by_limit: dict[int, list[str]] = {}
    for kind, limit in looked_at.items():
        kinds_by_limit.setdefault(limit, []).append(kind)
    ready = [task for limit, kinds in kinds_by_limit.items() for task in ready_tasks(kinds, limit)]
    return ready + other_jobs(ready, looked_at) if has_jobs else ready


def with_holds(snapshot: Snapshot) -> Snapshot:
    """The snapshot with the locks that are held and the turns of jobs, if its tasks need them."""
    if any(task.lock_key is not None for task in snapshot.ready):
        held = frozenset(key for (key,) in sql.rows(LOCKED))
        snapshot = replace(snapshot, locked=held)
    return replace(snapshot, turns=turns_of(snapshot.ready))
