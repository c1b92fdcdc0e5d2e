"""The values that tasks were given and gave, for finding them again in what handlers say."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from tasks_app.core.new_tasks import MOST_DEPENDENCIES
from tasks_app.store import sql

AT_ONCE: Final = 200
"""Values in memory at a time, of up to 256 KiB each; more where one task has more inputs."""

HOW_MANY = """
SELECT id, 2 + least(dependency_count, %(most)s) FROM task WHERE id = ANY (%(ids)s::uuid[])
"""

# A task has no more inputs than that; the join of a step with more items has no words of its own.
VALUES = """
SELECT t.id, t.kind, t.payload::text, t.result::text
  FROM task t
 WHERE t.id = ANY (%(ids)s::uuid[]) AND t.kind = ANY (%(kinds)s::text[])
UNION ALL
SELECT i.id, n.kind, NULL, n.result
  FROM unnest(%(ids)s::uuid[]) AS i(id)
 CROSS JOIN LATERAL (
    SELECT p.kind, p.result::text AS result
      FROM dependency d JOIN task p ON p.id = d.depends_on_id
     WHERE d.task_id = i.id AND p.kind = ANY (%(kinds)s::text[]) AND p.result IS NOT NULL
     LIMIT %(most)s) n
"""


def values_of(ids: Sequence[UUID], kinds: Sequence[str]) -> Iterator[tuple[UUID, str, Any]]:
    """(task, kind, value) of each payload, result and input that is of one of these kinds."""
    for batch in _batches(ids):
        params = {"ids": sql.uuids(batch), "kinds": sql.texts(kinds), "most": MOST_DEPENDENCIES}
        for task, kind, *texts in sql.rows(VALUES, params):
            for text in texts:
                if text is not None:
                    yield task, kind, sql.loaded(text)


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
