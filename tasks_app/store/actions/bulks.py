"""Bulks: frozen when they are confirmed, worked through in batches, ended once.

Lock order is bulk, then task. Who ends a bulk waits for the batch that is under way.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from tasks_app.core.actions.bulks import BulkAction, BulkOrder, BulkState
from tasks_app.store import sql
from tasks_app.store.reads.actions.bulk_preview import CHANGED
from tasks_app.store.reads.search.found_sets import FoundSet

LONGEST_WANTED: Final = 1000
"""Characters of a query as a bulk keeps it; the width of the column."""

# The key's unique index lets the second of two clicks wait for the first.
OPEN_BULK = """
INSERT INTO bulk (id, key, action, params, canary, actor, reason, wanted, begins_at, look_at)
VALUES (%(id)s, %(key)s, %(action)s, %(params)s, %(canary)s, %(actor)s, %(reason)s, %(wanted)s,
        statement_timestamp() + %(hold)s * interval '1 second',
        statement_timestamp() + %(hold)s * interval '1 second')
ON CONFLICT (key) DO NOTHING
RETURNING begins_at
"""


def open_bulk(
    bulk_id: UUID, order: BulkOrder, *, actor: str, wanted: str, hold: float
) -> datetime | None:
    """Insert a held bulk, without its items; None when its form was sent before."""
    values = {
        "id": bulk_id,
        "key": order.key,
        "action": order.action,
        "params": sql.jsonb(order.params),
        "canary": order.canary,
        "actor": actor,
        "reason": order.reason,
        "wanted": wanted[:LONGEST_WANTED],
        "hold": hold,
    }
    found = sql.row(OPEN_BULK, values)
    return None if found is None else found[0]


# One statement, whatever the number: beyond the bound it freezes nothing and tells the number.
FREEZE = """
WITH found AS MATERIALIZED (SELECT * FROM ({found}) s LIMIT %(most)s + 1),
counted AS (SELECT count(*) AS n FROM found),
frozen AS (
    INSERT INTO bulk_item (bulk_id, place, task_id, requeues, fingerprint)
    SELECT %(bulk)s, row_number() OVER (ORDER BY nth, id) - 1, id, requeues, fingerprint
      FROM found WHERE (SELECT n FROM counted) <= %(most)s
)
UPDATE bulk SET total = (SELECT n FROM counted) WHERE id = %(bulk)s
RETURNING total,
       (SELECT coalesce(jsonb_object_agg(status, n), '{{}}')::text
          FROM (SELECT status, count(*) AS n FROM found GROUP BY status) g),
""" + CHANGED.format(tasks="found")  # noqa: S608  a constant
OF_IDS = """
SELECT t.id, t.requeues, t.fingerprint, t.status, t.priority, t.deadline_at, i.n AS nth
  FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS i(id, n)
  JOIN task t ON t.id = ANY (ARRAY[i.id])
"""


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a bulk is about: how many tasks, and of what status, priority and deadline."""

    total: int
    statuses: Mapping[str, int]
    priorities: Mapping[str, int]
    deadlines: Mapping[str, int]


def freeze(bulk_id: UUID, ids: Sequence[UUID]) -> Frozen:
    """Fix what a bulk is about: those of the ids that are tasks, in this order."""
    params = {"bulk": bulk_id, "ids": sql.uuids(ids), "most": len(ids)}
    return _frozen(sql.rows_by_key(FREEZE.format(found=OF_IDS), params))


def freeze_found(bulk_id: UUID, found: FoundSet, most: int, seconds: float) -> Frozen:
    """Fix what a bulk is about: all of a set, by their ids; none of them where they are too many.

    Raises TimeoutError where the statement takes longer than ``seconds``, its transaction is over.
    """
    params = {**found.params, "bulk": bulk_id, "most": most}
    sql.execute(f"SET LOCAL statement_timeout = {round(1000 * seconds)}; SET LOCAL jit = off")
    try:
        rows = sql.rows(FREEZE.format(found=found.statement), params)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TimeoutError(f"the search was stopped after {seconds:.0f} s") from error
        raise
    sql.execute("SET LOCAL statement_timeout = DEFAULT; SET LOCAL jit = DEFAULT")
    return _frozen(rows)


def _frozen(rows: Sequence[tuple[Any, ...]]) -> Frozen:
    ((total, *parts),) = rows
    return Frozen(int(total), *map(json.loads, parts))


DISCARD = "DELETE FROM bulk WHERE id = %(bulk)s AND total = 0"


def discard(bulk_id: UUID) -> None:
    """Take back a bulk that is about nothing."""
    sql.execute(DISCARD, {"bulk": bulk_id})


@dataclass(frozen=True, slots=True)
class BulkTurn:
    """A bulk whose turn it is, locked for the rest of the transaction.

    ``sent_for`` is how many seconds none of it is left to send; None while some is.
    """

    id: UUID
    action: BulkAction
    params: Mapping[str, Any]
    canary: bool
    total: int
    place: int
    watched: int
    sent_for: float | None


# One that somebody ends at this moment is passed over.
TAKE_DUE = """
SELECT id, action, params, canary, total, place, watched,
       extract(epoch FROM statement_timestamp() - sent_at)::float8
  FROM bulk
 WHERE state IN ('held', 'running') AND look_at <= statement_timestamp()
 ORDER BY look_at
 LIMIT 1
   FOR NO KEY UPDATE SKIP LOCKED
"""


def take_due() -> BulkTurn | None:
    """Lock the bulk that has waited longest for its turn, if one is due."""
    found = sql.row(TAKE_DUE)
    if found is None:
        return None
    return BulkTurn(found[0], BulkAction(found[1]), sql.loaded(found[2]), *found[3:])


# Locked by id, as everywhere; only the incarnation that was meant is handed on.
LOCK_ITEMS = """
SELECT i.place, t.id, t.requeues = i.requeues, got.id IS NOT NULL, t.dependency_count
  FROM (SELECT * FROM bulk_item
         WHERE bulk_id = %(bulk)s AND place >= %(first)s AND place < %(end)s
         ORDER BY task_id) i
 CROSS JOIN LATERAL (
    SELECT id, requeues, dependency_count FROM task WHERE id = i.task_id OFFSET 0
 ) t
  LEFT JOIN LATERAL (
    SELECT id FROM task WHERE id = i.task_id FOR NO KEY UPDATE SKIP LOCKED
 ) got ON true
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a bulk; ``as_it_was``: still of the incarnation that was meant.

    ``edges``: how many tasks it depends on.
    """

    place: int
    task_id: UUID
    as_it_was: bool
    locked: bool
    edges: int


def lock_items(bulk_id: UUID, first: int, end: int) -> list[Item]:
    """Lock the tasks of the items from ``first`` to before ``end``, but those others have locked.

    What is no longer on record is left out.
    """
    params = {"bulk": bulk_id, "first": first, "end": end}
    return [Item(*row) for row in sql.rows_by_key(LOCK_ITEMS, params)]


TAKE_OUT = """
DELETE FROM bulk_item WHERE bulk_id = %(bulk)s AND place >= %(first)s AND place < %(end)s
RETURNING place, task_id, requeues, fingerprint
"""

PUT_IN = """
INSERT INTO bulk_item (bulk_id, place, task_id, requeues, fingerprint)
SELECT %(bulk)s, i.* FROM unnest(%(places)s::int[], %(tasks)s::uuid[], %(requeues)s::int[],
                                 %(fingerprints)s::text[])
                          AS i(place, task_id, requeues, fingerprint)
"""


def move_behind(bulk_id: UUID, first: int, end: int, busy: Set[int]) -> None:
    """Have the items of these places stand at the end of their batch, the others before them."""
    found = sql.rows(TAKE_OUT, {"bulk": bulk_id, "first": first, "end": end})
    found.sort(key=lambda row: (row[0] in busy, row[0]))
    params = {
        "bulk": bulk_id,
        "places": list(range(first, first + len(found))),
        "tasks": sql.uuids([row[1] for row in found]),
        "requeues": [row[2] for row in found],
        "fingerprints": [row[3] for row in found],
    }
    sql.execute(PUT_IN, params)


# The items of a batch stand side by side, so that no join can be planned the wrong way round: on a
# table never analysed it read all items of the bulk for each of the batch.
ADVANCE = """
WITH dealt AS (
    UPDATE bulk_item b
       SET state = CASE WHEN (%(whys)s::text[])[b.place - %(first)s + 1] IS NULL THEN 'moved'
                        ELSE 'refused' END,
           why = coalesce((%(whys)s::text[])[b.place - %(first)s + 1], '')
     WHERE b.bulk_id = %(bulk)s AND b.place >= %(first)s AND b.place < %(end)s
    RETURNING b.state
)
UPDATE bulk
   SET state = 'running', place = %(end)s, look_at = statement_timestamp(),
       sent_at = CASE WHEN total = %(end)s THEN statement_timestamp() END,
       moved = moved + (SELECT count(*) FROM dealt WHERE state = 'moved')
 WHERE id = %(bulk)s
RETURNING id
"""


def advance(bulk_id: UUID, first: int, outcomes: Sequence[str | None]) -> None:
    """Write what became of a batch from a place on, in its own transaction.

    Of each task in turn: None is moved, else why not.
    """
    params = {
        "bulk": bulk_id,
        "first": first,
        "end": first + len(outcomes),
        "whys": [None if why is None else why[:200] for why in outcomes],
    }
    sql.rows_by_key(ADVANCE, params)


WATCHED = """
UPDATE bulk SET watched = %(end)s, look_at = statement_timestamp() WHERE id = %(bulk)s
"""


def watched_to(bulk_id: UUID, end: int) -> None:
    """Write that everything before a place has ended."""
    sql.execute(WATCHED, {"bulk": bulk_id, "end": end})


LOOK_LATER = """
UPDATE bulk SET look_at = statement_timestamp() + %(seconds)s * interval '1 second'
 WHERE id = %(bulk)s
"""


def look_later(bulk_id: UUID, seconds: float) -> None:
    """Leave a bulk alone for a while."""
    sql.execute(LOOK_LATER, {"bulk": bulk_id, "seconds": seconds})


FINISH = """
UPDATE bulk SET state = %(state)s, finished_at = statement_timestamp(), ended = %(ended)s
 WHERE id = %(bulk)s AND state = ANY (%(from)s)
RETURNING id
"""


def finish(bulk_id: UUID, state: BulkState, ended: str, from_: Sequence[BulkState]) -> bool:
    """End a bulk once, for good; False where it is in none of these states any more."""
    params = {"bulk": bulk_id, "state": state, "ended": ended, "from": list(from_)}
    return sql.row(FINISH, params) is not None
