"""What has been kept for long enough goes, in bounded batches; beside rounds, never in one.

Tasks are locked first and looked at afterwards: a submission that makes one a dependency holds the
same lock, so that its edge is seen or the task is passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from tasks_app.core.settings.retention import STATUSES, Kept
from tasks_app.store import sql


@dataclass(frozen=True, slots=True)
class Place:
    """How far a pass has looked: the end and the id of the last row."""

    at: datetime | Literal["-infinity"]
    id: UUID


BEGINNING: Final = Place("-infinity", UUID(int=0))


# The checks of foreign keys at the commit are planned under it too, and kept: one planned while a
# table was empty would read the whole of it for every task later.
BY_KEY: Final = "; ".join(f"SET LOCAL {way} = off" for way in (*sql.BY_KEY, "enable_sort"))


def look_up_by_key_only() -> None:
    """Have the rest of the transaction, and its checks, use indexes whatever is believed."""
    sql.execute(BY_KEY)


OLDEST: Final = """
SELECT id, finished_at FROM task
 WHERE status IN ({statuses}) {of_its_own}
   AND finished_at < statement_timestamp() - %(days)s * interval '1 day'
   AND (finished_at, id) > (%(at)s::timestamptz, %(id)s)
 ORDER BY finished_at, id
 LIMIT %(limit)s
   FOR UPDATE SKIP LOCKED
"""


def oldest_of(what: Kept) -> str:
    """The statement that locks the oldest tasks of these statuses."""
    statuses = ", ".join(f"'{status.value}'" for status in STATUSES[what])
    # Dead letters have one index for those of jobs and others: the former are left out below.
    of_its_own = "" if what is Kept.DEAD else "AND job_id IS NULL"
    return OLDEST.format(statuses=statuses, of_its_own=of_its_own)


def lock_oldest(what: Kept, days: int, after: Place, limit: int) -> list[tuple[UUID, datetime]]:
    """Lock the oldest tasks that ended more than ``days`` ago, past a place: (id, its end)."""
    params = {"days": days, "at": after.at, "id": after.id, "limit": limit}
    return [(r[0], r[1]) for r in sql.rows(oldest_of(what), params)]


# What an unfinished task needs as an input stays, and so does what a dead one would need again; a
# step and what undoes it stay or go together. A value that a kind hides can be masked in the words
# of those that got it only as long as it is known: it goes after them, or with them in their job.
# One of the two may be missing from the batch, locked by somebody: then the other stays too.
# With OFFSET the edges of each task are looked up. Without it all edges on record are read.
# An array, so that no planner can turn it round and read a table to look through the batch.
PRUNE: Final = """
WITH hiding AS MATERIALIZED (
    SELECT array_agg(name::text) AS kinds FROM kind WHERE redacted_keys <> '[]'
), going AS MATERIALIZED (
    SELECT t.id, t.kind, t.status
      FROM unnest(%(ids)s::uuid[]) AS i(id)
     CROSS JOIN LATERAL (SELECT id, kind, status, job_id FROM task WHERE id = i.id) t
      LEFT JOIN step_task undoing ON undoing.task_id = ANY (ARRAY[t.id])
      LEFT JOIN step_task undone ON undone.undoes_id = ANY (ARRAY[t.id])
      LEFT JOIN LATERAL (
        SELECT kind FROM task WHERE id IN (undoing.undoes_id, undone.task_id) LIMIT 1
     ) other ON undoing.undoes_id IS NOT NULL OR undone.task_id IS NOT NULL
     CROSS JOIN LATERAL (
        SELECT h.kinds && ARRAY[t.kind::text, other.kind::text] AS hides FROM hiding h
     ) secret
     WHERE (t.job_id IS NOT NULL) = %(of_jobs)s
       AND coalesce(undoing.undoes_id = ANY (%(ids)s::uuid[]), true)
       AND coalesce(undone.task_id = ANY (%(ids)s::uuid[]), true)
       AND NOT EXISTS (
            SELECT FROM dependency d JOIN task u ON u.id = ANY (ARRAY[d.task_id])
             WHERE d.depends_on_id IN (t.id, undoing.undoes_id, undone.task_id)
               AND (u.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'FAILED', 'DEAD')
                    OR secret.hides AND (u.job_id = t.job_id) IS NOT TRUE)
            OFFSET 0)
), ids AS MATERIALIZED (
    SELECT array_agg(id) AS all FROM going
), edges AS (
    DELETE FROM dependency WHERE task_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), needs AS (
    DELETE FROM dependency WHERE depends_on_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), attempts AS (
    DELETE FROM attempt WHERE task_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), logs AS (
    DELETE FROM task_log WHERE task_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), effects AS (
    DELETE FROM effect WHERE task_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), steps AS (
    DELETE FROM step_task WHERE task_id = ANY ((SELECT ids.all FROM ids)::uuid[])
), gone AS (
    DELETE FROM task WHERE id = ANY ((SELECT ids.all FROM ids)::uuid[]) RETURNING kind, status
), counted AS (
    INSERT INTO status_delta (kind, status, change, gone)
    SELECT kind, status, -count(*), count(*) FROM gone GROUP BY kind, status
)
SELECT count(*) FROM gone
"""


def prune_tasks(ids: Sequence[UUID], *, of_jobs: bool = False) -> int:
    """Delete those of these locked tasks that nobody needs, with all that is theirs; how many.

    Tasks of jobs go only as such: with their job.
    """
    if not ids:
        return 0
    found = sql.row(PRUNE, {"ids": sql.uuids(ids), "of_jobs": of_jobs})
    return int(found[0]) if found else 0


OLDEST_JOBS: Final = """
SELECT id, finished_at FROM job
 WHERE finished_at < statement_timestamp() - %(days)s * interval '1 day'
   AND (finished_at, id) > (%(at)s::timestamptz, %(id)s)
 ORDER BY finished_at, id
 LIMIT %(limit)s
   FOR UPDATE SKIP LOCKED
"""


def lock_oldest_jobs(days: int, after: Place, limit: int) -> list[tuple[UUID, datetime]]:
    """Lock the jobs that ended first, more than ``days`` ago, past a place: (id, its end)."""
    params = {"days": days, "at": after.at, "id": after.id, "limit": limit}
    return [(r[0], r[1]) for r in sql.rows(OLDEST_JOBS, params)]


# A step goes with what undoes it, so that no half of a way back is left between two batches.
TASKS_OF_JOBS: Final = """
WITH chosen AS MATERIALIZED (
    SELECT t.id
      FROM unnest(%(jobs)s::uuid[]) WITH ORDINALITY AS j(id, n)
     CROSS JOIN LATERAL (
        SELECT id FROM task WHERE job_id = j.id ORDER BY id LIMIT %(limit)s
     ) t
     LIMIT %(limit)s
), undone AS MATERIALIZED (
    SELECT s.task_id AS id
      FROM chosen c
     CROSS JOIN LATERAL (SELECT task_id FROM step_task WHERE undoes_id = c.id) s
)
SELECT t.id, EXISTS (SELECT FROM chosen c WHERE c.id = i.id)
  FROM (SELECT id FROM chosen UNION SELECT id FROM undone) i
  LEFT JOIN LATERAL (SELECT id FROM task WHERE id = i.id FOR UPDATE SKIP LOCKED) t ON true
"""


def lock_tasks_of(jobs: Sequence[UUID], limit: int) -> tuple[list[UUID], int]:
    """Lock the first tasks of locked jobs, and what undoes them; and how many were looked at.

    The second number leaves out the latter, and counts those that somebody else has locked: it is
    below ``limit`` where these are all that the jobs have.
    """
    found = sql.rows(TASKS_OF_JOBS, {"jobs": sql.uuids(jobs), "limit": limit})
    return [row[0] for row in found if row[0]], sum(row[1] for row in found)


PRUNE_JOBS: Final = """
DELETE FROM job j
 WHERE j.id = ANY (%(jobs)s::uuid[]) AND NOT EXISTS (SELECT FROM task t WHERE t.job_id = j.id)
"""


def prune_jobs(jobs: Sequence[UUID]) -> int:
    """Delete those of these locked jobs that have no task any more."""
    return sql.execute(PRUNE_JOBS, {"jobs": sql.uuids(jobs)})


# Written in the order of their ids, so that the oldest are the beginning of the primary key.
BY_AGE: Final = """
DELETE FROM {table} WHERE id = ANY (ARRAY(
    SELECT id FROM (SELECT id, {at} AS at FROM {table} ORDER BY id LIMIT %(limit)s) oldest
     WHERE at < statement_timestamp() - %(days)s * interval '1 day'))
"""
LEDGERS: Final = {"death": "at", "late_result": "received_at", "near_miss": "at"}


def prune_ledgers(days: int, limit: int) -> int:
    """Delete up to ``limit`` of the oldest deaths, late results and near misses each."""
    params = {"days": days, "limit": limit}
    return sum(
        sql.execute(BY_AGE.format(table=table, at=at), params) for table, at in LEDGERS.items()
    )


PRUNE_BULK: Final = """
DELETE FROM bulk WHERE id = (
    SELECT id FROM bulk
     WHERE finished_at < statement_timestamp() - %(days)s * interval '1 day'
     ORDER BY id LIMIT 1)
"""


def prune_bulk(days: int) -> int:
    """Delete the oldest act on many tasks that ended more than ``days`` ago; its items follow."""
    return sql.execute(PRUNE_BULK, {"days": days})


# An act may have a million items: they go in batches once it has gone itself, for as long as it is
# there its figures have to add up. A descent of the index for each act finds the first such.
PRUNE_ITEMS: Final = """
WITH RECURSIVE every AS (
    (SELECT bulk_id FROM bulk_item ORDER BY bulk_id LIMIT 1)
    UNION ALL
    SELECT (SELECT i.bulk_id FROM bulk_item i WHERE i.bulk_id > e.bulk_id
             ORDER BY i.bulk_id LIMIT 1)
      FROM every e WHERE e.bulk_id IS NOT NULL
), left_over AS MATERIALIZED (
    SELECT e.bulk_id FROM every e
     WHERE e.bulk_id IS NOT NULL AND NOT EXISTS (SELECT FROM bulk b WHERE b.id = e.bulk_id)
     LIMIT 1
)
DELETE FROM bulk_item
 WHERE bulk_id = (SELECT bulk_id FROM left_over)
   AND place < %(limit)s + (SELECT place FROM bulk_item
                             WHERE bulk_id = (SELECT bulk_id FROM left_over)
                             ORDER BY bulk_id, place LIMIT 1)
"""


def prune_items(limit: int) -> int:
    """Delete up to ``limit`` items of an act that has gone; how many."""
    return sql.execute(PRUNE_ITEMS, {"limit": limit})


NOTE: Final = """
INSERT INTO pruned (hour, what, rows, seconds)
VALUES (date_trunc('hour', statement_timestamp()), %(what)s, %(rows)s, %(seconds)s)
ON CONFLICT (hour, what) DO UPDATE
   SET rows = pruned.rows + excluded.rows, seconds = pruned.seconds + excluded.seconds
"""


def note(what: Kept, rows: int, seconds: float) -> None:
    """Count what went in this hour."""
    sql.execute(NOTE, {"what": what, "rows": rows, "seconds": seconds})


FORGET: Final = """
DELETE FROM pruned WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM pruned WHERE hour < statement_timestamp() - interval '30 days'
     LIMIT %(limit)s))
"""


def forget_notes() -> None:
    """Drop the counts of long ago, a bounded number each minute."""
    sql.execute(FORGET, {"limit": sql.CLEARED_AT_ONCE})
