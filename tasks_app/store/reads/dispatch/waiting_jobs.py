"""The jobs behind the beginning of the ready queue: a large one must not hide a small one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from tasks_app.core.dispatch.fairness import MOST_JOBS, kinds_that_share, lacking, share_of
from tasks_app.core.facts import TaskFacts, Turn
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.ready_queue import COLUMNS, facts_of

NO_JOB: Final = UUID(int=0)
"""Stands for the tasks without a job, which count as one job more."""

# Which jobs of a kind have ready tasks, from the one after that which was served last, round to
# the first again: one descent into the index for each of them, however many tasks they have. Pairs
# are compared, because an equality would let the planner walk the queue of the whole kind instead.
JOBS_IN_TURN: Final = """
WITH RECURSIVE start AS (
    SELECT k.kind, coalesce(
               (SELECT j.job_id FROM job_turn j
                 WHERE j.kind_id = k.kind AND j.job_id <> %(nil)s
                 ORDER BY j.at DESC LIMIT 1), %(nil)s) AS job_id
      FROM unnest(%(kinds)s::text[]) AS k(kind)
), ring AS (
    SELECT kind, job_id, 0 AS lap, 0 AS n FROM start
    UNION ALL
    SELECT r.kind, coalesce(next.job_id, %(nil)s), r.lap + (next.job_id IS NULL)::int, r.n + 1
      FROM ring r
      LEFT JOIN LATERAL (
        SELECT t.kind, t.job_id FROM task t
         WHERE (t.kind, t.job_id) > (r.kind, r.job_id) AND t.job_id IS NOT NULL
           AND t.status = 'PENDING' AND t.waiting_on = 0
         ORDER BY t.kind, t.job_id
         LIMIT 1
      ) found ON true
      LEFT JOIN LATERAL (SELECT found.job_id WHERE found.kind = r.kind) next ON true
     WHERE r.n <= %(most)s AND r.lap < 2
)
SELECT DISTINCT r.kind, r.job_id
  FROM ring r JOIN start s ON s.kind = r.kind
 WHERE r.n > 0 AND r.job_id <> %(nil)s AND (r.lap = 0 OR r.job_id <= s.job_id)
"""

HEADS: Final = f"""
SELECT {COLUMNS}
  FROM unnest(%(kinds)s::text[], %(jobs)s::uuid[]) AS j(kind, job_id)
 CROSS JOIN LATERAL (
    SELECT * FROM task
     WHERE (kind, job_id) >= (j.kind, j.job_id) AND (kind, job_id) <= (j.kind, j.job_id)
       AND job_id IS NOT NULL AND status = 'PENDING' AND waiting_on = 0
       AND run_at <= statement_timestamp()
       AND (deadline_at IS NULL OR deadline_at > statement_timestamp())
     ORDER BY kind, job_id, queue_at, id
     LIMIT %(limit)s
 ) t
"""  # noqa: S608  constants of this module

TURNS: Final = """
SELECT i.kind, i.priority, i.job,
       extract(epoch FROM j.at)::float8 - i.priority * s.priority_head_start_seconds
  FROM unnest(%(kinds)s::text[], %(priorities)s::int[], %(jobs)s::uuid[])
           AS i(kind, priority, job)
  JOIN job_turn j ON j.kind_id = i.kind AND j.priority = i.priority AND j.job_id = i.job
 CROSS JOIN supervisor_settings s
"""


def other_jobs(ready: Sequence[TaskFacts], looked_at: Mapping[str, int]) -> list[TaskFacts]:
    """The first tasks of jobs that the beginning of the queue may hide.

    ``looked_at`` says how many tasks of each kind were asked for: where fewer came, that was all.
    """
    found = Counter(task.kind for task in ready)
    full = [kind for kind, limit in looked_at.items() if found[kind] >= limit]
    if not full:
        return []
    jobs = sql.rows_in_index_order(JOBS_IN_TURN, {"nil": NO_JOB, "kinds": full, "most": MOST_JOBS})
    more: list[TaskFacts] = []
    known = {task.id for task in ready}
    for kind in full:
        of_kind = [(each, job) for each, job in jobs if each == kind]
        share = share_of(looked_at[kind], len(of_kind) + 1)
        more += _heads(lacking(ready, of_kind, share), share)
    return [task for task in more if task.id not in known]


def _heads(jobs: Sequence[tuple[str, UUID]], share: int) -> list[TaskFacts]:
    if not jobs:
        return []
    found = sql.rows_in_index_order(
        HEADS, {"kinds": [j[0] for j in jobs], "jobs": [j[1] for j in jobs], "limit": share}
    )
    return [facts_of(row) for row in found]


def turns_of(ready: Sequence[TaskFacts]) -> dict[Turn, float]:
    """When each of the jobs that share a kind was last handed something, as ``queue_at``."""
    shared = kinds_that_share(ready)
    if not shared:
        return {}
    turns = sorted(
        {task.turn for task in ready if task.kind in shared},
        key=lambda turn: (turn.kind, turn.priority, turn.job or NO_JOB),
    )
    found = sql.rows(
        TURNS,
        {
            "kinds": sql.texts([turn.kind for turn in turns]),
            "priorities": sql.array([turn.priority for turn in turns]),
            "jobs": sql.uuids([turn.job or NO_JOB for turn in turns]),
        },
    )
    return {Turn(r[0], r[1], None if r[2] == NO_JOB else r[2]): float(r[3]) for r in found}
