"""The beginning of the ready queue of each kind."""

from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.facts import TaskFacts
from tasks_app.store import sql

COLUMNS: Final = """t.id, t.kind, t.priority, extract(epoch FROM t.queue_at)::float8,
       t.estimate_seconds, t.lock_key, t.weight,
       CASE WHEN t.attempts > 0 THEN
           (SELECT array_agg(DISTINCT a.worker_id) FROM attempt a
             WHERE a.task_id = t.id AND a.outcome IN ('error', 'timeout', 'crashed'))
       END, t.job_id"""
"""What a decision sees of a ready task ``t``."""

# One range scan of the ready queue a kind. Tasks whose run_at lies ahead are filtered out here:
# their queue_at may be early when their priority is high. So are those past their deadline, which
# the sweep ends: it moves a bounded number at a time, and none of the others may begin meanwhile.
READY: Final = f"""
SELECT {COLUMNS}
  FROM kind k
 CROSS JOIN LATERAL (
    SELECT id, kind, priority, queue_at, estimate_seconds, lock_key, weight, attempts, job_id
      FROM task
     WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
       AND run_at <= statement_timestamp()
       AND (deadline_at IS NULL OR deadline_at > statement_timestamp())
     ORDER BY queue_at, id
     LIMIT %(limit)s
 ) t
 WHERE NOT k.paused AND NOT k.by_people AND k.name = ANY (%(kinds)s)
"""  # noqa: S608  constants of this module


def ready_tasks(kinds: Sequence[str], limit: int) -> list[TaskFacts]:
    """The first ``limit`` ready tasks of each of these kinds."""
    if not kinds:
        return []
    found = sql.rows_in_index_order(READY, {"kinds": list(kinds), "limit": limit})
    return [facts_of(row) for row in found]


def facts_of(row: Sequence[Any]) -> TaskFacts:
    """A row of ``COLUMNS`` as facts."""
    return TaskFacts(
        id=row[0],
        kind=row[1],
        priority=row[2],
        queue_at=row[3],
        estimate=row[4],
        lock_key=row[5],
        weight=row[6],
        failed_on=frozenset(row[7] or ()),
        job=row[8],
    )
