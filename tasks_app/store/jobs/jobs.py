"""Jobs themselves: made, paused, ended, and the inbox of those of which something moved.

Lock order is job, then task. The supervisor's rounds lock tasks first, so what it decides about
jobs has a transaction of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.store import sql

# The key's unique index lets the second of two submissions wait for the first.
INSERT_JOB = """
INSERT INTO job (id, name, key, plan, submitted_by, created_at)
VALUES (%(id)s, %(name)s, %(key)s, %(plan)s::jsonb, %(by)s, statement_timestamp())
ON CONFLICT (key) DO NOTHING
RETURNING created_at
"""


def insert_job(
    job_id: UUID, *, name: str, key: str | None, plan: str, submitted_by: str
) -> datetime | None:
    """Insert a RUNNING job; ``plan`` is a JSON text.

    Returns when it began, by the database's clock, or None when the key is on record already.
    """
    values = {"id": job_id, "name": name, "key": key, "plan": plan, "by": submitted_by}
    found = sql.row(INSERT_JOB, values)
    return found[0] if found else None


# A plan never changes once it is on record.
JOB_OF_KEY = "SELECT id, plan = %(plan)s::jsonb FROM job WHERE key = %(key)s"


def job_of_key(key: str, plan: str) -> tuple[UUID, bool] | None:
    """The job that holds a key, and whether it has this plan, a JSON text."""
    found = sql.row(JOB_OF_KEY, {"key": key, "plan": plan})
    return (found[0], found[1]) if found else None


ADD_NEWS = """
INSERT INTO job_news (job_id) SELECT id FROM job WHERE id = ANY (%(jobs)s::uuid[])
"""


def add_news(jobs: Sequence[UUID]) -> None:
    """Have the supervisor look at jobs."""
    sql.execute(ADD_NEWS, {"jobs": list(jobs)})


# All entries of a job are taken with it: one look serves them all.
TAKE_NEWS = """
WITH chosen AS (
    SELECT DISTINCT job_id FROM (SELECT job_id FROM job_news ORDER BY id LIMIT %(limit)s) n
)
DELETE FROM job_news n USING chosen c WHERE n.job_id = c.job_id RETURNING n.job_id
"""


def take_news(limit: int) -> list[UUID]:
    """Empty up to about ``limit`` entries of the inbox and return their jobs."""
    return sorted({job_id for (job_id,) in sql.rows(TAKE_NEWS, {"limit": limit})})


FIRST_NEWS = "SELECT job_id FROM job_news ORDER BY id LIMIT 1"


def first_news() -> UUID | None:
    """The job whose turn is next."""
    found = sql.row(FIRST_NEWS)
    return found[0] if found else None


PUT_LAST = """
WITH gone AS (DELETE FROM job_news WHERE job_id = %(job)s RETURNING id)
INSERT INTO job_news (job_id) SELECT %(job)s WHERE EXISTS (SELECT FROM gone)
"""


def put_last(job_id: UUID) -> None:
    """Have a job wait behind all others of the inbox."""
    sql.execute(PUT_LAST, {"job": job_id})


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job that is locked for the rest of the transaction.

    ``pause_under_way``: not all of its tasks have followed its last pause or resumption.
    """

    id: UUID
    status: JobStatus
    plan: Mapping[str, Any]
    paused: bool
    cancel_asked: bool
    created_at: datetime
    pause_under_way: bool


LOCK_JOBS = """
SELECT id, status, plan, paused, cancel_asked, created_at, held_to IS NOT NULL FROM job
 WHERE id = ANY (%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE
"""


def lock_jobs(ids: Sequence[UUID]) -> list[JobRow]:
    """Lock jobs, by id; what does not exist is left out."""
    return [_row_of(r) for r in sql.rows(LOCK_JOBS, {"ids": list(ids)})]


def lock_free_jobs(ids: Sequence[UUID], characters: int) -> list[JobRow]:
    """Lock those of the jobs that nobody else has locked, up to so many characters of plans.

    The first one is among them, however long its plan is.
    """
    locked: list[JobRow] = []
    for row in sql.rows(f"{LOCK_JOBS} SKIP LOCKED", {"ids": list(ids)}):
        characters -= len(row[2])
        if locked and characters < 0:
            break
        locked.append(_row_of(row))
    return locked


def _row_of(row: tuple[Any, ...]) -> JobRow:
    return JobRow(row[0], JobStatus(row[1]), sql.loaded(row[2]), *row[3:])


# A final status is repeated in the condition: an ended job never moves again.
MOVE_JOBS = """
UPDATE job j
   SET status = i.status, result = i.result::jsonb,
       finished_at = CASE WHEN i.status IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
                          THEN statement_timestamp() END,
       held_to = CASE WHEN i.status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
                      THEN j.held_to END
  FROM unnest(%(ids)s::uuid[], %(statuses)s::text[], %(results)s::text[])
           AS i(id, status, result)
 WHERE j.id = i.id AND j.status <> i.status
   AND j.status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
"""


def move_jobs(moves: Sequence[tuple[UUID, JobStatus, str | None]]) -> int:
    """Set jobs' statuses and, where they complete, results (JSON texts); return how many moved."""
    if not moves:
        return 0
    return sql.execute(
        MOVE_JOBS,
        {
            "ids": [m[0] for m in moves],
            "statuses": [m[1] for m in moves],
            "results": [m[2] for m in moves],
        },
    )


ASK_CANCEL = """
UPDATE job SET cancel_asked = true
 WHERE id = %(id)s AND status IN ('RUNNING', 'DEAD') AND NOT cancel_asked
RETURNING id
"""


def ask_cancel(job_id: UUID) -> bool:
    """Mark a job to end once what runs has let go; False when it has ended or goes back already."""
    return sql.row(ASK_CANCEL, {"id": job_id}) is not None


BEGIN_COMPENSATION = """
UPDATE job SET status = 'COMPENSATING'
 WHERE id = %(id)s AND status IN ('RUNNING', 'DEAD') AND NOT cancel_asked
RETURNING id
"""


def begin_compensation(job_id: UUID) -> bool:
    """Have a job undone; False when it has ended, is being cancelled or goes back already."""
    return sql.row(BEGIN_COMPENSATION, {"id": job_id}) is not None


SET_PAUSED = """
UPDATE job SET paused = %(paused)s, held_to = %(nil)s
 WHERE id = %(id)s AND paused <> %(paused)s
   AND status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
RETURNING id
"""


def set_paused(job_id: UUID, *, paused: bool) -> bool:
    """Pause a job or resume it; False when there is nothing to change.

    Nothing of a paused job begins from here on (``gates.IS_PAUSING``). Its tasks follow in portions
    (``job_holds.hold_next``).
    """
    return sql.row(SET_PAUSED, {"id": job_id, "paused": paused, "nil": UUID(int=0)}) is not None
