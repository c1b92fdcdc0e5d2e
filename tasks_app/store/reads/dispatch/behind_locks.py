"""The ready tasks behind those that wait for a lock: one lock must not hide the rest of a kind."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from tasks_app.core.facts import TaskFacts
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.ready_queue import COLUMNS, facts_of


class Place(NamedTuple):
    """A place in the ready queue of a kind."""

    queue_at: datetime
    id: UUID


START: Final = Place(datetime.min.replace(tzinfo=UTC), UUID(int=0))
END: Final = Place(datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))

STRETCH_ENDS: Final = """
SELECT j.kind, e.queue_at, e.id
  FROM unnest(%(kinds)s::text[], %(ats)s::timestamptz[], %(ids)s::uuid[]) AS j(kind, queue_at, id)
 CROSS JOIN LATERAL (
    SELECT queue_at, id FROM task
     WHERE kind = j.kind AND status = 'PENDING' AND waiting_on = 0
       AND (queue_at, id) > (j.queue_at, j.id)
     ORDER BY queue_at, id
    OFFSET %(length)s - 1
     LIMIT 1
 ) e
"""

FREE: Final = f"""
SELECT {COLUMNS}
  FROM unnest(%(kinds)s::text[], %(ats)s::timestamptz[], %(ids)s::uuid[],
              %(end_ats)s::timestamptz[], %(end_ids)s::uuid[])
           AS j(kind, queue_at, id, end_at, end_id)
 CROSS JOIN LATERAL (
    SELECT id, kind, priority, queue_at, estimate_seconds, lock_key, weight, attempts, job_id
      FROM task
     WHERE kind = j.kind AND status = 'PENDING' AND waiting_on = 0
       AND (queue_at, id) > (j.queue_at, j.id) AND (queue_at, id) <= (j.end_at, j.end_id)
       AND run_at <= statement_timestamp()
       AND (deadline_at IS NULL OR deadline_at > statement_timestamp())
       AND (lock_key IS NULL OR lock_key <> ALL (%(taken)s::text[]))
     ORDER BY queue_at, id
     LIMIT %(limit)s
 ) t
"""  # noqa: S608  constants of this module


def stretch_ends(begins: Mapping[str, Place], length: int) -> dict[str, Place]:
    """Where the next ``length`` ready tasks of each kind end; kinds with fewer are left out."""
    found = sql.rows_in_index_order(STRETCH_ENDS, {**_places(begins), "length": length})
    return {kind: Place(queue_at, task_id) for kind, queue_at, task_id in found}


def free_tasks(
    begins: Mapping[str, Place], ends: Mapping[str, Place], taken: Collection[str], limit: int
) -> list[TaskFacts]:
    """The first ``limit`` tasks of each kind between two places whose lock is not ``taken``."""
    places = [ends.get(kind, END) for kind in begins]
    params = {
        **_places(begins),
        "end_ats": sql.instants([place.queue_at for place in places]),
        "end_ids": sql.uuids([place.id for place in places]),
        "taken": sql.texts(sorted(taken)),
        "limit": limit,
    }
    return [facts_of(row) for row in sql.rows_in_index_order(FREE, params)]


def _places(places: Mapping[str, Place]) -> dict[str, str]:
    return {
        "kinds": sql.texts(list(places)),
        "ats": sql.instants([place.queue_at for place in places.values()]),
        "ids": sql.uuids([place.id for place in places.values()]),
    }
