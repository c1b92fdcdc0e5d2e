"""How many tasks stand where: from the rollup, never by counting the table."""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks_app.core.states import Status
from tasks_app.store import sql

# Both tables in one statement, so in one snapshot: a fold in between is not counted twice.
COUNTS = """
SELECT kind, status, sum(n)::bigint, sum(busy)::float8, sum(gone)::bigint
  FROM (SELECT kind, status, count AS n, busy_seconds AS busy, gone FROM status_count
        UNION ALL
        SELECT kind, status, change, busy_seconds, gone FROM status_delta) c
 GROUP BY kind, status
"""


@dataclass(frozen=True, slots=True)
class KindCount:
    """Tasks of one kind in one status, and the seconds that completed ones ran.

    ``gone`` more stood there once, and were pruned.
    """

    kind: str
    status: str
    count: int
    busy_seconds: float
    gone: int


def count_by_kind() -> list[KindCount]:
    """The truth of this instant: what is folded and what is not."""
    return [KindCount(*row) for row in sql.rows(COUNTS)]


def count_by_status(kind: str | None = None) -> dict[str, int]:
    """Tasks by status, of one kind or of all."""
    return by_status([each for each in count_by_kind() if kind is None or each.kind == kind])


def by_status(counted: Iterable[KindCount]) -> dict[str, int]:
    """The counts of some kinds as those of their statuses."""
    totals: dict[str, int] = {}
    for entry in counted:
        totals[entry.status] = totals.get(entry.status, 0) + entry.count
    return totals


def completed_ever(counted: Iterable[KindCount]) -> int:
    """How many of these kinds have ever been completed, pruned ones too."""
    return sum(each.count + each.gone for each in counted if each.status == Status.COMPLETED)


COMPLETED = """
SELECT coalesce(sum(count + gone), 0)::bigint, coalesce(sum(busy_seconds), 0)::float8
  FROM status_count WHERE status = 'COMPLETED'
"""


def completed_so_far() -> tuple[int, float]:
    """Folded completions ever, pruned ones too, and the seconds they ran."""
    found = sql.row(COMPLETED)
    return (int(found[0]), float(found[1])) if found else (0, 0.0)
