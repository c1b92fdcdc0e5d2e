"""Locks that wait for nobody: whoever leads passes over what somebody else holds."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.store import sql

LOCK_FREE = """
SELECT t.id
  FROM (SELECT unnest(%(ids)s::uuid[]) AS id ORDER BY 1) i
 CROSS JOIN LATERAL (
    SELECT id FROM task WHERE id = i.id FOR NO KEY UPDATE SKIP LOCKED
 ) t
"""


def lock_free(ids: Sequence[UUID]) -> set[UUID]:
    """Lock those of the tasks that nobody else has locked, and return them."""
    if not ids:
        return set()
    return {found for (found,) in sql.rows_by_key(LOCK_FREE, {"ids": sql.uuids(ids)})}
