"""Lists that only their files have in full: late reports, near misses, ended boots, shifts.

Each reads a page behind a cursor, the newest first, and gives the cursor of the page after.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.reads.dispatch.supervision import ShiftRow
from tasks_app.store.reads.fleet.worker_lists import EndedBoot
from tasks_app.store.reads.jobs.inbox import HELD, HeldStep

PAGE: Final = 500

LATE = """
SELECT l.id, l.received_at, l.task_id, t.kind, l.worker_id, w.name, l.token_held, l.token_now,
       l.overlap_seconds, l.outcome
  FROM late_result l
  LEFT JOIN task t ON t.id = l.task_id
  LEFT JOIN worker w ON w.id = l.worker_id
 WHERE %(before)s::bigint IS NULL OR l.id < %(before)s
 ORDER BY l.id DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class LateReport:
    """A report that was rejected: its token was no longer held; its result is not told."""

    id: int
    received_at: datetime
    task_id: UUID
    kind: str | None
    worker_id: UUID
    worker: str | None
    token_held: int
    token_now: int | None
    overlap_seconds: float | None
    outcome: str


def list_late_reports(before: int | None = None) -> tuple[Sequence[LateReport], int | None]:
    """Rejected reports of all tasks."""
    rows = [LateReport(*row) for row in _page(LATE, before)]
    return rows, rows[-1].id if len(rows) == PAGE else None


NEAR_MISSES = """
SELECT n.id, n.at, n.worker_id, w.name, n.leases, n.silent_seconds, n.stale_after_seconds
  FROM near_miss n JOIN worker w ON w.id = n.worker_id
 WHERE %(before)s::bigint IS NULL OR n.id < %(before)s
 ORDER BY n.id DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """So many leases of a worker were renewed or ended with less than a fifth of their time."""

    id: int
    at: datetime
    worker_id: UUID
    worker: str
    leases: int
    silent_seconds: float
    stale_after_seconds: float


def list_near_misses(before: int | None = None) -> tuple[Sequence[NearMiss], int | None]:
    """Near misses of all workers."""
    rows = [NearMiss(*row) for row in _page(NEAR_MISSES, before)]
    return rows, rows[-1].id if len(rows) == PAGE else None


BOOTS = """
SELECT w.id, w.name, w.host, w.version, w.state, w.registered_at, w.ended_at, w.ending
  FROM worker w
 WHERE w.state IN ('stopped', 'lost') AND (%(before)s::uuid IS NULL OR w.id < %(before)s)
 ORDER BY w.id DESC LIMIT %(limit)s
"""


def list_boots(before: UUID | None = None) -> tuple[Sequence[EndedBoot], UUID | None]:
    """Boots that ended, by when they began."""
    rows = [EndedBoot(*row) for row in _page(BOOTS, before)]
    return rows, rows[-1].id if len(rows) == PAGE else None


SHIFTS = """
SELECT epoch, holder, began_at, ended_at, ending, rounds, dispatched, silent_seconds,
       extract(epoch FROM coalesce(ended_at, statement_timestamp()) - began_at)::float8
  FROM shift
 WHERE %(before)s::bigint IS NULL OR epoch < %(before)s
 ORDER BY epoch DESC LIMIT %(limit)s
"""


def list_every_shift(before: int | None = None) -> tuple[Sequence[ShiftRow], int | None]:
    """All shifts that are kept."""
    rows = [ShiftRow(*row) for row in _page(SHIFTS, before)]
    return rows, rows[-1].epoch if len(rows) == PAGE else None


# What people hold is as much as they can work on.
EVERY_HELD = (
    HELD + " AND (%(after)s::uuid IS NULL OR t.id > %(after)s) ORDER BY t.id LIMIT %(limit)s"
)


def list_every_held(after: UUID | None = None) -> tuple[Sequence[HeldStep], UUID | None]:
    """Steps that people have, whoever they are, by their ids."""
    found = sql.rows(EVERY_HELD, {"after": after, "limit": PAGE})
    rows = [HeldStep(*row) for row in found]
    return rows, rows[-1].id if len(rows) == PAGE else None


def _page(statement: str, before: Any) -> list[tuple[Any, ...]]:
    return sql.rows(statement, {"before": before, "limit": PAGE})
