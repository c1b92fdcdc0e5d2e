"""The one checker: what must hold of the record at every instant, as queries that find violations.

Each query returns the ids that break its invariant, so an empty answer is a proof for this record.
They scan whole tables: for tests and for an audit, not for a screen. Two large sides are compared
by set operations rather than outer joins: on tables that nothing has analysed a join may be planned
as a loop in a loop. The numbers in brackets are those of the reliability programme.
"""

from typing import Final

from tasks_app.store import sql
from tasks_app.store.reads.invariants.edge_invariants import EDGE_INVARIANTS
from tasks_app.store.reads.invariants.invariant import Invariant
from tasks_app.store.reads.invariants.job_invariants import JOB_INVARIANTS
from tasks_app.store.reads.invariants.sequences import sequences_behind

SEQUENCES: Final = Invariant(
    "sequences_are_ahead",
    "No number on record is about to be given again; a line is what repairs it.",
    "Asked of the catalogue, in reads/invariants/sequences.py.",
)

INVARIANTS: Final = (
    SEQUENCES,
    Invariant(
        "one_completion",
        "A task has at most one accepted completion (I1).",
        """
        SELECT task_id::text FROM attempt WHERE outcome = 'completed'
         GROUP BY task_id HAVING count(*) > 1
        """,
    ),
    Invariant(
        "completed_is_recorded",
        "A COMPLETED task but a join has its completion on record, and no other has one (I1).",
        """
        WITH owed AS (
            SELECT id FROM task WHERE status = 'COMPLETED'
            EXCEPT SELECT task_id FROM step_task WHERE role = 'join'
        ), paid AS (SELECT task_id AS id FROM attempt WHERE outcome = 'completed')
        SELECT id::text FROM (
            (TABLE owed EXCEPT TABLE paid) UNION ALL (TABLE paid EXCEPT TABLE owed)) v
        """,
    ),
    Invariant(
        "active_has_its_lease",
        "ASSIGNED and RUNNING tasks have a lease under their token and worker; others have none.",
        """
        SELECT coalesce(t.id, l.task_id)::text
          FROM (SELECT * FROM task WHERE status IN ('ASSIGNED', 'RUNNING')) t
          FULL JOIN lease l ON l.task_id = t.id
         WHERE t.id IS NULL OR l.task_id IS NULL OR l.token <> t.token
            OR l.worker_id <> t.assigned_to
            OR (t.status = 'RUNNING') <> (l.started_at IS NOT NULL)
        """,
    ),
    Invariant(
        "people_hold_for_a_time",
        "A lease has an end of its own if and only if a person has it, and then it has begun.",
        """
        SELECT l.task_id::text FROM lease l JOIN worker w ON w.id = l.worker_id
         WHERE (l.held_until IS NOT NULL) <> (w.state = 'person')
            OR (l.held_until IS NOT NULL AND l.started_at IS NULL)
        """,
    ),
    Invariant(
        "leases_do_not_overlap",
        "No two leases of a task stood at once, and tokens rise with time (I3).",
        """
        SELECT task_id::text FROM (
            SELECT task_id, assigned_at,
                   lag(ended_at) OVER (PARTITION BY task_id ORDER BY token) AS before
              FROM (SELECT task_id, token, assigned_at, ended_at FROM attempt
                    UNION ALL
                    SELECT task_id, token, assigned_at, 'infinity' FROM lease) h
        ) ordered
         WHERE assigned_at < before
        """,
    ),
    Invariant(
        "attempts_in_budget",
        "No incarnation of a task began more attempts that count than it may (I4).",
        """
        SELECT t.id::text
          FROM task t
          JOIN attempt a ON a.task_id = t.id
         WHERE a.started_at IS NOT NULL
           AND a.outcome NOT IN ('released', 'expired', 'replaced', 'stopped')
         GROUP BY t.id, t.max_attempts, a.requeues
        HAVING count(*) > t.max_attempts
        """,
    ),
    Invariant(
        "started_reclaims_count",
        "A started attempt counts unless it was released, its worker was stopped or replaced, or "
        "a person's time ran out: the task's own count says the same.",
        """
        SELECT t.id::text
          FROM task t
          LEFT JOIN attempt a ON a.task_id = t.id AND a.requeues = t.requeues
                             AND a.started_at IS NOT NULL
                             AND a.outcome NOT IN ('released', 'expired', 'replaced', 'stopped')
          LEFT JOIN lease l ON l.task_id = t.id AND l.started_at IS NOT NULL
         GROUP BY t.id, t.attempts, l.task_id
        HAVING count(a.token) + CASE WHEN l.task_id IS NULL THEN 0 ELSE 1 END <> t.attempts
        """,
    ),
    Invariant(
        "what_waits_may_begin",
        "A task that waits for a worker, or for its retry, has an attempt left.",
        """
        SELECT id::text FROM task
         WHERE status IN ('PENDING', 'FAILED', 'ASSIGNED') AND attempts >= max_attempts
        """,
    ),
    *EDGE_INVARIANTS,
    Invariant(
        "locks_exclude",
        "No two tasks of one lock were in work at once (I7).",
        """
        SELECT a.task_id::text
          FROM (SELECT h.task_id, h.assigned_at, h.ended_at, t.lock_key, h.token
                  FROM (SELECT task_id, token, assigned_at, ended_at FROM attempt
                        UNION ALL
                        SELECT task_id, token, assigned_at, 'infinity' FROM lease) h
                  JOIN task t ON t.id = h.task_id AND t.lock_key IS NOT NULL) a
          JOIN LATERAL (
              SELECT 1 FROM attempt o JOIN task u ON u.id = o.task_id
               WHERE u.lock_key = a.lock_key AND o.token <> a.token
                 AND o.assigned_at < a.ended_at AND o.ended_at > a.assigned_at
               LIMIT 1) clash ON true
        """,
    ),
    Invariant(
        "limits_hold",
        "No limit has more weight in flight than it allows, bar one task heavier than that (I7).",
        """
        SELECT l.name FROM shared_limit l
          JOIN kind k ON k.limit_name = l.name
          JOIN lease e ON e.kind = k.name
         WHERE l.max_concurrent IS NOT NULL
         GROUP BY l.name, l.max_concurrent
        HAVING sum(e.weight) > greatest(l.max_concurrent, max(e.weight))
        """,
    ),
    Invariant(
        "half_open_lets_one_through",
        "A half-open breaker has at most one task in flight that was handed out since (I7).",
        """
        SELECT b.scope || ' ' || b.name FROM breaker_state b
          JOIN kind k ON NOT k.by_people AND CASE b.scope WHEN 'kind' THEN k.name = b.name
                                                         ELSE k.limit_name = b.name END
          JOIN lease e ON e.kind = k.name AND e.assigned_at >= b.since
          LEFT JOIN shared_limit l ON l.name = k.limit_name
         WHERE b.state = 'half_open'
           AND CASE b.scope WHEN 'kind' THEN k.breaker_failures
                            ELSE l.breaker_failures END IS NOT NULL
         GROUP BY b.scope, b.name
        HAVING count(*) > 1
        """,
    ),
    Invariant(
        "counts_are_true",
        "The rollup of counts says what counting the tasks says.",
        """
        SELECT coalesce(c.kind, t.kind) || ' ' || coalesce(c.status, t.status)
          FROM (SELECT kind, status, sum(n) AS n
                  FROM (SELECT kind, status, count AS n FROM status_count
                        UNION ALL SELECT kind, status, change FROM status_delta) d
                 GROUP BY kind, status) c
          FULL JOIN (SELECT kind, status, count(*) AS n FROM task GROUP BY kind, status) t
            ON t.kind = c.kind AND t.status = c.status
         WHERE coalesce(c.n, 0) <> coalesce(t.n, 0)
        """,
    ),
    Invariant(
        "bulks_add_up",
        "A bulk has dealt with exactly the items before its place, and moved as many as it says.",
        """
        SELECT b.id::text FROM bulk b LEFT JOIN bulk_item i ON i.bulk_id = b.id
         GROUP BY b.id
        HAVING count(i.place) <> b.total
            OR count(*) FILTER (WHERE i.state = 'moved') <> b.moved
            OR count(*) FILTER (WHERE (i.place < b.place) <> (i.state <> 'waiting')) > 0
        """,
    ),
    Invariant(
        "audit_is_whole",
        "The audit is the chain that was written: no entry changed, none gone.",
        """
        SELECT id::text FROM (
            SELECT e.id, e.digest, audit_digest(coalesce(lag(e.digest) OVER (ORDER BY e.id), ''), e)
                       AS wanted
              FROM audit_entry e
        ) chained
         WHERE digest <> wanted
        UNION ALL
        SELECT 'the head: ' || h.last FROM audit_head h
          LEFT JOIN LATERAL (SELECT id, digest FROM audit_entry ORDER BY id DESC LIMIT 1) e ON true
         WHERE (h.last, h.digest) <> (coalesce(e.id, 0), coalesce(e.digest, ''))
        """,
    ),
    Invariant(
        "ended_has_its_time",
        "A task has an end time if and only if it has ended or is DEAD.",
        """
        SELECT id::text FROM task
         WHERE (finished_at IS NOT NULL)
            <> (status IN ('COMPLETED', 'DEAD', 'DISMISSED', 'CANCELLED', 'SKIPPED'))
        """,
    ),
    *JOB_INVARIANTS,
)


def find_violations(limit: int = 20) -> dict[str, list[str]]:
    """Check everything in one snapshot; return up to ``limit`` offenders of each broken invariant.

    Call it in a REPEATABLE READ transaction on a live database: all queries then see one instant.
    """
    broken = {}
    if behind := sequences_behind():
        broken[SEQUENCES.name] = [str(each) for each in behind[:limit]]
    for invariant in INVARIANTS:
        if invariant is SEQUENCES:
            continue
        # The queries are constants of this module.
        bounded = f"SELECT * FROM ({invariant.query}) v LIMIT %(limit)s"  # noqa: S608  see above
        found = sql.rows(bounded, {"limit": limit})
        if found:
            broken[invariant.name] = [str(offender) for (offender,) in found]
    return broken
