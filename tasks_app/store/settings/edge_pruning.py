"""The edges of tasks that are to be pruned: a task may have a million dependents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tasks_app.core.states import FINAL, Status
from tasks_app.store import sql

# Read one task after the other until there are enough.
EDGES: Final = """
SELECT i.n, d.task_id, u.status
  FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS i(id, n)
 CROSS JOIN LATERAL (
    SELECT task_id FROM dependency WHERE depends_on_id = i.id
     ORDER BY depends_on_id, uuid_send(task_id)
     LIMIT %(limit)s
 ) d
 CROSS JOIN LATERAL (SELECT status FROM task WHERE id = d.task_id OFFSET 0) u
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Portion:
    """How many tasks from the first on have so few dependents that they can go together.

    Where even the first has too many, ``dependents`` are some of its, and ``is_needed`` if one of
    these has not ended.
    """

    whole: int
    dependents: Sequence[UUID] = ()
    is_needed: bool = False


def portion_of(ids: Sequence[UUID], limit: int) -> Portion:
    """How far up to ``limit`` edges reach."""
    rows = sql.rows_by_key(EDGES, {"ids": sql.uuids(ids), "limit": limit})
    if len(rows) < limit:
        return Portion(len(ids))
    whole = int(rows[-1][0]) - 1
    if whole:
        return Portion(whole)
    needed = any(Status(status) not in FINAL for _, _, status in rows)
    return Portion(0, [task_id for _, task_id, _ in rows], needed)


# The edges of a task whose values are hidden stay until its dependents go: they say in whose words
# these values are to be masked.
CUT: Final = """
DELETE FROM dependency d
 USING task t JOIN kind k ON k.name = t.kind
 WHERE d.depends_on_id = %(id)s AND d.task_id = ANY (%(dependents)s::uuid[])
   AND t.id = d.depends_on_id AND k.redacted_keys = '[]'
"""


def cut_edges(task_id: UUID, dependents: Sequence[UUID]) -> int:
    """Delete edges to a locked task that is to be pruned, of dependents that ended; how many."""
    return sql.execute(CUT, {"id": task_id, "dependents": sql.uuids(dependents)})
