"""Writes that carry the end of a task over to its dependents."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.states import EdgeState, OnDead, Status
from tasks_app.store import sql


@dataclass(frozen=True, slots=True)
class OpenEdge:
    """An edge not decided yet, with the present status of the task it points to."""

    task_id: UUID
    depends_on: UUID
    on_dead: OnDead
    status: Status


# The dependents are locked in the order of their ids before any edge is touched.
TAKE_SETTLED = """
WITH taken AS (
    DELETE FROM settled
     WHERE id = ANY (ARRAY(
           SELECT id FROM settled ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING task_id
), news AS (
    INSERT INTO job_news (job_id)
    SELECT DISTINCT t.job_id
      FROM taken s
     CROSS JOIN LATERAL (SELECT job_id FROM task WHERE id = s.task_id OFFSET 0) t
     WHERE t.job_id IS NOT NULL
)
SELECT d.task_id, d.depends_on_id, d.on_dead, p.status
  FROM (SELECT d.*
          FROM (SELECT DISTINCT task_id FROM taken) s
         CROSS JOIN LATERAL (
            SELECT task_id, depends_on_id, on_dead FROM dependency
             WHERE depends_on_id = s.task_id AND state IN ('waiting', 'blocked')
            OFFSET 0
         ) d
         ORDER BY d.task_id) d
 CROSS JOIN LATERAL (SELECT status FROM task WHERE id = d.depends_on_id OFFSET 0) p
 CROSS JOIN LATERAL (
    SELECT id FROM task WHERE id = d.task_id AND status = 'PENDING' FOR UPDATE
 ) t
"""


def take_settled(limit: int) -> list[OpenEdge]:
    """Empty up to ``limit`` entries of the inbox; lock and return the edges they concern.

    The jobs of these tasks go to the inbox of jobs, which has a transaction of its own.
    """
    found = sql.rows_by_key(TAKE_SETTLED, {"limit": limit})
    return [OpenEdge(r[0], r[1], OnDead(r[2]), Status(r[3])) for r in found]


MOVE_EDGES = """
WITH input AS (
    SELECT * FROM unnest(%(tasks)s::uuid[], %(depends_on)s::uuid[], %(states)s::text[])
               AS i(task_id, depends_on_id, state)
), moved AS (
    UPDATE dependency d SET state = i.state
      FROM input i
     WHERE d.task_id = ANY (ARRAY[i.task_id]) AND d.depends_on_id = ANY (ARRAY[i.depends_on_id])
       AND d.state IN ('waiting', 'blocked')
    RETURNING d.task_id, i.state
)
UPDATE task t SET waiting_on = t.waiting_on - m.n
  FROM (SELECT task_id, count(*) AS n FROM moved WHERE state IN ('met', 'void')
         GROUP BY task_id) m
 WHERE t.id = ANY (ARRAY[m.task_id]) AND t.status = 'PENDING'
RETURNING t.id
"""


def move_edges(edges: Sequence[tuple[UUID, UUID, EdgeState]]) -> int:
    """Set edges (task, depends on, state); return how many tasks wait for less than before."""
    if not edges:
        return 0
    moved = sql.rows_by_key(
        MOVE_EDGES,
        {
            "tasks": [e[0] for e in edges],
            "depends_on": [e[1] for e in edges],
            "states": [e[2] for e in edges],
        },
    )
    return len(moved)
