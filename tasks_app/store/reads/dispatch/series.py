"""The samples as the charts draw them: a range of time, thinned, its gaps marked."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.states import Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import READY_SINCE

POINTS: Final = 600
"""About one point a pixel of the widest chart on a laptop; more is only slower."""

MISSED_BEFORE_A_GAP: Final = 3
"""Samples: one that is late by a slow round is no gap, a supervisor that is away is one."""


@dataclass(frozen=True, slots=True)
class Range:
    """How far back a chart looks; ``seconds``, and the ``resolution`` of the samples it reads."""

    name: str
    label: str
    seconds: int
    resolution: int

    @property
    def step(self) -> int:
        """Seconds from point to point: the finest that keeps within ``POINTS``."""
        return math.ceil(self.seconds / self.resolution / POINTS) * self.resolution


RANGES: Final = (
    Range("5m", "5 min", 300, 1),
    Range("1h", "1 h", 3_600, 1),
    Range("24h", "24 h", 86_400, 60),
    Range("30d", "30 d", 2_592_000, 60),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One sample; instants in seconds since the epoch.

    ``by_status`` maps status to count, ``active`` worker name to ASSIGNED + RUNNING; ``gap`` says
    that samples are missing just before. The oldest unfinished task's age is ``at - oldest``.
    ``done`` counts what was ever completed until then, pruned or not.
    """

    at: float
    by_status: Mapping[str, int]
    active: Mapping[str, int]
    oldest: float | None
    done: int
    gap: bool = False

    def as_json(self) -> dict[str, Any]:
        """The point as the browser gets it."""
        return {
            "at": self.at,
            "by_status": self.by_status,
            "active": self.active,
            "oldest": self.oldest,
            "done": self.done,
            "gap": self.gap,
        }


def _point(row: tuple[Any, ...]) -> Point:
    at, by_status, active, oldest, gone, gap = row
    statuses = json.loads(by_status)
    done = statuses.get(Status.COMPLETED, 0) + gone
    return Point(at, statuses, json.loads(active), oldest, done, bool(gap))


# The narrow columns are thinned first, on the key alone; only the samples kept are read whole. A
# gap is seen before the thinning, which would bridge it.
SERIES = """
WITH kept AS (
    SELECT at, extract(epoch FROM at)::float8 AS second,
           extract(epoch FROM at - coalesce(lag(at) OVER (ORDER BY at),
                                            to_timestamp(%(after)s::float8)))::float8 AS since
      FROM sample
     WHERE resolution = %(resolution)s
       AND at > greatest(statement_timestamp() - %(seconds)s * interval '1 second',
                         to_timestamp(%(after)s::float8))
), thinned AS (
    SELECT max(at) AS at, coalesce(max(since), 0) > %(gap)s AS gap
      FROM kept
     GROUP BY floor(second / %(step)s)
)
SELECT extract(epoch FROM s.at)::float8, s.by_status, s.active,
       extract(epoch FROM s.oldest_created_at)::float8, s.gone, t.gap
  FROM thinned t
  JOIN sample s ON s.resolution = %(resolution)s AND s.at = t.at
 ORDER BY s.at
"""


def series(span: Range, after: float | None = None) -> list[Point]:
    """The range's points, oldest first; only those past ``after`` (seconds since the epoch)."""
    params = {
        "resolution": span.resolution,
        "seconds": span.seconds,
        "step": span.step,
        "gap": MISSED_BEFORE_A_GAP * span.resolution,
        "after": after,
    }
    return [_point(row) for row in sql.rows(SERIES, params)]


LATEST = """
SELECT extract(epoch FROM at)::float8, by_status, active,
       extract(epoch FROM oldest_created_at)::float8, gone, false
  FROM sample WHERE resolution = 1 AND at <= statement_timestamp() + interval '2 seconds'
 ORDER BY at DESC LIMIT 1
"""


def latest_point() -> Point | None:
    """The last second on record, however long ago."""
    found = sql.row(LATEST)
    return None if found is None else _point(found)


OLDEST = f"""
SELECT extract(epoch FROM statement_timestamp())::float8,
       (SELECT extract(epoch FROM min({READY_SINCE}))::float8 FROM task
         WHERE status IN ('ASSIGNED', 'FAILED', 'PENDING', 'RUNNING') AND waiting_on = 0
           AND {READY_SINCE} <= statement_timestamp()
           AND kind NOT IN (SELECT name FROM kind WHERE by_people))
"""  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class Oldest:
    """Since when the oldest unfinished task has been ready; seconds since the epoch, or None."""

    now: float
    created: float | None

    @property
    def age(self) -> float | None:
        """Seconds; None when nothing is unfinished."""
        return None if self.created is None else max(self.now - self.created, 0.0)


def read_oldest() -> Oldest:
    """Ask the tasks themselves, so that a supervisor that writes no samples cannot hide it."""
    found = sql.row(OLDEST)
    return Oldest(0.0, None) if found is None else Oldest(found[0], found[1])


# Completions come from the counts and not from the samples' own, for a supervisor that is away
# counts none. Of the samples around the instant asked for the nearer one is taken: the record may
# have begun, or a gap ended, since then.
PACE = """
SELECT extract(epoch FROM statement_timestamp() - s.at)::float8,
       coalesce((s.by_status ->> 'COMPLETED')::bigint, 0) + s.gone
  FROM ((SELECT at, by_status, gone FROM sample
          WHERE resolution = 1 AND at < statement_timestamp() - %(ago)s * interval '1 second'
            AND at > statement_timestamp() - interval '1 hour'
          ORDER BY at DESC LIMIT 1)
        UNION ALL
        (SELECT at, by_status, gone FROM sample
          WHERE resolution = 1 AND at >= statement_timestamp() - %(ago)s * interval '1 second'
            AND at < statement_timestamp() - interval '1 second'
          ORDER BY at LIMIT 1)) s
 ORDER BY abs(extract(epoch FROM statement_timestamp() - s.at) - %(ago)s)
 LIMIT 1
"""


def completed_per_second(completed: int, ago: float) -> float | None:
    """Completions a second since about ``ago`` seconds back; None when there is no sample.

    ``completed`` are those ever, so that what is pruned meanwhile does not count against them.
    """
    found = sql.row(PACE, {"ago": ago})
    return None if found is None else max(completed - found[1], 0) / found[0]


COSTS = """
SELECT sum(dispatch_seconds) / nullif(sum(dispatched), 0),
       sum(busy_seconds) / nullif(sum(completed), 0)
  FROM sample
 WHERE resolution = 1 AND at > statement_timestamp() - interval '1 hour'
"""


@dataclass(frozen=True, slots=True)
class Costs:
    """D: supervisor seconds per dispatched task. T: mean task seconds. None while unknown."""

    dispatch_seconds: float | None
    task_seconds: float | None


def read_costs() -> Costs:
    """D and T over the last hour."""
    found = sql.row(COSTS)
    return Costs(None, None) if found is None else Costs(found[0], found[1])
