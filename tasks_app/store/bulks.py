"""Bulks: frozen when they are confirmed, worked through in batches, ended once.

Lock order is bulk, then task. Who ends a bulk waits for the batch that is under way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from tasks_app.core.bulks import BulkAction, BulkOrder, BulkState
from tasks_app.store import sql

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
        "wanted": wanted[:1000],
        "hold": hold,
    }
    found = sql.row(OPEN_BULK, values)
    return None if found is None else found[0]


FREEZE = """
WITH frozen AS (
    INSERT INTO bulk_item (bulk_id, place, task_id, requeues, fingerprint)
    SELECT %(bulk)s, row_number() OVER (ORDER BY i.n) - 1, t.id, t.requeues, t.fingerprint
      FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS i(id, n)
      JOIN task t ON t.id = i.id
    RETURNING place
)
UPDATE bulk SET total = (SELECT count(*) FROM frozen) WHERE id = %(bulk)s RETURNING total
"""


def freeze(bulk_id: UUID, ids: Sequence[UUID]) -> int:
    """Fix what a bulk is about, in this order; return how many of the ids are tasks."""
    (row,) = sql.rows_by_key(FREEZE, {"bulk": bulk_id, "ids": sql.uuids(ids)})
    return int(row[0])


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
   FOR UPDATE SKIP LOCKED
"""


def take_due() -> BulkTurn | None:
    """Lock the bulk that has waited longest for its turn, if one is due."""
    found = sql.row(TAKE_DUE)
    if found is None:
        return None
    return BulkTurn(found[0], BulkAction(found[1]), sql.loaded(found[2]), *found[3:])


# Locked by id, as everywhere; only the incarnation that was meant is handed on.
LOCK_ITEMS = """
SELECT i.place, t.id, t.requeues = i.requeues
  FROM bulk_item i JOIN task t ON t.id = i.task_id
 WHERE i.bulk_id = %(bulk)s AND i.place >= %(first)s AND i.place < %(end)s
 ORDER BY t.id
   FOR UPDATE OF t
"""


def lock_items(bulk_id: UUID, first: int, end: int) -> list[tuple[int, UUID, bool]]:
    """Lock the tasks of the items from ``first`` to before ``end``: (place, task, as it was)."""
    params = {"bulk": bulk_id, "first": first, "end": end}
    return [(int(r[0]), r[1], bool(r[2])) for r in sql.rows_by_key(LOCK_ITEMS, params)]


ADVANCE = """
WITH dealt AS (
    UPDATE bulk_item b
       SET state = CASE WHEN i.why IS NULL THEN 'moved' ELSE 'refused' END,
           why = coalesce(i.why, '')
      FROM unnest(%(places)s::int[], %(whys)s::text[]) AS i(place, why)
     WHERE b.bulk_id = %(bulk)s AND b.place = i.place
    RETURNING b.state
)
UPDATE bulk
   SET state = 'running', place = %(end)s, look_at = statement_timestamp(),
       sent_at = CASE WHEN total = %(end)s THEN statement_timestamp() END,
       moved = moved + (SELECT count(*) FROM dealt WHERE state = 'moved')
 WHERE id = %(bulk)s
RETURNING id
"""


def advance(bulk_id: UUID, end: int, outcomes: Mapping[int, str | None]) -> None:
    """Write what became of a batch, in its own transaction: None is moved, else why not."""
    sql.rows_by_key(
        ADVANCE,
        {
            "bulk": bulk_id,
            "end": end,
            "places": list(outcomes),
            "whys": [None if why is None else why[:200] for why in outcomes.values()],
        },
    )


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
