"""Writes that carry the end of a task over to its dependents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from tasks_app.core.states import EdgeState, OnDead, Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import becoming_ready

NIL: Final = UUID(int=0)
"""Comes before every id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the inbox ``settled``: whose edges are to be judged, and from where on.

    Those of the dependents of ``task_id``, or with ``own`` those to what it depends on itself, as
    it was requeued. ``only`` names a single dependent. Edges up to ``after`` have been judged.
    """

    task_id: UUID
    own: bool = False
    only: UUID | None = None
    after: UUID | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge to judge, with the present status of the task it points to."""

    task_id: UUID
    depends_on: UUID
    on_dead: OnDead
    status: Status
    revived: bool


@dataclass(frozen=True, slots=True)
class Settling:
    """A portion of the inbox: edges whose dependents are locked, and the entries not done yet.

    ``looked_at`` counts edges, those ``passed_over`` because somebody else has the dependent too.
    """

    edges: Sequence[Edge]
    looked_at: int
    passed_over: int
    rest: Sequence[Entry]


# The entries are read in order and their edges one after the other, until there are enough: one
# task may have a million dependents. Closed edges are counted too, for they have to be read. Of two
# equal entries the later one counts. Why uuid_send: see the index dependency_of. A dependent that
# somebody else has locked is passed over, and told apart from one that is no longer PENDING.
TAKE_SETTLED = """
WITH taken AS (
    DELETE FROM settled
     WHERE id = ANY (ARRAY(
           SELECT id FROM settled ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING id, task_id, own, only_id, after_id
), entries AS MATERIALIZED (
    SELECT max(id) AS id, task_id, own, only_id, after_id FROM taken
     GROUP BY task_id, own, only_id, after_id
     ORDER BY 1
), of_jobs AS MATERIALIZED (
    SELECT DISTINCT s.task_id, t.job_id,
           CASE WHEN t.status = 'COMPLETED' THEN 'completed'
                WHEN t.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING') THEN 'open'
                ELSE 'lost' END AS counts_as
      FROM entries s
     CROSS JOIN LATERAL (SELECT job_id, status FROM task WHERE id = s.task_id OFFSET 0) t
     WHERE t.job_id IS NOT NULL
), news AS (
    INSERT INTO job_news (job_id) SELECT DISTINCT job_id FROM of_jobs
), moved AS MATERIALIZED (
    SELECT i.task_id, i.join_id, i.counted_as AS before, o.counts_as AS now
      FROM of_jobs o
     CROSS JOIN LATERAL (
        SELECT task_id, join_id, counted_as FROM step_task
         WHERE task_id = o.task_id AND role = 'item' AND counted_as <> o.counts_as OFFSET 0
     ) i
), counted AS (
    UPDATE step_task i SET counted_as = m.now
      FROM moved m WHERE i.task_id = ANY (ARRAY[m.task_id])
), joins AS (
    UPDATE step_task j
       SET items_completed = j.items_completed + g.completed, items_open = j.items_open + g.open
      FROM (SELECT join_id,
                   sum((now = 'completed')::int - (before = 'completed')::int) AS completed,
                   sum((now = 'open')::int - (before = 'open')::int) AS open
              FROM moved GROUP BY join_id) g
     WHERE j.task_id = ANY (ARRAY[g.join_id])
), edges AS MATERIALIZED (
    SELECT s.id AS entry, d.*
      FROM entries s
     CROSS JOIN LATERAL (
        (SELECT task_id, depends_on_id, on_dead, state FROM dependency
          WHERE NOT s.own AND depends_on_id = s.task_id
            AND uuid_send(task_id) > uuid_send(coalesce(s.after_id, %(nil)s))
            AND (s.only_id IS NULL OR uuid_send(task_id) = uuid_send(s.only_id))
          ORDER BY depends_on_id, uuid_send(task_id)
          LIMIT %(limit)s)
        UNION ALL
        (SELECT task_id, depends_on_id, on_dead, state FROM dependency
          WHERE s.own AND task_id = s.task_id
            AND uuid_send(depends_on_id) > uuid_send(coalesce(s.after_id, %(nil)s))
          ORDER BY uuid_send(depends_on_id)
          LIMIT %(limit)s)
     ) d
     LIMIT %(limit)s
)
SELECT e.entry, e.task_id, e.depends_on_id, e.on_dead, p.status,
       e.state IN ('waiting', 'blocked') AND x.status = 'PENDING', got.id IS NOT NULL,
       NULL::boolean, NULL::uuid, NULL::uuid
  FROM edges e
 CROSS JOIN LATERAL (SELECT status FROM task WHERE id = e.depends_on_id OFFSET 0) p
 CROSS JOIN LATERAL (SELECT status FROM task WHERE id = e.task_id OFFSET 0) x
  LEFT JOIN LATERAL (
    SELECT id FROM task
     WHERE id = e.task_id AND status = 'PENDING' AND e.state IN ('waiting', 'blocked')
       FOR NO KEY UPDATE SKIP LOCKED
 ) got ON true
 UNION ALL
SELECT id, task_id, NULL, NULL, NULL, NULL, NULL, own, only_id, after_id FROM entries
"""


def take_settled(limit: int) -> Settling:
    """Take up to ``limit`` entries of the inbox and edges of theirs; lock the dependents.

    The ``rest``, what was not reached and what somebody else has locked, must be put back. Items
    are counted at their joins, and the jobs of all these tasks go to the inbox of jobs, which has a
    transaction of its own.
    """
    found = sql.rows_by_key(TAKE_SETTLED, {"limit": limit, "nil": NIL})
    entries = {r[0]: Entry(r[1], r[7], r[8], r[9]) for r in found if r[7] is not None}
    rows = [r for r in found if r[7] is None]
    # Of two entries about one edge the later one counts.
    edges = {
        (r[1], r[2]): Edge(r[1], r[2], OnDead(r[3]), Status(r[4]), entries[r[0]].own)
        for r in sorted(rows, key=itemgetter(0))
        if r[6]
    }
    passed = [_later(entries[r[0]], r[1], r[2]) for r in rows if r[5] and not r[6]]
    rest = [*_not_reached(entries, rows, limit), *dict.fromkeys(passed)]
    return Settling(list(edges.values()), len(rows), len(passed), rest)


def _later(entry: Entry, task_id: UUID, depends_on: UUID) -> Entry:
    """The entry for an edge whose dependent is locked by somebody else."""
    return Entry(task_id, own=True) if entry.own else Entry(depends_on, only=task_id)


def _not_reached(
    entries: Mapping[int, Entry], rows: Sequence[tuple[Any, ...]], limit: int
) -> list[Entry]:
    """The entries whose edges were not all read, each from where reading stopped."""
    if len(rows) < limit:
        return []
    cut = rows[-1][0]
    after = max(r[2] if entries[cut].own else r[1] for r in rows if r[0] == cut)
    read = {r[0] for r in rows}
    # The one that was cut goes last: it has had its turn.
    return [each for number, each in entries.items() if number not in read] + [
        replace(entries[cut], after=after)
    ]


PUT_BACK = """
INSERT INTO settled (task_id, own, only_id, after_id)
SELECT * FROM unnest(%(tasks)s::uuid[], %(own)s::boolean[], %(only)s::uuid[], %(after)s::uuid[])
"""


def put_back(entries: Sequence[Entry]) -> None:
    """Leave entries to a later round, behind all others."""
    if entries:
        sql.execute(
            PUT_BACK,
            {
                "tasks": sql.uuids([e.task_id for e in entries]),
                "own": [e.own for e in entries],
                "only": sql.uuids([e.only for e in entries]),
                "after": sql.uuids([e.after for e in entries]),
            },
        )


MOVE_EDGES = f"""
WITH input AS (
    SELECT * FROM unnest(%(tasks)s::uuid[], %(depends_on)s::uuid[], %(states)s::text[])
               AS i(task_id, depends_on_id, state)
), moved AS (
    UPDATE dependency d SET state = i.state
      FROM input i
     WHERE d.task_id = ANY (ARRAY[i.task_id]) AND d.depends_on_id = ANY (ARRAY[i.depends_on_id])
       AND d.state IN ('waiting', 'blocked') AND d.state <> i.state
    RETURNING d.task_id, i.state
)
UPDATE task t
   SET waiting_on = t.waiting_on - m.n,
       {becoming_ready("t.waiting_on - m.n")}
  FROM (SELECT task_id, count(*) AS n FROM moved WHERE state IN ('met', 'void')
         GROUP BY task_id) m
 WHERE t.id = ANY (ARRAY[m.task_id]) AND t.status = 'PENDING'
RETURNING t.id
"""  # noqa: S608  a constant


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
