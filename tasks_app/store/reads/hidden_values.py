"""The values that tasks were given and gave, for finding them again in what handlers say."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql

MOST_INPUTS: Final = 1000
"""Of all the tasks asked for; a join of more items has them in none of its words."""

VALUES = """
SELECT t.id, t.kind, t.payload::text, t.result::text
  FROM task t
 WHERE t.id = ANY (%(ids)s::uuid[]) AND t.kind = ANY (%(kinds)s::text[])
UNION ALL
(SELECT d.task_id, p.kind, NULL, p.result::text
   FROM dependency d JOIN task p ON p.id = d.depends_on_id
  WHERE d.task_id = ANY (%(ids)s::uuid[]) AND p.kind = ANY (%(kinds)s::text[])
    AND p.result IS NOT NULL
  LIMIT %(most)s)
"""


def values_of(ids: Sequence[UUID], kinds: Sequence[str]) -> Iterator[tuple[UUID, str, Any]]:
    """(task, kind, value) of each payload, result and input that is of one of these kinds."""
    params = {"ids": sql.uuids(ids), "kinds": sql.texts(kinds), "most": MOST_INPUTS}
    for task, kind, *texts in sql.rows(VALUES, params):
        for text in texts:
            if text is not None:
                yield task, kind, sql.loaded(text)
