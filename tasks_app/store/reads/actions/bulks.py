"""Bulks as people watch them, and what the runner must know of the tasks it sent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.actions.bulks import (
    OPEN,
    WAVES,
    BulkState,
    ItemState,
    Sent,
    Wave,
    wave_end,
    wave_of,
)
from tasks_app.core.states import Status
from tasks_app.store import sql
from tasks_app.store.reads.hidden_words import fingerprints_of

PAGE: Final = 50
LIST: Final = 50
REFUSED: Final = 50_000
"""Refused tasks of a bulk whose reasons are counted."""

COLUMNS: Final = """
b.id, b.action, b.params, b.canary, b.state, b.actor, b.reason, b.wanted, b.created_at,
b.begins_at, b.finished_at, b.total, b.place, b.moved, b.ended,
extract(epoch FROM b.begins_at - statement_timestamp())::float8
"""


@dataclass(frozen=True, slots=True)
class BulkRow:
    """One bulk; ``begins_in`` seconds it is held still (below 0: it may begin)."""

    id: UUID
    action: str
    params: Mapping[str, Any]
    canary: bool
    state: str
    actor: str
    reason: str
    wanted: str
    created_at: datetime
    begins_at: datetime
    finished_at: datetime | None
    total: int
    place: int
    moved: int
    ended: str
    begins_in: float

    @property
    def is_open(self) -> bool:
        """Whether anything may happen still."""
        return self.state in OPEN

    @property
    def is_held(self) -> bool:
        """Whether it can be undone: nothing was touched yet."""
        return self.state == BulkState.HELD

    @property
    def refused(self) -> int:
        """Tasks that it could not touch."""
        return self.place - self.moved

    @property
    def left(self) -> int:
        """Tasks that it has not come to, or never did."""
        return self.total - self.place

    @property
    def percent(self) -> int:
        """Of a hundred, how much is dealt with."""
        return 100 * self.place // self.total if self.total else 100


def _bulk(row: tuple[Any, ...]) -> BulkRow:
    return BulkRow(*[*row[:2], sql.loaded(row[2]), *row[3:]])


FIND = "SELECT" + COLUMNS + "FROM bulk b WHERE b.id = %(bulk)s"
OF_KEY = "SELECT" + COLUMNS + "FROM bulk b WHERE b.key = %(key)s"


def find_bulk(bulk_id: UUID) -> BulkRow | None:
    """One bulk, or None."""
    found = sql.row(FIND, {"bulk": bulk_id})
    return None if found is None else _bulk(found)


def bulk_of_key(key: str) -> BulkRow | None:
    """The bulk that a form has begun, or None."""
    found = sql.row(OF_KEY, {"key": key})
    return None if found is None else _bulk(found)


BULKS = (
    "SELECT"
    + COLUMNS
    + """
  FROM bulk b
 WHERE %(before)s::uuid IS NULL OR b.id < %(before)s
 ORDER BY b.id DESC
 LIMIT %(limit)s
"""
)


def list_bulks(before: UUID | None = None) -> tuple[list[BulkRow], UUID | None]:
    """Bulks, the latest first, and the cursor of the page after."""
    found = [_bulk(row) for row in sql.rows(BULKS, {"before": before, "limit": LIST + 1})]
    return found[:LIST], found[LIST - 1].id if len(found) > LIST else None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One task of a bulk, and what it is now."""

    place: int
    task_id: UUID
    state: str
    why: str
    kind: str | None
    key: str | None
    status: str | None


ITEMS = """
SELECT i.place, i.task_id, i.state, i.why, t.kind, t.key, t.status
  FROM (SELECT * FROM bulk_item
         WHERE bulk_id = %(bulk)s AND place > %(after)s AND {condition}
         ORDER BY place LIMIT %(limit)s) i
  LEFT JOIN task t ON t.id = i.task_id
 ORDER BY i.place
"""


def list_items(
    bulk_id: UUID, after: int = -1, *, refused: bool = False, most: int = PAGE
) -> tuple[list[ItemRow], int | None]:
    """A page of a bulk's tasks behind a place, or of those refused, and the next page's cursor."""
    condition = f"state = '{ItemState.REFUSED}'" if refused else "true"
    params = {"bulk": bulk_id, "after": after, "limit": most + 1}
    found = [ItemRow(*row) for row in sql.rows(ITEMS.format(condition=condition), params)]
    return found[:most], found[most - 1].place if len(found) > most else None


REFUSALS = """
SELECT why, count(*)
  FROM (SELECT why FROM bulk_item WHERE bulk_id = %(bulk)s AND state = 'refused'
         ORDER BY place LIMIT %(most)s) r
 GROUP BY why ORDER BY count(*) DESC, why LIMIT 20
"""


def count_refusals(bulk_id: UUID) -> list[tuple[str, int]]:
    """Why the first ``REFUSED`` tasks that a bulk could not touch were refused, commonest first."""
    params = {"bulk": bulk_id, "most": REFUSED}
    return [(why, int(n)) for why, n in sql.rows(REFUSALS, params)]


# Errors are read for those that are tried again only: a death has its fingerprint already.
SENT = """
SELECT t.id, coalesce(t.key, t.id::text), t.status, i.fingerprint, t.fingerprint,
       CASE WHEN t.status = 'FAILED' THEN t.error::text END
  FROM bulk_item i JOIN task t ON t.id = i.task_id
 WHERE i.bulk_id = %(bulk)s AND i.place >= %(first)s AND i.place < %(end)s AND i.state = 'moved'
 ORDER BY i.place
"""


def list_sent(bulk_id: UUID, first: int, end: int) -> list[Sent]:
    """What became of the tasks that a wave has requeued."""
    params = {"bulk": bulk_id, "first": first, "end": end}
    found = sql.rows(SENT, params)
    marks = fingerprints_of({row[0]: row[5] for row in found if row[3] and row[5]})
    return [
        Sent(name, Status(status), _came_back(status, meant, now, marks.get(task)))
        for task, name, status, meant, now, _ in found
    ]


def _came_back(status: str, meant: str | None, now: str | None, failed: str | None) -> bool:
    if meant is None:
        return False
    return (now if status == Status.DEAD else failed) == meant


def read_waves(bulk: BulkRow) -> list[Wave]:
    """A canary's waves; of all but the last and large one, what became of their tasks."""
    found, first = [], 0
    for number in range(wave_of(max(bulk.total - 1, 0)) + 1):
        end = wave_end(number, bulk.total)
        wave = Wave(number + 1, end - first, min(max(bulk.place - first, 0), end - first))
        if wave.dealt and number < len(WAVES):
            sent = list_sent(bulk.id, first, end)
            completed = sum(task.status is Status.COMPLETED for task in sent)
            came_back = sum(task.came_back for task in sent)
            wave = replace(wave, completed=completed, came_back=came_back)
        found.append(wave)
        first = end
    if bulk.state in (BulkState.STOPPED, BulkState.CAME_BACK):
        out = sum(bool(wave.dealt) for wave in found)
        found[out - 1] = replace(found[out - 1], failed=True)
    return found


# Only the latest deaths are looked at: it is asked before every batch of the last wave. On a table
# never analysed the planner would read all items of the bulk for each: so they are reached by their
# tasks alone (LATERAL, and a text and an addition of nothing that no other index has).
FIRST_BACK = """
WITH lately AS MATERIALIZED (
    SELECT id, key, fingerprint FROM task
     WHERE status = 'DEAD'
       AND finished_at >= (SELECT begins_at FROM bulk WHERE id = %(bulk)s)
     ORDER BY finished_at DESC, id DESC LIMIT 1000
)
SELECT coalesce(l.key, l.id::text)
  FROM lately l
 CROSS JOIN LATERAL (
    SELECT FROM bulk_item i
     WHERE i.task_id = l.id AND i.bulk_id::text = %(bulk)s::text AND i.place + 0 < %(end)s
       AND i.state = 'moved' AND i.fingerprint = l.fingerprint
     LIMIT 1
 ) found
 LIMIT 1
"""


def first_back(bulk_id: UUID, end: int) -> list[Sent]:
    """One of the tasks before a place that has died of the same again lately, or none."""
    found = sql.rows_in_index_order(FIRST_BACK, {"bulk": bulk_id, "end": end})
    return [Sent(key, Status.DEAD, came_back=True) for (key,) in found]


ANY_COMPLETED = """
SELECT EXISTS (SELECT FROM bulk_item i JOIN task t ON t.id = i.task_id
                WHERE i.bulk_id = %(bulk)s AND i.place >= %(first)s AND i.state = 'moved'
                  AND t.status = 'COMPLETED')
"""


def any_completed(bulk_id: UUID, first: int) -> bool:
    """Whether any task of a bulk from a place on has completed."""
    found = sql.row(ANY_COMPLETED, {"bulk": bulk_id, "first": first})
    return bool(found and found[0])
