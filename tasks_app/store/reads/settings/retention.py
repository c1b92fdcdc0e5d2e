"""What is kept and how large it is, what would go by a time, and what went."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tasks_app.core.settings.retention import ROW_SECONDS, STATUSES, Going, Kept
from tasks_app.store import sql

COUNTED: Final = 10_000
"""Rows that would go are counted up to here; more are estimated."""

JOBS: Final = "SELECT FROM job WHERE finished_at < {until}"
TASKS: Final = (
    "SELECT FROM task WHERE status IN ({statuses}) AND job_id IS NULL AND finished_at < {until}"
)
HISTORY: Final = """
SELECT FROM death WHERE at < {until}
UNION ALL SELECT FROM late_result WHERE received_at < {until}
UNION ALL SELECT FROM near_miss WHERE at < {until}
UNION ALL SELECT FROM bulk_item i JOIN bulk b ON b.id = i.bulk_id WHERE b.finished_at < {until}
UNION ALL SELECT FROM bulk WHERE finished_at < {until}
"""
UNTIL: Final = "statement_timestamp() - %(days)s * interval '1 day'"


def going(what: Kept, days: int) -> Going:
    """How many rows ended more than ``days`` ago: counted up to a bound, then as planners do."""
    if what in STATUSES:
        statuses = ", ".join(f"'{status.value}'" for status in STATUSES[what])
        query = TASKS.format(statuses=statuses, until=UNTIL)
    else:
        query = (JOBS if what is Kept.JOB else HISTORY).format(until=UNTIL)
    params = {"days": days, "most": COUNTED + 1}
    # Made of this module's constants.
    counted = f"SELECT count(*) FROM ({query} LIMIT %(most)s) g"  # noqa: S608  see above
    (rows,) = sql.row(counted, params) or (0,)
    if rows <= COUNTED:
        return Going(int(rows), exact=True)
    (plan,) = sql.row(f"EXPLAIN (FORMAT JSON) {query}", params) or ("[]",)
    found = json.loads(plan) if isinstance(plan, str) else plan
    return Going(max(int(rows), int(found[0]["Plan"]["Plan Rows"])), exact=False)


COST: Final = """
SELECT coalesce(sum(seconds) / nullif(sum(rows), 0), %(usual)s)::float8 FROM pruned
 WHERE hour > statement_timestamp() - interval '7 days'
"""


def row_seconds() -> float:
    """What a row has cost to prune in the last week; what is usual where none went."""
    found = sql.row(COST, {"usual": ROW_SECONDS})
    return float(found[0]) if found else ROW_SECONDS


# Each is the first entry of an index but the ledgers', whose oldest is their lowest id.
OLDEST: Final = """
SELECT (SELECT min(finished_at) FROM task WHERE status = 'COMPLETED' AND job_id IS NULL),
       (SELECT min(finished_at) FROM task
         WHERE status IN ('CANCELLED', 'DISMISSED', 'SKIPPED') AND job_id IS NULL),
       (SELECT finished_at FROM task WHERE status = 'DEAD' AND job_id IS NULL
         ORDER BY finished_at, id LIMIT 1),
       (SELECT min(finished_at) FROM job WHERE finished_at IS NOT NULL),
       least((SELECT at FROM death ORDER BY id LIMIT 1),
             (SELECT received_at FROM late_result ORDER BY id LIMIT 1),
             (SELECT at FROM near_miss ORDER BY id LIMIT 1),
             (SELECT min(finished_at) FROM bulk))
"""

GONE: Final = """
SELECT what, sum(rows)::bigint FROM pruned
 WHERE hour > statement_timestamp() - interval '1 day' GROUP BY what
"""


@dataclass(frozen=True, slots=True)
class Retained:
    """One sort of what has ended: days kept (None: for ever), the oldest, and rows gone lately.

    ``gone`` is of the last day, by whole hours.
    """

    what: Kept
    days: int | None
    oldest: datetime | None
    gone: int

    @property
    def goes_at(self) -> datetime | None:
        """When the oldest has been kept for long enough; None where never."""
        if self.days is None or self.oldest is None:
            return None
        return self.oldest + timedelta(days=self.days)


def list_retained(kept: Mapping[Kept, int | None]) -> list[Retained]:
    """Every sort, with how it stands."""
    (row,) = sql.rows_in_index_order(OLDEST, {})
    oldest = dict(zip(Kept, row, strict=True))
    gone = {Kept(what): int(rows) for what, rows in sql.rows(GONE)}
    return [Retained(what, kept[what], oldest[what], gone.get(what, 0)) for what in Kept]


SHOWN: Final = 8

TABLES: Final = """
SELECT c.relname, CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END,
       pg_total_relation_size(c.oid), sum(pg_total_relation_size(c.oid)) OVER ()::bigint
  FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
 ORDER BY 3 DESC, 1
 LIMIT %(shown)s
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """One table: its rows as last estimated, None where never, and its bytes, indexes included."""

    name: str
    rows: int | None
    size: int


def list_sizes() -> tuple[list[TableSize], int]:
    """The largest tables, and the bytes of all of them."""
    found = sql.rows(TABLES, {"shown": SHOWN})
    return [TableSize(*row[:3]) for row in found], int(found[0][3]) if found else 0
