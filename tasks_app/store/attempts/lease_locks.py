"""Locks on tasks in flight whose ends are decided in core and written in the same transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.reads.failures.casualties import CASUALTIES_OF_ATTEMPTS

# Locked here, decided in core, ended in the same transaction.
LOCK_RUNNING = f"""
SELECT t.id, t.token, t.attempts, t.max_attempts, t.kind, k.poison_after, k.limit_name,
       (SELECT {CASUALTIES_OF_ATTEMPTS}
          FROM attempt a
         WHERE a.task_id = t.id AND a.requeues = t.requeues AND a.started_at IS NOT NULL)
  FROM (SELECT * FROM unnest(%(tasks)s::uuid[], %(tokens)s::bigint[]) AS i(task_id, token)
         WHERE token + 0 = token ORDER BY task_id) i
 CROSS JOIN LATERAL (
    SELECT t.* FROM task t
     WHERE t.id = i.task_id AND t.token = i.token
       AND t.status = 'RUNNING' AND t.assigned_to = %(worker)s
       FOR NO KEY UPDATE
 ) t
  JOIN kind k ON k.name = t.kind
"""  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A RUNNING task whose lease is held, locked for the rest of the transaction.

    ``casualties`` are the workers and child processes that died while they ran it before.
    """

    task_id: UUID
    token: int
    attempts: int
    max_attempts: int
    kind: str
    poison_after: int
    limit: str | None
    casualties: int


def lock_running(
    worker_id: UUID, tasks: Sequence[UUID], tokens: Sequence[int]
) -> list[RunningTask]:
    """Lock the worker's RUNNING tasks whose token still holds; the others are lost."""
    found = sql.rows_by_key(
        LOCK_RUNNING, {"worker": worker_id, "tasks": sql.uuids(tasks), "tokens": sql.array(tokens)}
    )
    return [RunningTask(*r) for r in found]


# What a worker holds that it has not begun (all of it when it ends), for a release. A claim that
# commits while this waits for the task has begun it: the task's status says so once it is locked,
# the lease's row in the snapshot does not.
LOCK_HELD = """
SELECT t.id, t.token, t.status = 'RUNNING'
  FROM (SELECT * FROM lease
         WHERE worker_id = ANY (%(workers)s::uuid[]) AND (%(begun)s OR started_at IS NULL)
           AND (%(tokens)s::bigint[] IS NULL OR token = ANY (%(tokens)s::bigint[]))
         ORDER BY task_id) l
 CROSS JOIN LATERAL (
    SELECT t.id, t.token, t.status FROM task t
     WHERE t.id = l.task_id AND t.token = l.token
       AND (t.status = 'ASSIGNED' OR %(begun)s AND t.status = 'RUNNING')
       FOR NO KEY UPDATE
 ) t
"""


def lock_held(
    workers: Sequence[UUID], *, begun: bool, tokens: Sequence[int] | None = None
) -> list[tuple[UUID, int, bool]]:
    """Lock what workers hold and return (task, token, started); ``begun`` adds started ones."""
    found = sql.rows_by_key(
        LOCK_HELD,
        {
            "workers": list(workers),
            "begun": begun,
            "tokens": None if tokens is None else list(tokens),
        },
    )
    return [(r[0], int(r[1]), bool(r[2])) for r in found]
