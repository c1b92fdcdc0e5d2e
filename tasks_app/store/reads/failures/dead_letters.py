"""Dead letters as a human works through them: by cause, and as rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.failures.fingerprints import UNMARKED
from tasks_app.core.search.queries import Match, all_of, write
from tasks_app.store import sql

PAGE: Final = 50
LOOKED_AT: Final = 10_000
"""The newest dead letters, which are grouped by cause: as many as one act may touch."""

CAUSES_SHOWN: Final = 50

LINE = r"left(split_part(coalesce(t.error ->> 'message', ''), E'\n', 1), 300)"


@dataclass(frozen=True, slots=True)
class DeadFilter:
    """What dead letters are narrowed to, where not empty; ``cause`` is the key of a group."""

    kind: str = ""
    reason: str = ""
    cause: str = ""

    def conditions(self) -> str:
        """The conditions on ``task t`` in SQL; their parameters are this filter's fields."""
        parts = ["t.status = 'DEAD'"]
        if self.kind:
            parts.append("t.kind = %(kind)s")
        if self.reason:
            parts.append("t.dead_reason = %(reason)s")
        if self.cause == UNMARKED:
            parts.append("t.fingerprint IS NULL")
        elif self.cause:
            parts.append("t.fingerprint = %(cause)s")
        return " AND ".join(parts)

    def params(self) -> dict[str, Any]:
        """The parameters of ``conditions``."""
        return {"kind": self.kind, "reason": self.reason, "cause": self.cause}

    def query(self) -> str:
        """The same as a query for tasks.

        >>> DeadFilter(kind="send mail", cause="none").query()
        'status:dead kind:"send mail" cause:none'
        """
        parts = {"status": "dead", "kind": self.kind, "reason": self.reason, "cause": self.cause}
        return write(all_of(Match(name, value) for name, value in parts.items() if value))


@dataclass(frozen=True, slots=True)
class Cause:
    """One group: its fingerprint, the latest of its errors, and what it counts.

    ``error_type`` is empty where no attempt failed; ``line`` is the first of the message of
    ``sample``, the last to die. ``more``: not all dead letters were looked at, so that there may be
    more of it than the ``tasks`` counted.
    """

    key: str
    error_type: str
    line: str
    tasks: int
    kinds: Sequence[str]
    reasons: Sequence[str]
    last_at: datetime
    sample: UUID
    more: bool = False

    @property
    def plus(self) -> str:
        """What stands behind the number of its tasks."""
        return "+" if self.more else ""

    @property
    def name(self) -> str:
        """The class without its module, or the reason where the reason is the cause."""
        if self.reasons and not {"permanent", "exhausted"} & set(self.reasons):
            return self.reasons[0].capitalize()
        return self.error_type.rpartition(".")[2] or self.reasons[0].capitalize()


CAUSES = """
SELECT g.cause, coalesce(t.error ->> 'type', ''), {line}, g.tasks, g.kinds, g.reasons, g.last_at,
       g.sample, g.looked_at
  FROM (SELECT cause, count(*) AS tasks, array_agg(DISTINCT kind ORDER BY kind) AS kinds,
               array_agg(DISTINCT dead_reason ORDER BY dead_reason) AS reasons,
               max(finished_at) AS last_at, (array_agg(id ORDER BY finished_at DESC))[1] AS sample,
               (sum(count(*)) OVER ())::bigint AS looked_at
          FROM (SELECT coalesce(t.fingerprint, '{unmarked}') AS cause, t.id, t.kind, t.dead_reason,
                       t.finished_at
                  FROM task t
                 WHERE {conditions}
                 ORDER BY t.finished_at DESC, t.id DESC
                 LIMIT %(most)s) d
         GROUP BY cause
         ORDER BY count(*) DESC, max(finished_at) DESC
         LIMIT %(shown)s) g
  JOIN task t ON t.id = ANY (ARRAY[g.sample])
 ORDER BY g.tasks DESC, g.last_at DESC
"""


def list_causes(
    wanted: DeadFilter, most: int = LOOKED_AT, shown: int = CAUSES_SHOWN
) -> tuple[list[Cause], bool]:
    """Groups of the newest ``most``, most tasks first, and whether there may be more."""
    statement = CAUSES.format(unmarked=UNMARKED, line=LINE, conditions=wanted.conditions())
    # Without statistics the planner would read and sort all that ever died.
    found = sql.rows_in_index_order(statement, {**wanted.params(), "most": most, "shown": shown})
    more = bool(found) and found[0][8] >= most
    return [Cause(*[*row[:8], more]) for row in found], more


@dataclass(frozen=True, slots=True)
class DeadRow:
    """One dead letter; ``blocked`` tasks wait for it, as far as they are counted (100)."""

    id: UUID
    kind: str
    key: str | None
    dead_reason: str
    total_attempts: int
    requeues: int
    created_at: datetime
    finished_at: datetime
    error_type: str
    line: str
    blocked: int

    @property
    def name(self) -> str:
        """The error's class without its module, or the reason."""
        return self.error_type.rpartition(".")[2] or self.dead_reason.capitalize()

    @property
    def cursor(self) -> str:
        """Where this row stands in the order of the list."""
        return f"{self.finished_at.timestamp():.6f}_{self.id.hex}"


@dataclass(frozen=True, slots=True)
class DeadCursor:
    """A place in the list: an instant (seconds since the epoch, to the microsecond) and an id."""

    at: str
    id: UUID

    @classmethod
    def read(cls, text: str) -> "DeadCursor | None":
        """Read what ``DeadRow.cursor`` wrote, or None.

        >>> DeadCursor.read("1.500000_0192" + 28 * "0").at
        '1.500000'
        >>> DeadCursor.read("inf_x")
        """
        at, _, task_id = text.partition("_")
        try:
            found = cls(at, UUID(task_id))
        except ValueError:
            return None
        whole, _, part = at.partition(".")
        plain = (whole + part).isascii() and (whole + part).isdigit()
        return found if plain and len(whole) < 12 and len(part) == 6 else None


# An instant told in microseconds is exact; a float of seconds is not.
ROWS = """
SELECT t.id, t.kind, t.key, t.dead_reason, t.total_attempts, t.requeues, t.created_at,
       t.finished_at, coalesce(t.error ->> 'type', ''), {line},
       CASE WHEN t.has_dependents THEN
           (SELECT count(*) FROM (SELECT FROM dependency d
                                   WHERE d.depends_on_id = t.id AND d.state = 'blocked'
                                   LIMIT 100) b)
            ELSE 0 END
  FROM task t
 WHERE {conditions} AND {bound}
 ORDER BY t.finished_at {direction}, t.id {direction}
 LIMIT %(page)s
"""
BOUND = """
(t.finished_at, t.id) {side}
(timestamptz 'epoch' + %(at)s::numeric * 1000000 * interval '1 microsecond', %(id)s)
"""


@dataclass(frozen=True, slots=True)
class DeadPage:
    """A page of dead letters, the last to die first, with the cursors of its neighbours."""

    rows: Sequence[DeadRow]
    older: str = ""
    newer: str = ""


def list_dead(
    wanted: DeadFilter, before: DeadCursor | None = None, after: DeadCursor | None = None
) -> DeadPage:
    """Read the page older than ``before``, or newer than ``after``, or the newest."""
    cursor, upwards = before or after, before is None and after is not None
    bound = BOUND.format(side=">" if upwards else "<") if cursor else "true"
    statement = ROWS.format(
        conditions=wanted.conditions(),
        bound=bound,
        line=LINE,
        direction="ASC" if upwards else "DESC",
    )
    place = {"at": cursor.at, "id": cursor.id} if cursor else {}
    found = sql.rows(statement, {**wanted.params(), **place, "page": PAGE + 1})
    more, rows = len(found) > PAGE, [DeadRow(*row) for row in found[:PAGE]]
    if upwards:
        rows.reverse()
    if not rows:
        return DeadPage(rows)
    newest, oldest = rows[0].cursor, rows[-1].cursor
    if upwards:
        return DeadPage(rows, older=oldest, newer=newest if more else "")
    return DeadPage(rows, older=oldest if more else "", newer=newest if cursor else "")


# What died after it was shown is not as it was shown.
AS_SHOWN = """
SELECT id FROM task
 WHERE id = ANY (%(ids)s::uuid[]) AND status = 'DEAD' AND finished_at <= %(as_of)s
"""


def select_as_shown(ids: Sequence[UUID], as_of: datetime) -> set[UUID]:
    """Those of the ids that are dead still, and have not died anew since."""
    return {row[0] for row in sql.rows(AS_SHOWN, {"ids": sql.uuids(ids), "as_of": as_of})}
