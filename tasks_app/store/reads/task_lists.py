"""Tasks as a list shows them: filtered, newest first, in keyset pages that never count the table.

UUIDv7 ids sort by creation, so the id is the cursor. A page looks at a bounded number of tasks and
says where it stopped, so that a rare match in a table of millions costs no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from tasks_app.core.states import ACTIVE, Status
from tasks_app.store import sql
from tasks_app.store.reads.counts import count_by_status

PAGE: Final = 50
LOOKED_AT: Final = 100_000
"""Tasks that one page looks at by status and kind: about 0.2 s."""

SEARCHED: Final = 20_000
"""Tasks that one page looks at by text or worker: about 0.2 s where payloads have 1 kB."""

SEARCH_SECONDS: Final = 2
"""A search through large payloads is stopped after this."""

LEAST_PREFIX: Final = 8
"""Digits from which a text is also tried as the beginning of an id: shorter ones mean a word."""


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What a list is narrowed to; empty fields narrow nothing.

    ``worker`` is a name: tasks that it holds or held. ``text`` is looked for in ids (exact or their
    beginning), keys, error messages and payloads.
    """

    status: str = ""
    kind: str = ""
    worker: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of a list; ``worker`` holds it now, ``error`` is the last attempt's first line."""

    id: UUID
    kind: str
    status: str
    key: str | None
    attempts: int
    max_attempts: int
    created_at: datetime
    run_at: datetime
    finished_at: datetime | None
    waiting_on: int
    dead_reason: str | None
    error_type: str
    error: str
    worker: str | None
    worker_id: UUID | None

    @property
    def error_name(self) -> str:
        """The class without its module."""
        return self.error_type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page, newest first, with the cursors of its neighbours.

    ``stopped_at``: only so many tasks (``looked_at``) were looked at, the last of them made then;
    ``older`` goes on from there. ``timed_out``: the search took too long and was stopped.
    """

    rows: Sequence[TaskRow]
    older: UUID | None = None
    newer: UUID | None = None
    stopped_at: datetime | None = None
    looked_at: int = 0
    timed_out: bool = False


COLUMNS = """
       t.id, t.kind, t.status, t.key, t.attempts, t.max_attempts, t.created_at, t.run_at,
       t.finished_at, t.waiting_on, t.dead_reason, t.error, t.payload
"""

# The window is a subquery of its own: the planner keeps its LIMIT, and reads no further than the
# page needs. Payloads are only unpacked where a text is looked for.
PAGE_OF = """
SELECT f.id, f.kind, f.status, f.key, f.attempts, f.max_attempts, f.created_at, f.run_at,
       f.finished_at, f.waiting_on, f.dead_reason, coalesce(f.error ->> 'type', ''),
       left(split_part(coalesce(f.error ->> 'message', ''), E'\\n', 1), 300), w.name, w.id
  FROM (SELECT * FROM ({window}) t
         WHERE {conditions}
         ORDER BY id {direction}
         LIMIT %(page)s) f
  LEFT JOIN lease l ON l.task_id = f.id
  LEFT JOIN worker w ON w.id = l.worker_id
 ORDER BY f.id {direction}
"""

WINDOW = (
    "SELECT" + COLUMNS + "FROM task t WHERE {bound} ORDER BY t.id {direction} LIMIT %(looked_at)s"
)

# Few tasks stand in these statuses at a time, and a partial index or the leases know which.
NARROW: Final[Mapping[str, str]] = {
    Status.DEAD: "SELECT" + COLUMNS + "FROM task t WHERE t.status = 'DEAD' AND {bound}",
    Status.FAILED: "SELECT" + COLUMNS + "FROM task t WHERE t.status = 'FAILED' AND {bound}",
    **dict.fromkeys(
        ACTIVE, "SELECT" + COLUMNS + "FROM lease e JOIN task t ON t.id = e.task_id WHERE {bound}"
    ),
}

# Where a window ends.
END_OF_WINDOW = """
SELECT id, created_at FROM task t WHERE {bound} ORDER BY id {direction}
OFFSET %(looked_at)s - 1 LIMIT 1
"""

BY_KEY = """
SELECT id FROM task t
 WHERE kind IN (SELECT name FROM kind) AND key = %(text)s AND {bound}
 ORDER BY id {direction} LIMIT %(page)s
"""

BY_PREFIX = """
SELECT id FROM task t
 WHERE id BETWEEN %(low)s AND %(high)s AND {bound}
 ORDER BY id {direction} LIMIT %(page)s
"""

HELD_BY = """
EXISTS (SELECT FROM worker w WHERE w.name = %(worker)s
           AND (EXISTS (SELECT FROM lease e WHERE e.task_id = t.id AND e.worker_id = w.id)
             OR EXISTS (SELECT FROM attempt a WHERE a.task_id = t.id AND a.worker_id = w.id)))
"""

HAS_TEXT = """
(t.id = ANY (%(found)s::uuid[]) OR t.key ILIKE %(like)s OR t.error ->> 'message' ILIKE %(like)s
 OR t.error ->> 'type' ILIKE %(like)s OR t.payload::text ILIKE %(like)s)
"""


def list_tasks(
    wanted: TaskFilter, before: UUID | None = None, after: UUID | None = None
) -> TaskPage:
    """Read the page older than ``before``, or newer than ``after``, or the newest."""
    try:
        with transaction.atomic():
            # Compiling a plan costs more than the few rows of a page.
            sql.execute(f"SET LOCAL statement_timeout = '{SEARCH_SECONDS}s'; SET LOCAL jit = off")
            page = _Search(wanted, before, after).page()
            sql.execute("SET LOCAL statement_timeout = DEFAULT; SET LOCAL jit = DEFAULT")
            return page
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return TaskPage(rows=(), timed_out=True)
        raise


class _Search:
    """One page's statements, which share their bound, direction and parameters."""

    def __init__(self, wanted: TaskFilter, before: UUID | None, after: UUID | None) -> None:
        self.wanted = wanted
        self.upwards = before is None and after is not None
        self.cursor = before or after
        self.looked_at = SEARCHED if wanted.text or wanted.worker else LOOKED_AT
        self.params: dict[str, Any] = {
            "cursor": self.cursor,
            "page": PAGE + 1,
            "looked_at": self.looked_at,
            "status": wanted.status,
            "kind": wanted.kind,
            "worker": wanted.worker,
            "text": wanted.text,
            "like": f"%{_unlike(wanted.text)}%",
            "found": [],
        }

    def page(self) -> TaskPage:
        """Read it."""
        narrow = self._is_narrow()
        window = NARROW[self.wanted.status] if narrow else WINDOW
        rows = self._rows(window)
        end = None
        if len(rows) <= PAGE and not narrow and self._conditions() != ["true"]:
            end = self._end_of_window()
        if self.wanted.text:
            rows = self._with_direct_hits(rows)
        return self._cut(rows, end)

    def _is_narrow(self) -> bool:
        status = self.wanted.status
        return status in NARROW and count_by_status().get(status, 0) <= SEARCHED

    def _statement(self, template: str, **parts: str) -> str:
        bound = "true"
        if self.cursor is not None:
            bound = f"t.id {'>' if self.upwards else '<'} %(cursor)s"
        return template.format(bound=bound, direction="ASC" if self.upwards else "DESC", **parts)

    def _conditions(self) -> list[str]:
        found = []
        if self.wanted.status:
            found.append("t.status = %(status)s")
        if self.wanted.kind:
            found.append("t.kind = %(kind)s")
        if self.wanted.worker:
            found.append(HELD_BY)
        if self.wanted.text:
            found.append(HAS_TEXT)
        return found or ["true"]

    def _rows(self, window: str) -> list[TaskRow]:
        statement = self._statement(
            PAGE_OF, window=self._statement(window), conditions=" AND ".join(self._conditions())
        )
        return [TaskRow(*row) for row in sql.rows(statement, self.params)]

    def _with_direct_hits(self, rows: list[TaskRow]) -> list[TaskRow]:
        """Add what an index finds by id or key, however far back it lies."""
        hits = sql.rows(self._statement(BY_KEY), self.params)
        bounds = id_range(self.wanted.text)
        if bounds:
            low, high = bounds
            hits += sql.rows(self._statement(BY_PREFIX), {**self.params, "low": low, "high": high})
        known = {row.id for row in rows}
        self.params["found"] = [found for (found,) in hits if found not in known]
        if not self.params["found"]:
            return rows
        direct = "SELECT" + COLUMNS + "FROM task t WHERE t.id = ANY (%(found)s::uuid[])"
        merged = [*rows, *self._rows(direct)]
        return sorted(merged, key=lambda row: row.id.int, reverse=not self.upwards)

    def _end_of_window(self) -> tuple[UUID, datetime] | None:
        found = sql.row(self._statement(END_OF_WINDOW), self.params)
        return None if found is None else (found[0], found[1])

    def _cut(self, rows: list[TaskRow], end: tuple[UUID, datetime] | None) -> TaskPage:
        """Take one page of the rows, in the order of the screen, with its neighbours' cursors."""
        more, rows = len(rows) > PAGE, rows[:PAGE]
        onward = rows[-1].id if more else end[0] if end else None
        stopped = None if more or end is None else end[1]
        if self.upwards:
            rows.reverse()
            back = rows[-1].id if rows else None
            return TaskPage(rows, back, onward, stopped, self.looked_at)
        # A page reached by a cursor has newer tasks above it; the cursor's own is one of them.
        back = None if self.cursor is None else rows[0].id if rows else self.cursor
        return TaskPage(rows, onward, back, stopped, self.looked_at)


def id_range(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begin so, or None where the text begins no id.

    >>> id_range("01920000-1")
    (UUID('01920000-1000-0000-0000-000000000000'), UUID('01920000-1fff-ffff-ffff-ffffffffffff'))
    >>> id_range("0192"), id_range("classify")
    (None, None)
    """
    digits = text.replace("-", "").lower()
    if not LEAST_PREFIX <= len(digits) <= 32 or set(digits) - set("0123456789abcdef"):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def _unlike(text: str) -> str:
    """The text with what LIKE takes for patterns taken literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


WORKER_NAMES = "SELECT DISTINCT name FROM worker ORDER BY name LIMIT 500"


def list_worker_names() -> list[str]:
    """Names of workers on record, for suggestions: at most 500."""
    return [name for (name,) in sql.rows(WORKER_NAMES)]
