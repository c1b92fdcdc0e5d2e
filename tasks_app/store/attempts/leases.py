"""The life of a lease after dispatch: claimed, completed, or ended in another way.

Lock order is task, then lease. Every statement names (task_id, token) and repeats the status it was
decided on; a row that no longer matches is lost, which is an ordinary result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tasks_app.core.failures.fingerprints import key_of
from tasks_app.core.states import Outcome, Status
from tasks_app.store import sql
from tasks_app.store.dispatch.breakers import NOTE_NEAR_MISS
from tasks_app.store.dispatch.gates import IS_OPEN, LIMIT_ROOM, NOT_PAUSING, SPENT

# Inputs are looked up only for tasks that have dependencies; the results of dismissed or skipped
# ones are null. An ASSIGNED task's lease is never begun; to say it again at the update would only
# tempt the planner to walk all that is claimable for each task (lease_claimable). A task that waits
# for anything again has been held since it was assigned: its job is paused.
CLAIM = f"""
WITH {LIMIT_ROOM}, mine AS (
    SELECT l.task_id, l.token, l.weight,
           CASE WHEN k.limit_name IS NOT NULL THEN
               (SELECT r.name FROM limit_room r WHERE r.name = k.limit_name AND r.in_turn)
           END AS in_turn
      FROM lease l JOIN kind k ON k.name = ANY (ARRAY[l.kind])
     WHERE l.worker_id = %(worker)s AND l.started_at IS NULL
       AND {IS_OPEN}
       AND (k.limit_name IS NULL OR l.token NOT IN (SELECT token FROM refused))
     ORDER BY l.token
     LIMIT %(limit)s
), locked AS (
    SELECT t.id, t.token, m.weight, m.in_turn
      FROM (SELECT * FROM mine
             WHERE EXISTS (SELECT FROM worker w WHERE w.id = %(worker)s
                              AND w.state = 'active' AND NOT w.drain_asked)
               AND token + 0 = token
             ORDER BY task_id) m
     CROSS JOIN LATERAL (
        SELECT t.id, t.token FROM task t
         WHERE t.id = m.task_id AND t.token = m.token AND t.status = 'ASSIGNED'
           AND t.waiting_on < 1 AND t.attempts < t.max_attempts
           AND (t.deadline_at IS NULL OR t.deadline_at > statement_timestamp())
           AND {NOT_PAUSING}
           FOR NO KEY UPDATE SKIP LOCKED
     ) t
), {SPENT}, begun AS (
    UPDATE lease l SET started_at = statement_timestamp()
      FROM locked k
     WHERE l.task_id = ANY (ARRAY[k.id]) AND l.token + 0 = k.token
       AND (k.in_turn IS NULL OR k.in_turn IN (SELECT limit_id FROM spent))
    RETURNING l.task_id, l.token
), running AS (
    UPDATE task t
       SET status = 'RUNNING', attempts = t.attempts + 1, total_attempts = t.total_attempts + 1
      FROM begun b
     WHERE t.id = ANY (ARRAY[b.task_id])
    RETURNING t.id, t.token, t.kind, t.payload, t.attempts, t.key, t.dependency_count
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT r.kind, s.status, s.sign * r.n
      FROM (SELECT kind, count(*) AS n FROM running GROUP BY kind) r
     CROSS JOIN (VALUES ('ASSIGNED', -1), ('RUNNING', 1)) AS s(status, sign)
)
SELECT r.id, r.token, r.kind, r.payload, r.attempts, k.timeout_seconds,
       CASE WHEN r.dependency_count > 0 THEN
           (SELECT jsonb_object_agg(d.name, p.result)
              FROM dependency d JOIN task p ON p.id = ANY (ARRAY[d.depends_on_id])
             WHERE d.task_id = r.id)
       END
  FROM running r JOIN kind k ON k.name = r.kind
 ORDER BY r.token
"""  # noqa: S608  constants of the store


def claim(worker_id: UUID, limit: int) -> list[tuple[Any, ...]]:
    """Start up to ``limit`` of the worker's tasks that may begin now, oldest grant first.

    Returns rows (id, token, kind, payload, attempt, timeout in seconds, inputs or None).
    """
    return sql.rows_by_key(CLAIM, {"worker": worker_id, "limit": limit})


# The delta carries the run time, so that mean task seconds (T) need no scan of the attempts; a
# person's time is none of a worker's.
COMPLETE = """
WITH input AS (
    SELECT * FROM ROWS FROM (unnest(%(tasks)s::uuid[], %(tokens)s::bigint[]),
                             jsonb_array_elements(%(results)s::jsonb))
               AS i(task_id, token, result)
), locked AS (
    SELECT t.id, t.token, i.result
      FROM (SELECT * FROM input WHERE token + 0 = token ORDER BY task_id) i
     CROSS JOIN LATERAL (
        SELECT t.id, t.token FROM task t
         WHERE t.id = i.task_id AND t.token = i.token
           AND t.status = 'RUNNING' AND t.assigned_to = %(worker)s
           FOR NO KEY UPDATE
     ) t
), ended AS (
    DELETE FROM lease l USING locked k
     WHERE l.task_id = ANY (ARRAY[k.id]) AND l.token + 0 = k.token
    RETURNING l.task_id, l.token, l.worker_id, l.assigned_at, l.started_at, l.held_until, k.result
), done AS (
    UPDATE task t
       SET status = 'COMPLETED', result = e.result, error = NULL,
           finished_at = statement_timestamp()
      FROM ended e
     WHERE t.id = ANY (ARRAY[e.task_id])
    RETURNING t.id, t.kind, t.token, t.total_attempts, t.requeues, t.has_dependents,
              e.worker_id, e.assigned_at, e.started_at, e.held_until
), recorded AS (
    INSERT INTO attempt (token, task_id, kind, worker_id, number, requeues,
                         assigned_at, started_at, ended_at, outcome)
    SELECT token, id, kind, worker_id, total_attempts, requeues,
           assigned_at, started_at, statement_timestamp(), 'completed'
      FROM done
), counted AS (
    INSERT INTO status_delta (kind, status, change, busy_seconds)
    SELECT d.kind, s.status, s.sign * d.n, CASE s.sign WHEN 1 THEN d.busy ELSE 0 END
      FROM (SELECT kind, count(*) AS n,
                   coalesce(sum(extract(epoch FROM statement_timestamp() - started_at))
                                FILTER (WHERE held_until IS NULL), 0) AS busy
              FROM done GROUP BY kind) d
     CROSS JOIN (VALUES ('RUNNING', -1), ('COMPLETED', 1)) AS s(status, sign)
), announced AS (
    INSERT INTO settled (task_id) SELECT id FROM done WHERE has_dependents
)
SELECT token FROM done
"""


def complete(
    worker_id: UUID, tasks: Sequence[UUID], tokens: Sequence[int], results: str
) -> set[int]:
    """Complete RUNNING tasks whose token still holds; ``results`` is a JSON array, one a task.

    Returns the accepted tokens; those missing were lost to a reclaim. Notes a near miss first.
    """
    found = sql.rows_by_key(
        COMPLETE,
        {
            "worker": worker_id,
            "tasks": sql.uuids(tasks),
            "tokens": sql.array(tokens),
            "results": results,
        },
        before=NOTE_NEAR_MISS,
    )
    return {int(token) for (token,) in found}


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """How one lease ends other than by completion.

    ``delay`` seconds until ``run_at`` (None leaves it); ``refund`` gives the started attempt back.
    A death has the ``fingerprint`` of its error as everybody may read it; where it has none given,
    that of its error and reason, which hold nothing that is hidden.
    """

    task_id: UUID
    token: int
    status: Status
    outcome: Outcome
    error: str | None = None
    dead_reason: str | None = None
    delay: float | None = None
    refund: bool = False
    fingerprint: str | None = None


# One statement for failure, reclaim, release and death: they differ in values only. A lease that
# was never started is free of charge, whatever ends it. A cancel that was asked for wins over every
# end but a completion, whose work is done.
END = """
WITH input AS (
    SELECT * FROM unnest(%(tasks)s::uuid[], %(tokens)s::bigint[], %(statuses)s::text[],
                         %(outcomes)s::text[], %(errors)s::text[], %(reasons)s::text[],
                         %(fingerprints)s::text[], %(delays)s::float8[], %(refunds)s::boolean[])
               AS i(task_id, token, status, outcome, error, reason, fingerprint, delay, refund)
), locked AS (
    SELECT t.id, t.status AS before, i.token, i.outcome, i.error, i.fingerprint, i.delay, i.refund,
           CASE WHEN t.cancel_asked THEN 'CANCELLED' ELSE i.status END AS status,
           CASE WHEN t.cancel_asked THEN NULL ELSE i.reason END AS reason
      FROM (SELECT * FROM input WHERE token + 0 = token ORDER BY task_id) i
     CROSS JOIN LATERAL (
        SELECT t.* FROM task t
         WHERE t.id = i.task_id AND t.token = i.token AND t.status IN ('ASSIGNED', 'RUNNING')
           FOR NO KEY UPDATE
     ) t
), ended AS (
    DELETE FROM lease l USING locked k
     WHERE l.task_id = ANY (ARRAY[k.id]) AND l.token + 0 = k.token
    RETURNING l.worker_id, l.assigned_at, l.started_at, k.*
), moved AS (
    UPDATE task t
       SET status = e.status, assigned_to = NULL,
           attempts = t.attempts - CASE WHEN e.refund AND e.started_at IS NOT NULL
                                        THEN 1 ELSE 0 END,
           free_reclaims = t.free_reclaims + CASE WHEN e.started_at IS NULL THEN 1 ELSE 0 END,
           error = coalesce(e.error::jsonb, t.error),
           dead_reason = e.reason,
           fingerprint = coalesce(e.fingerprint, t.fingerprint),
           run_at = CASE WHEN e.delay IS NULL THEN t.run_at
                         ELSE statement_timestamp() + e.delay * interval '1 second' END,
           finished_at = CASE WHEN e.status IN ('DEAD', 'CANCELLED')
                              THEN statement_timestamp() END
      FROM ended e
     WHERE t.id = ANY (ARRAY[e.id])
    RETURNING t.id, t.kind, t.token, t.total_attempts, t.requeues, t.has_dependents, t.run_at,
              e.before, e.status, e.outcome, e.error, e.reason, e.fingerprint,
              e.worker_id, e.assigned_at, e.started_at
), recorded AS (
    INSERT INTO attempt (token, task_id, kind, worker_id, number, requeues, assigned_at,
                         started_at, ended_at, outcome, error, dead_reason, next_run_at)
    SELECT token, id, kind, worker_id, total_attempts, requeues, assigned_at, started_at,
           statement_timestamp(), outcome, error::jsonb, reason,
           CASE WHEN status = 'FAILED' THEN run_at END
      FROM moved
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT kind, before, -count(*) FROM moved GROUP BY kind, before
    UNION ALL
    SELECT kind, status, count(*) FROM moved GROUP BY kind, status
), announced AS (
    INSERT INTO settled (task_id)
    SELECT id FROM moved WHERE has_dependents AND status IN ('DEAD', 'CANCELLED')
), died AS (
    INSERT INTO death (task_id, kind, fingerprint, worker_id, at)
    SELECT id, kind, fingerprint, worker_id, statement_timestamp() FROM moved WHERE status = 'DEAD'
)
SELECT token FROM moved
"""


def end(ends: Sequence[LeaseEnd]) -> set[int]:
    """End leases whose token still holds; return the tokens that did."""
    if not ends:
        return set()
    found = sql.rows_by_key(
        END,
        {
            "tasks": sql.uuids([e.task_id for e in ends]),
            "tokens": sql.array([e.token for e in ends]),
            "statuses": [e.status for e in ends],
            "outcomes": [e.outcome for e in ends],
            "errors": [e.error for e in ends],
            "reasons": [e.dead_reason for e in ends],
            "fingerprints": [e.fingerprint or key_of(e.error, e.dead_reason) for e in ends],
            "delays": [e.delay for e in ends],
            "refunds": [e.refund for e in ends],
        },
    )
    return {int(token) for (token,) in found}
