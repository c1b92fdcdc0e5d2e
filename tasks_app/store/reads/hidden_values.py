"""The values that tasks were given and gave, for finding them again in what is said about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.core.intake.new_tasks import MOST_DEPENDENCIES
from tasks_app.core.masking.hidden_words import Source
from tasks_app.core.masking.origins import load_origins
from tasks_app.store import sql

AT_ONCE: Final = 200
"""Values in memory at a time; more where one task has more inputs."""

MOST_NEAR: Final = 5_000
"""Tasks, of all that a batch of tasks got values from, that are looked at."""

MOST_STORED: Final = 512 * 1024
"""Bytes on disk of the values that one batch reads; a value takes up to 80 times as many as
text."""

MOST_READ: Final = 2_000_000
"""Characters of the values that are read for one page."""

# The small ones first: one of them must not be hidden because another is large.
HOW_MANY = """
SELECT id, 2 + least(dependency_count, %(most)s)
  FROM task WHERE id = ANY (%(ids)s::uuid[])
 ORDER BY pg_column_size(payload) + coalesce(pg_column_size(result), 0), id
"""

# All that a task can have got a value from: what it depends on however far back, the items of a
# join, and what a compensation undoes. A recursion stops where its LIMIT is reached. Of those that
# hold nothing hidden themselves, only the tasks asked about are told, without their values.
VALUES = """
WITH RECURSIVE near AS (
    SELECT i.id, i.id AS source FROM unnest(%(ids)s::uuid[]) AS i(id)
    UNION
    SELECT n.id, f.source
      FROM near n
     CROSS JOIN LATERAL (
        SELECT d.depends_on_id AS source FROM dependency d WHERE d.task_id = n.source
        UNION ALL
        SELECT s.undoes_id FROM step_task s
         WHERE s.task_id = n.source AND s.undoes_id IS NOT NULL
        UNION ALL
        (SELECT t.id
           FROM step_task j
           JOIN task o ON o.id = j.task_id
           JOIN task t ON t.job_id = o.job_id
           JOIN step_task s ON s.task_id = t.id AND s.role = 'item' AND s.place = j.place
          WHERE j.task_id = n.source AND j.role = 'join'
          LIMIT %(near)s)
     ) f
), found AS MATERIALIZED (
    SELECT * FROM near LIMIT %(near)s
), tellers AS (
    SELECT source, array_agg(id) AS ids FROM found GROUP BY source
), hiding AS (
    SELECT w.ids, w.source, p.kind, p.origins, p.payload, p.result,
           p.kind = ANY (%(kinds)s::text[])
               OR EXISTS (SELECT FROM jsonb_array_elements(p.origins) o
                           WHERE (o ->> 1 IS NULL OR o ->> 1 = ANY (%(kinds)s::text[]))
                             AND o -> 0 ->> 0 <> 'told') AS holds,
           pg_column_size(p.payload) + coalesce(pg_column_size(p.result), 0) AS size
      FROM tellers w JOIN task p ON p.id = w.source
     WHERE p.kind = ANY (%(kinds)s::text[]) OR p.origins IS NOT NULL
), telling AS (
    SELECT *, sum(CASE WHEN holds THEN size ELSE 0 END) OVER (ORDER BY size, source) AS upto
      FROM hiding
     WHERE holds OR source = ANY (ids)
), texts AS MATERIALIZED (
    SELECT ids, source, kind, origins::text AS origins, holds, size,
           CASE WHEN holds AND upto <= %(stored)s THEN payload::text END AS payload,
           CASE WHEN holds AND upto <= %(stored)s THEN result::text END AS result
      FROM telling
), bounded AS (
    SELECT *, NOT holds
              OR payload IS NOT NULL
              AND sum(length(payload) + coalesce(length(result), 0)) OVER (ORDER BY size, source)
                  <= %(read)s AS fits
      FROM texts
)
SELECT ids, source, kind, origins, CASE WHEN fits THEN payload END,
       CASE WHEN fits THEN result END, fits
  FROM bounded
UNION ALL
SELECT %(ids)s::uuid[], NULL, '', NULL, NULL, NULL, false
 WHERE (SELECT count(*) FROM found) >= %(near)s
"""


@dataclass(frozen=True, slots=True)
class Telling:
    """A task, ``id``, whose values may stand in what is said about ``tasks``: itself among them.

    Without ``fits`` there is more than is read, and payload and result are left out; an ``id`` of
    None stands for tasks that nobody has counted.
    """

    tasks: Sequence[UUID]
    id: UUID | None
    source: Source
    payload: Any
    result: Any
    fits: bool


def values_of(ids: Sequence[UUID], kinds: Sequence[str]) -> Iterator[Telling]:
    """What tasks have from ``kinds``, at most ``MOST_READ`` characters of it, the short first."""
    left = MOST_READ
    for batch in _batches(ids):
        params = {
            "ids": sql.uuids(batch),
            "kinds": sql.texts(kinds),
            "near": MOST_NEAR,
            "stored": MOST_STORED,
            "read": left,
        }
        for tasks, found, kind, origins, payload, result, fits in sql.rows(VALUES, params):
            left -= len(payload or "") + len(result or "")
            source = Source(kind, load_origins(sql.loaded(origins)))
            yield Telling(tasks, found, source, sql.loaded(payload), sql.loaded(result), fits)


def _batches(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    """Tasks whose values may be in memory together."""
    batch: list[UUID] = []
    held = 0
    for task, values in sql.rows(HOW_MANY, {"ids": sql.uuids(ids), "most": MOST_DEPENDENCIES}):
        if batch and held + values > AT_ONCE:
            yield batch
            batch, held = [], 0
        batch.append(task)
        held += values
    if batch:
        yield batch
