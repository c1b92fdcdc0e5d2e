"""Tasks as a list shows them: found by a query, in keyset pages that never count the table.

UUIDv7 ids sort by submission, so the id is the cursor. A page looks at a bounded number of tasks
and says where it stopped, so that a rare match in a table of millions costs no more. Another order
than by age is that of the tasks within such a window.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from tasks_app.core.masking.redaction import Hidden
from tasks_app.core.search.queries import Node, Text, conjuncts, has_text, matches_of
from tasks_app.core.search.query_fields import id_range
from tasks_app.core.words import say
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.search.task_conditions import DURATION, Conditions
from tasks_app.store.reads.search.task_rows import Cursor, Sort, TaskPage, TaskRow
from tasks_app.store.reads.search.task_windows import ALL, Stock, Window, choose_window, id_bounds

PAGE: Final = 50
LOOKED_AT: Final = 100_000
"""Tasks that one page looks at by what stands in the task's own columns: about 0.2 s."""

SEARCHED: Final = 20_000
"""Tasks that one page looks at by what is dear to look at: about 0.2 s where payloads have 1 kB."""

SEARCH_SECONDS: Final = 2
"""A search through large payloads is stopped after this."""

MOST_NEW: Final = 100
"""New tasks behind a list are counted up to this."""

DEAR: Final = frozenset({"worker", "error", "payload", "result", "duration", "job"})
"""Fields that need a look beside the task's own short columns."""

COLUMNS: Final = """
       t.id, t.kind, t.status, t.key, t.attempts, t.max_attempts, t.created_at, t.run_at,
       t.finished_at, t.waiting_on, t.dead_reason, t.error, t.payload, t.result, t.priority,
       t.requeues, t.lock_key, t.job_id, t.token, t.fingerprint, t.origins, t.dependency_count
"""

# The window is a subquery of its own: the planner keeps its LIMIT, and reads no further than the
# page needs. Payloads are only unpacked where a text is looked for.
PAGE_OF: Final = """
SELECT f.id, f.kind, f.status, f.key, f.attempts, f.max_attempts, f.created_at, f.run_at,
       f.finished_at, f.waiting_on, f.dead_reason, coalesce(f.error ->> 'type', ''),
       left(split_part(coalesce(f.error ->> 'message', ''), E'\\n', 1), 300), w.name, w.id,
       f.priority, f.requeues, f.lock_key, f.job_id,
       extract(epoch FROM coalesce(a.ended_at - a.started_at,
                                   statement_timestamp() - l.started_at))::float8, f.place
  FROM (SELECT *, ({place})::float8 AS place FROM ({window}) t
         WHERE {conditions}
         ORDER BY {order}
         LIMIT %(page)s) f
  LEFT JOIN lease l ON l.task_id = f.id
  LEFT JOIN worker w ON w.id = l.worker_id
  LEFT JOIN attempt a ON a.token = f.token
 ORDER BY {final_order}
"""

NARROW: Final = "SELECT" + COLUMNS + "{source} AND {bound}"
WINDOW: Final = NARROW + " ORDER BY t.id {direction} LIMIT %(looked_at)s"

# Where a window ends.
END_OF_WINDOW: Final = """
SELECT t.id, t.created_at {source} AND {bound} ORDER BY t.id {direction}
OFFSET %(looked_at)s - 1 LIMIT 1
"""

# What an index finds by id or key, however far back it lies.
DIRECT: Final = """
(SELECT id FROM task t
  WHERE kind IN (SELECT name FROM kind) AND key = %(text)s AND {bound}
  ORDER BY id {direction} LIMIT %(page)s)
UNION
(SELECT id FROM task t
  WHERE id BETWEEN %(low)s::uuid AND %(high)s::uuid AND {bound}
  ORDER BY id {direction} LIMIT %(page)s)
"""

NEWER: Final = """
SELECT count(*) FROM (SELECT FROM (SELECT * FROM task n WHERE n.id > %(upto)s
                                    ORDER BY n.id DESC LIMIT %(looked_at)s) t
                       WHERE {conditions} LIMIT %(most)s) found
"""

NEWEST: Final = "SELECT id FROM task ORDER BY id DESC LIMIT 1"

PLACES: Final[Mapping[Sort, str]] = {
    Sort.AGE: "0",
    Sort.PRIORITY: "t.priority",
    Sort.ATTEMPTS: "t.attempts",
    # What never ran comes last, whichever way round.
    Sort.DURATION: f"coalesce({DURATION.strip()}, %(never)s)",
}


@dataclass(frozen=True, slots=True)
class TaskSearch:
    """What to find and in which order; ``backwards`` turns the order round.

    ``upto`` leaves out tasks with a greater id: those submitted later. ``hidden`` is what the asker
    may not see, ``paths`` the payload paths that have an index, by kind.
    """

    node: Node | None = None
    sort: Sort = Sort.AGE
    backwards: bool = False
    upto: UUID | None = None
    hidden: Hidden = field(default_factory=dict)
    paths: Mapping[str, Sequence[str]] = field(default_factory=dict)


def list_tasks(
    wanted: TaskSearch,
    after: Cursor | None = None,
    before: Cursor | None = None,
    most: int | None = None,
) -> TaskPage:
    """Read the page that follows ``after``, or precedes ``before``, or the first one."""
    try:
        with transaction.atomic():
            # Compiling a plan costs more than the few rows of a page.
            sql.execute(f"SET LOCAL statement_timeout = '{SEARCH_SECONDS}s'; SET LOCAL jit = off")
            page = _Search(wanted, after, before, most or PAGE).page()
            sql.execute("SET LOCAL statement_timeout = DEFAULT; SET LOCAL jit = DEFAULT")
            return page
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return TaskPage(rows=(), timed_out=True)
        raise


def iterate_pages(
    wanted: TaskSearch, most: float = math.inf, page: int = 1000
) -> Iterator[TaskPage]:
    """All that match, window after window, up to ``most`` tasks.

    The last page tells where an order's window ends. Raises TimeoutError where one takes too long.
    """
    after, left = None, most
    while left > 0:
        found = list_tasks(wanted, after, most=int(min(page, left)))
        if found.timed_out:
            raise TimeoutError(say("the search was stopped after %(s)s s", s=SEARCH_SECONDS))
        yield found
        left -= len(found.rows)
        if found.next is None:
            return
        after = found.next


def count_newer(wanted: TaskSearch) -> int:
    """How many tasks that match were submitted after ``upto``: at most ``MOST_NEW``."""
    if wanted.upto is None:
        return 0
    params = {"upto": wanted.upto, "looked_at": SEARCHED, "most": MOST_NEW, "found": []}
    conditions = Conditions(params, wanted.hidden)
    asked = conditions.of(wanted.node) if wanted.node is not None else "true"
    found = sql.row(NEWER.format(conditions=asked), params)
    return int(found[0]) if found else 0


def newest_id() -> UUID | None:
    """The id of the task submitted last."""
    found = sql.row(NEWEST)
    return found[0] if found else None


def bounds_of(wanted: TaskSearch, conditions: Conditions) -> list[str]:
    """What bounds a search by id, whatever else it asks, as conditions."""
    low, high = id_bounds(wanted.node, datetime.now(UTC))
    bounds = ["true"]
    if low is not None:
        bounds.append(f"t.id >= {conditions.value(low)}")
    if high is not None:
        bounds.append(f"t.id <= {conditions.value(high)}")
    if wanted.upto is not None:
        bounds.append(f"t.id <= {conditions.value(wanted.upto)}")
    return bounds


class _Search:
    """One page's statements, which share their window, order and parameters."""

    def __init__(
        self, wanted: TaskSearch, after: Cursor | None, before: Cursor | None, most: int
    ) -> None:
        self.wanted = wanted
        self.most = most
        self.by_age = wanted.sort is Sort.AGE
        self.upwards = after is None and before is not None
        self.cursor = after or before
        # The newest, or the greatest, comes first unless the order is turned round.
        self.falling = not wanted.backwards ^ self.upwards
        dear = has_text(wanted.node) or any(m.field in DEAR for m in matches_of(wanted.node))
        self.looked_at = SEARCHED if dear or wanted.sort is Sort.DURATION else LOOKED_AT
        self.params: dict[str, Any] = {"page": most + 1, "looked_at": self.looked_at, "found": []}
        self.params["never"] = 1e9 if wanted.backwards else -1.0
        self.conditions = Conditions(self.params, wanted.hidden)
        self.asked = self.conditions.of(wanted.node) if wanted.node is not None else "true"
        self.bound = self._bound()
        stock = Stock(count_by_status, wanted.paths, SEARCHED)
        self.window = choose_window(wanted.node, stock, self.conditions)

    def page(self) -> TaskPage:
        """Read it."""
        rows = self._rows(self.window)
        end = None
        bounded = not self.window.narrow and (self.wanted.node is not None or not self.by_age)
        if bounded and (len(rows) <= self.most or not self.by_age):
            end = self._end_of_window()
        if self.by_age:
            rows = self._with_direct_hits(rows)
        return self._cut(rows, end)

    def _bound(self) -> str:
        """What bounds the window by id, whatever stands in it."""
        bounds = bounds_of(self.wanted, self.conditions)
        if self.by_age and self.cursor is not None:
            sign = "<" if self.falling else ">"
            bounds.append(f"t.id {sign} {self.conditions.value(self.cursor.id)}")
        return " AND ".join(bounds)

    def _statement(self, template: str, **parts: str) -> str:
        # Whatever the order of a page, its window is that of the newest tasks.
        direction = "DESC" if self.falling or not self.by_age else "ASC"
        return template.format(bound=self.bound, direction=direction, **parts)

    def _rows(self, window: Window) -> list[TaskRow]:
        asked, way = self.asked, "DESC" if self.falling else "ASC"
        place = PLACES[self.wanted.sort]
        if not self.by_age and self.cursor is not None:
            at = self.conditions.value(self.cursor.place)
            last = self.conditions.value(self.cursor.id)
            asked += f" AND (({place})::float8, t.id) {'<' if self.falling else '>'} ({at}, {last})"
        by = "" if self.by_age else f"place {way}, "
        statement = PAGE_OF.format(
            window=self._statement(NARROW if window.narrow else WINDOW, source=window.source),
            place=place,
            conditions=asked,
            order=f"{by}t.id {way}",
            final_order=f"{by.replace('place', 'f.place')}f.id {way}",
        )
        return [TaskRow(*row) for row in sql.rows(statement, self.params)]

    def _with_direct_hits(self, rows: list[TaskRow]) -> list[TaskRow]:
        """Add what an index finds by a word that is an id or a key, however far back it lies."""
        words = [part.text for part in conjuncts(self.wanted.node) if isinstance(part, Text)]
        if len(words) != 1:
            return rows
        low, high = id_range(words[0]) or (None, None)
        params = {**self.params, "text": words[0], "low": low, "high": high}
        known = {row.id for row in rows}
        hits = [found for (found,) in sql.rows(self._statement(DIRECT), params)]
        self.params["found"] = [found for found in hits if found not in known]
        if not self.params["found"]:
            return rows
        direct = Window(ALL + " AND t.id = ANY (%(found)s::uuid[])", narrow=True)
        merged = [*rows, *self._rows(direct)]
        return sorted(merged, key=lambda row: row.id.int, reverse=self.falling)

    def _end_of_window(self) -> tuple[UUID, datetime] | None:
        found = sql.row(self._statement(END_OF_WINDOW, source=self.window.source), self.params)
        return None if found is None else (found[0], found[1])

    def _cut(self, rows: list[TaskRow], end: tuple[UUID, datetime] | None) -> TaskPage:
        """Take one page of the rows, in the order of the screen, with its neighbours' cursors."""
        more, rows = len(rows) > self.most, rows[: self.most]
        onward = Cursor.of(rows[-1]) if more else None
        if onward is None and end is not None and self.by_age:
            onward = Cursor(end[0])
        stopped = end[1] if end is not None and (not self.by_age or not more) else None
        page = TaskPage(
            rows, stopped_at=stopped, looked_at=self.looked_at, indexed=self.window.indexed
        )
        if self.upwards:
            rows.reverse()
            return replace(page, next=Cursor.of(rows[-1]) if rows else None, previous=onward)
        # A page reached by a cursor has others before it; the cursor's own is one of them.
        back = None if self.cursor is None else Cursor.of(rows[0]) if rows else self.cursor
        return replace(page, next=onward, previous=back)


WORKER_NAMES: Final = "SELECT DISTINCT name FROM worker ORDER BY name LIMIT %(most)s"


def list_worker_names(most: int) -> list[str]:
    """Names of workers on record, at most so many."""
    return [name for (name,) in sql.rows(WORKER_NAMES, {"most": most})]
