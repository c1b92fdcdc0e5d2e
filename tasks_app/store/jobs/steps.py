"""The tasks of jobs: what each is in its job, its preparation, and the end of joins.

Called with the job locked, so that the plan's tasks cannot be made twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.core.jobs.job_states import Role
from tasks_app.core.masking.origins import Origin, load_origins
from tasks_app.core.sanitise import MAX_BYTES
from tasks_app.core.states import Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import becoming_ready


@dataclass(frozen=True, slots=True)
class StepRow:
    """What a task that was just inserted is in its job."""

    task_id: UUID
    place: int
    role: Role
    job_id: UUID
    item: int | None = None
    undoes: UUID | None = None
    join_id: UUID | None = None


INSERT_STEPS = """
WITH inserted AS (
    INSERT INTO step_task (task_id, place, role, job_id, item, undoes_id, join_id, counted_as)
    SELECT i.*, CASE i.role WHEN 'item' THEN 'open' END
      FROM unnest(%(tasks)s::uuid[], %(places)s::int[], %(roles)s::text[], %(jobs)s::uuid[],
                  %(items)s::int[], %(undoes)s::uuid[], %(joins)s::uuid[])
               AS i(task_id, place, role, job_id, item, undoes_id, join_id)
    RETURNING join_id
)
UPDATE step_task j SET items = j.items + n.items, items_open = j.items_open + n.items
  FROM (SELECT join_id, count(*) AS items FROM inserted GROUP BY join_id) n
 WHERE j.task_id = n.join_id
"""


def insert_steps(steps: Sequence[StepRow]) -> None:
    """Say of tasks inserted in the same transaction what they are in their job; count items."""
    if steps:
        sql.execute(
            INSERT_STEPS,
            {
                "tasks": [s.task_id for s in steps],
                "places": [s.place for s in steps],
                "roles": [s.role for s in steps],
                "items": [s.item for s in steps],
                "undoes": [s.undoes for s in steps],
                "jobs": [s.job_id for s in steps],
                "joins": [s.join_id for s in steps],
            },
        )


# Each item gets the inputs of its step; they are met, or the step would not have been prepared.
COPY_EDGES = """
INSERT INTO dependency (task_id, depends_on_id, name, on_dead, state)
SELECT i.item, d.depends_on_id, d.name, d.on_dead, d.state
  FROM unnest(%(items)s::uuid[], %(joins)s::uuid[]) AS i(item, the_join)
  JOIN dependency d ON d.task_id = i.the_join
"""


def copy_edges(items: Sequence[tuple[UUID, UUID]]) -> None:
    """Give items (task, join) the edges of their join."""
    if items:
        sql.execute(COPY_EDGES, {"items": [i[0] for i in items], "joins": [i[1] for i in items]})


# What 10,000 items have to say may come to gigabytes. So much is read as may be stored, and more:
# the sizes on disk bound what is looked at, for a result is compressed; its text bounds what comes.
ITEMS_OF_JOIN = """
WITH items AS (
    SELECT t.id, t.status, s.item, t.result,
           sum(pg_column_size(t.result)) OVER (ORDER BY s.item) - pg_column_size(t.result) AS before
      FROM step_task s JOIN task t ON t.id = s.task_id
     WHERE s.join_id = %(join)s AND s.role = 'item'
), texts AS MATERIALIZED (
    SELECT item, result::text AS text FROM items WHERE before < %(stored)s
), bounded AS (
    SELECT item, text, sum(length(text)) OVER (ORDER BY item) - length(text) AS before FROM texts
)
SELECT i.id, i.status, b.text::jsonb
  FROM items i LEFT JOIN bounded b ON b.item = i.item AND b.before < %(read)s
 ORDER BY i.item
"""

MOST_READ: Final = 8 * MAX_BYTES
"""Characters of results that are read for a join, whose own holds ``MAX_BYTES``: of a value that
must be cut, a text keeps a fourth."""

MOST_LOOKED_AT: Final = 8 * MOST_READ
"""The same as stored; a number of one digit takes 8 times as much there."""


def items_of_join(join: UUID) -> list[tuple[UUID, Status, Any]]:
    """The items of a join in their order: id, status, and result where COMPLETED.

    Past ``MOST_READ`` characters the results are None: they would be cut from the join's own.
    """
    found = sql.rows(ITEMS_OF_JOIN, {"join": join, "stored": MOST_LOOKED_AT, "read": MOST_READ})
    return [(r[0], Status(r[1]), sql.loaded(r[2])) for r in found]


RESULTS = "SELECT id, payload, result FROM task WHERE id = ANY (%(ids)s::uuid[])"


def payloads_and_results(ids: Sequence[UUID]) -> dict[UUID, tuple[Any, Any]]:
    """Payload and result of each of these tasks."""
    if not ids:
        return {}
    found = sql.rows(RESULTS, {"ids": list(ids)})
    return {r[0]: (sql.loaded(r[1]), sql.loaded(r[2])) for r in found}


ORIGINS = "SELECT id, origins FROM task WHERE id = ANY (%(ids)s::uuid[])"


def origins_of(ids: Sequence[UUID]) -> dict[UUID, list[Origin]]:
    """Where each of these tasks got parts of its values from."""
    return {r[0]: load_origins(sql.loaded(r[1])) for r in sql.rows(ORIGINS, {"ids": list(ids)})}


# waiting_on = 1: all that is left to wait for is the preparation itself.
LOCK_UNPREPARED = """
SELECT t.job_id, t.id, got.id IS NOT NULL
  FROM unnest(%(jobs)s::uuid[]) AS j(id)
 CROSS JOIN LATERAL (
    SELECT task_id FROM step_task WHERE job_id = j.id AND role IN ('step', 'join') OFFSET 0
 ) s
 CROSS JOIN LATERAL (
    SELECT id, job_id FROM task
     WHERE id = s.task_id AND unprepared AND status = 'PENDING' AND waiting_on = 1
    OFFSET 0
 ) t
  LEFT JOIN LATERAL (
    SELECT id FROM task WHERE id = t.id AND unprepared AND status = 'PENDING' AND waiting_on = 1
       FOR NO KEY UPDATE SKIP LOCKED
 ) got ON true
 LIMIT %(limit)s
"""


def lock_unprepared(jobs: Sequence[UUID], limit: int) -> tuple[set[UUID], set[UUID]]:
    """Lock up to ``limit`` steps whose dependencies are met and that must be prepared.

    Returns them, and the jobs that have more of them, or one that somebody else has locked.
    """
    found = sql.rows_by_key(LOCK_UNPREPARED, {"jobs": sql.uuids(jobs), "limit": limit})
    more = {r[0] for r in found if not r[2]}
    if len(found) == limit:
        more |= set(jobs)
    return {r[1] for r in found if r[2]}, more


RELEASE = f"""
UPDATE task t
   SET payload = i.payload, lock_key = i.lock_key,
       unprepared = false, holds = t.holds - 1, waiting_on = t.waiting_on - 1,
       {becoming_ready("t.waiting_on - 1")}
  FROM ROWS FROM (unnest(%(ids)s::uuid[], %(locks)s::text[]),
                  jsonb_array_elements(%(payloads)s::jsonb))
           AS i(id, lock_key, payload)
 WHERE t.id = ANY (ARRAY[i.id]) AND t.unprepared AND t.status = 'PENDING'
RETURNING t.id
"""  # noqa: S608  a constant


def release(prepared: Sequence[tuple[UUID, str, str | None]]) -> None:
    """Let prepared steps be handed out: (task, payload as JSON text, lock key)."""
    if prepared:
        sql.rows_by_key(
            RELEASE,
            {
                "ids": [p[0] for p in prepared],
                "payloads": f"[{','.join(p[1] for p in prepared)}]",
                "locks": sql.texts([p[2] for p in prepared]),
            },
        )


ADD_ORIGINS = """
UPDATE task t SET origins = coalesce(t.origins, '[]') || i.origins::jsonb
  FROM unnest(%(ids)s::uuid[], %(origins)s::text[]) AS i(id, origins)
 WHERE t.id = ANY (ARRAY[i.id]) AND t.unprepared
"""


def add_origins(origins: Mapping[UUID, str]) -> None:
    """Say where what is said about steps that cannot be prepared may come from (JSON texts)."""
    if origins:
        values = {"ids": list(origins), "origins": sql.texts(list(origins.values()))}
        sql.execute(ADD_ORIGINS, values)


# The hold stays: it is what a join waits for until its items decide it.
EXPANDED = """
UPDATE task SET unprepared = false
 WHERE id = ANY (%(ids)s::uuid[]) AND unprepared AND status = 'PENDING'
"""


def mark_expanded(joins: Sequence[UUID]) -> None:
    """The items of these joins exist now."""
    if joins:
        sql.execute(EXPANDED, {"ids": list(joins)})


COMPLETE_JOINS = """
WITH input AS (
    SELECT * FROM ROWS FROM (unnest(%(ids)s::uuid[]), jsonb_array_elements(%(results)s::jsonb))
               AS i(id, result)
), locked AS (
    SELECT t.id, i.result
      FROM input i JOIN task t ON t.id = ANY (ARRAY[i.id])
      JOIN step_task s ON s.task_id = ANY (ARRAY[i.id]) AND s.role = 'join'
     WHERE t.status = 'PENDING' AND NOT t.unprepared
     ORDER BY i.id
       FOR NO KEY UPDATE OF t SKIP LOCKED
), done AS (
    UPDATE task t
       SET status = 'COMPLETED', result = l.result, error = NULL,
           finished_at = statement_timestamp()
      FROM locked l
     WHERE t.id = ANY (ARRAY[l.id])
    RETURNING t.id, t.kind
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT d.kind, s.status, s.sign * d.n
      FROM (SELECT kind, count(*) AS n FROM done GROUP BY kind) d
     CROSS JOIN (VALUES ('PENDING', -1), ('COMPLETED', 1)) AS s(status, sign)
), announced AS (
    INSERT INTO settled (task_id) SELECT id FROM done
)
SELECT id FROM done
"""


def complete_joins(results: Mapping[UUID, str]) -> set[UUID]:
    """Complete joins whose items decided them, but those that somebody else has locked.

    ``results`` are JSON texts.
    """
    if not results:
        return set()
    values = {"ids": list(results), "results": f"[{','.join(results.values())}]"}
    return {task_id for (task_id,) in sql.rows_by_key(COMPLETE_JOINS, values)}
