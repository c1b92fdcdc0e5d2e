"""Jobs as a list: filtered, newest first, in keyset pages; progress by steps, not by tasks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql

PAGE: Final = 50
LOOKED_AT: Final = 20_000
"""Jobs that one page looks at by status or name."""


@dataclass(frozen=True, slots=True)
class JobFilter:
    """What the list is narrowed to; ``text`` is a part of the name or key, or an id."""

    status: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job; of its ``steps``, ``ended`` are COMPLETED or SKIPPED and ``dead`` wait for a human.

    ``seconds`` is how long it took, or takes so far.
    """

    id: UUID
    name: str
    key: str | None
    status: str
    paused: bool
    cancel_asked: bool
    submitted_by: str
    created_at: datetime
    finished_at: datetime | None
    seconds: float
    steps: int
    ended: int
    running: int
    dead: int

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name or self.key or str(self.id)


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page, newest first, with its neighbours' cursors; ``stopped``: it looked no further."""

    rows: Sequence[JobRow]
    older: UUID | None = None
    newer: UUID | None = None
    stopped: bool = False


# The tasks of steps are made with the job and have the first ids of it: those of items, of which
# there may be thousands, come later and are not read.
PAGE_OF = """
SELECT j.id, j.name, j.key, j.status, j.paused, j.cancel_asked, j.submitted_by, j.created_at,
       j.finished_at,
       extract(epoch FROM coalesce(j.finished_at, statement_timestamp()) - j.created_at)::float8,
       s.steps, s.ended, s.running, s.dead
  FROM (SELECT * FROM (SELECT * FROM job WHERE {bound} ORDER BY id {direction}
                        LIMIT %(looked_at)s) newest
         WHERE (%(status)s = '' OR status = %(status)s)
           AND (%(text)s = '' OR name ILIKE %(like)s OR key ILIKE %(like)s OR id::text = %(text)s)
         ORDER BY id {direction}
         LIMIT %(page)s) j
  CROSS JOIN LATERAL (
    SELECT count(*) AS steps,
           count(*) FILTER (WHERE status IN ('COMPLETED', 'SKIPPED')) AS ended,
           count(*) FILTER (WHERE status IN ('ASSIGNED', 'RUNNING')) AS running,
           count(*) FILTER (WHERE status = 'DEAD') AS dead
      FROM (SELECT t.status FROM task t WHERE t.job_id = j.id ORDER BY t.id
             LIMIT jsonb_array_length(j.plan -> 'steps')) first
  ) s
 ORDER BY j.id {direction}
"""

# Where a page stopped that looked at as many as it may.
END_OF_WINDOW = """
SELECT id FROM job WHERE {bound} ORDER BY id {direction} OFFSET %(looked_at)s - 1 LIMIT 1
"""


def every_job(wanted: JobFilter) -> Iterator[Sequence[JobRow]]:
    """All that match, the newest first, read page by page: for an export."""
    before: UUID | None = None
    while True:
        page = list_jobs(wanted, before)
        yield page.rows
        before = page.older
        if before is None:
            return


def list_jobs(wanted: JobFilter, before: UUID | None = None, after: UUID | None = None) -> JobPage:
    """Read the page older than ``before``, or newer than ``after``, or the newest."""
    upwards = before is None and after is not None
    cursor = before or after
    bound = "true" if cursor is None else f"id {'>' if upwards else '<'} %(cursor)s"
    params: dict[str, Any] = {
        "cursor": cursor,
        "status": wanted.status,
        "text": wanted.text,
        "like": f"%{_unlike(wanted.text)}%",
        "looked_at": LOOKED_AT,
        "page": PAGE + 1,
    }
    parts = {"bound": bound, "direction": "ASC" if upwards else "DESC"}
    rows = [JobRow(*row) for row in sql.rows(PAGE_OF.format(**parts), params)]
    more, rows = len(rows) > PAGE, rows[:PAGE]
    narrowed = wanted != JobFilter()
    end = sql.row(END_OF_WINDOW.format(**parts), params) if narrowed and not more else None
    onward = rows[-1].id if more else end[0] if end else None
    if upwards:
        rows.reverse()
        return JobPage(rows, rows[-1].id if rows else after, onward, stopped=end is not None)
    back = None if cursor is None else rows[0].id if rows else cursor
    return JobPage(rows, onward, back, stopped=end is not None)


def _unlike(text: str) -> str:
    """The text with what LIKE takes for patterns taken literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
