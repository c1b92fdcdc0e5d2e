"""The supervisor's hand-out: assignments become ASSIGNED tasks with a lease and a new token."""

from collections.abc import Mapping, Sequence

from tasks_app.core.facts import Assignment, Turn
from tasks_app.store import sql
from tasks_app.store.dispatch.gates import NOT_PAUSING
from tasks_app.store.reads.dispatch.waiting_jobs import NO_JOB

# SKIP LOCKED: a task that an operator is cancelling at this instant is simply left for the next
# round. The worker's state is repeated, for it may have left since the snapshot; its row is shared,
# so that one who drains it at this instant waits and then gives back what came in between. Tokens
# come from one sequence: they rise at every grant of every task and are never used twice.
# Each worker is looked up and shared once, not once a task; IS TRUE makes its set a hash table. Two
# conditions are written so that they imply no partial index: else, without statistics, the planner
# walks all of task_ready for each task, and all of worker_name_live_once for each worker. Why
# LATERAL, and why an addition of nothing: see sql.BY_KEY.
DISPATCH = f"""
WITH input AS (
    SELECT * FROM unnest(%(tasks)s::uuid[], %(workers)s::uuid[], %(expected)s::float8[])
               AS i(task_id, worker_id, expected)
), able AS (
    SELECT w.id
      FROM (SELECT DISTINCT worker_id FROM input) d
      JOIN worker w ON w.id = ANY (ARRAY[d.worker_id])
     WHERE w.state || '' = 'active' AND NOT w.drain_asked
     ORDER BY d.worker_id
       FOR SHARE OF w SKIP LOCKED
), locked AS (
    SELECT t.id, i.worker_id, i.expected
      FROM (SELECT * FROM input
             WHERE (worker_id IN (SELECT id FROM able)) IS TRUE AND expected + 0 = expected
             ORDER BY task_id) i
     CROSS JOIN LATERAL (
        SELECT t.id FROM task t
         WHERE t.id = i.task_id AND t.status = 'PENDING' AND t.waiting_on < 1
           AND t.attempts < t.max_attempts
           AND (t.deadline_at IS NULL OR t.deadline_at > statement_timestamp())
           AND {NOT_PAUSING}
           FOR NO KEY UPDATE SKIP LOCKED
     ) t
), assigned AS (
    UPDATE task t
       SET status = 'ASSIGNED', assigned_to = l.worker_id, token = nextval('lease_token')
      FROM locked l
     WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind, t.token, t.lock_key, t.weight, l.worker_id, l.expected
), leased AS (
    INSERT INTO lease (task_id, worker_id, kind, token, expected_seconds, lock_key, weight,
                       assigned_at)
    SELECT id, worker_id, kind, token, expected, lock_key, weight, statement_timestamp()
      FROM assigned
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT a.kind, s.status, s.sign * a.n
      FROM (SELECT kind, count(*) AS n FROM assigned GROUP BY kind) a
     CROSS JOIN (VALUES ('PENDING', -1), ('ASSIGNED', 1)) AS s(status, sign)
)
SELECT worker_id::text, count(*) FROM assigned GROUP BY worker_id
"""  # noqa: S608  a constant


def dispatch(assignments: Sequence[Assignment]) -> dict[str, int]:
    """Assign tasks to workers; return how many each got, fewer than asked where one moved."""
    if not assignments:
        return {}
    found = sql.rows_by_key(
        DISPATCH,
        {
            "tasks": sql.uuids([a.task_id for a in assignments]),
            "workers": sql.uuids([a.worker_id for a in assignments]),
            "expected": sql.array([a.expected for a in assignments]),
        },
    )
    return {worker_id: int(count) for worker_id, count in found}


# In the order of their keys, as every upsert of several rows; a microsecond apart in the order of
# service, so that who was served last in a round is last in the next.
SAVE_TURNS = """
INSERT INTO job_turn (kind_id, priority, job_id, at)
SELECT kind, priority, coalesce(job, %(nil)s), statement_timestamp() + n * interval '1 microsecond'
  FROM unnest(%(kinds)s::text[], %(priorities)s::int[], %(jobs)s::uuid[])
           WITH ORDINALITY AS i(kind, priority, job, n)
 ORDER BY 1, 2, 3
ON CONFLICT (kind_id, priority, job_id) DO UPDATE SET at = excluded.at
"""


def save_turns(turns: Sequence[Turn]) -> None:
    """Note which jobs were handed something in this round, the last one last."""
    if turns:
        sql.execute(
            SAVE_TURNS,
            {
                "nil": NO_JOB,
                "kinds": sql.texts([turn.kind for turn in turns]),
                "priorities": sql.array([turn.priority for turn in turns]),
                "jobs": sql.uuids([turn.job for turn in turns]),
            },
        )


# Who has not been handed anything for so long waits for other reasons, or has ended.
FORGET_TURNS = """
DELETE FROM job_turn WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM job_turn WHERE at < statement_timestamp() - interval '1 hour'
     LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
"""


def forget_turns() -> int:
    """Drop turns of an hour ago, a bounded number each minute; return how many."""
    return sql.execute(FORGET_TURNS, {"limit": sql.CLEARED_AT_ONCE})


SAVE_CURSORS = """
INSERT INTO round_robin_cursor (kind_id, position)
SELECT * FROM unnest(%(kinds)s::text[], %(positions)s::bigint[])
ON CONFLICT (kind_id) DO UPDATE SET position = excluded.position
"""


def save_cursors(cursors: Mapping[str, int]) -> None:
    """Keep where each round-robin ring stands, so that the next leader goes on from there."""
    if cursors:
        sql.execute(
            SAVE_CURSORS, {"kinds": list(cursors), "positions": [cursors[k] for k in cursors]}
        )
