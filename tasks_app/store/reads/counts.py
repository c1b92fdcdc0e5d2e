"""How many tasks stand where: from the rollup, never by counting the table."""

from dataclasses import dataclass

from tasks_app.store import sql

# Both tables in one statement, so in one snapshot: a fold in between is not counted twice.
COUNTS = """
SELECT kind, status, sum(n)::bigint, sum(busy)::float8
  FROM (SELECT kind, status, count AS n, busy_seconds AS busy FROM status_count
        UNION ALL
        SELECT kind, status, change, busy_seconds FROM status_delta) c
 GROUP BY kind, status
"""


@dataclass(frozen=True, slots=True)
class KindCount:
    """Tasks of one kind in one status, and the seconds that completed ones ran."""

    kind: str
    status: str
    count: int
    busy_seconds: float


def count_by_kind() -> list[KindCount]:
    """The truth of this instant: what is folded and what is not."""
    return [KindCount(r[0], r[1], int(r[2]), float(r[3])) for r in sql.rows(COUNTS)]


def count_by_status(kind: str | None = None) -> dict[str, int]:
    """Tasks by status, of one kind or of all."""
    totals: dict[str, int] = {}
    for entry in count_by_kind():
        if kind is None or entry.kind == kind:
            totals[entry.status] = totals.get(entry.status, 0) + entry.count
    return totals


COMPLETED = """
SELECT coalesce(sum(count + gone), 0)::bigint, coalesce(sum(busy_seconds), 0)::float8
  FROM status_count WHERE status = 'COMPLETED'
"""


def completed_so_far() -> tuple[int, float]:
    """Folded completions ever, pruned ones too, and the seconds they ran."""
    found = sql.row(COMPLETED)
    return (int(found[0]), float(found[1])) if found else (0, 0.0)
