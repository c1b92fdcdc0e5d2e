"""Groups of dead letters with their history: since when, from whom, how often, come back or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from tasks_app.core.failures.fingerprints import app_frame
from tasks_app.store import sql

HOURS: Final = 24
COUNTED: Final = 2_000
"""Deaths of a group, the latest, that its curve and its distribution are made of."""

MOST_DEAD: Final = 10_000
"""The dead of one group are counted up to this."""

NEW_FOR: Final = timedelta(days=1)

# Deaths are kept for a time of their own: a dead letter may be older than all that are left.
HISTORY = """
SELECT g.fingerprint,
       least((SELECT at FROM death d WHERE d.fingerprint = g.fingerprint ORDER BY at LIMIT 1),
             (SELECT finished_at FROM task t
               WHERE t.status = 'DEAD' AND t.fingerprint = g.fingerprint
               ORDER BY finished_at, id LIMIT 1)),
       coalesce(x.assigned_to, ''), coalesce(x.note, ''), x.dismissed_at, back.at, back.version,
       coalesce(of.workers, '{}'), coalesce(curve.hours, '{}')::text, statement_timestamp()
  FROM unnest(%(fingerprints)s::text[]) AS g(fingerprint)
  LEFT JOIN dead_group x ON x.fingerprint = g.fingerprint
  LEFT JOIN LATERAL (
      SELECT d.at, coalesce(w.version, '') AS version
        FROM death d LEFT JOIN worker w ON w.id = d.worker_id
       WHERE d.fingerprint = g.fingerprint AND d.at > x.dismissed_at
       ORDER BY d.at LIMIT 1) back ON true
 CROSS JOIN LATERAL (
      SELECT array_agg(DISTINCT w.name::text ORDER BY w.name::text) AS workers
        FROM (SELECT worker_id FROM death d WHERE d.fingerprint = g.fingerprint
               ORDER BY at DESC LIMIT 200) d
        JOIN worker w ON w.id = d.worker_id) of
 CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(hour, n) AS hours
        FROM (SELECT floor(extract(epoch FROM statement_timestamp() - at) / 3600)::int AS hour,
                     count(*) AS n
                FROM (SELECT at FROM death d WHERE d.fingerprint = g.fingerprint
                         AND at > statement_timestamp() - %(hours)s * interval '1 hour'
                       ORDER BY at DESC LIMIT %(counted)s) a
               GROUP BY 1) h) curve
"""


@dataclass(frozen=True, slots=True)
class History:
    """What is known of a fingerprint; ``hours`` counts deaths, the oldest hour first.

    ``came_back_at`` is the first death after the group had been dismissed, ``version`` that of its
    worker, "" where it said none.
    """

    fingerprint: str
    first_at: datetime | None
    assigned_to: str
    note: str
    dismissed_at: datetime | None
    came_back_at: datetime | None
    version: str
    workers: Sequence[str]
    hours: Sequence[int]
    read_at: datetime

    @property
    def is_new(self) -> bool:
        """First seen within a day, and nobody has taken it or dismissed it yet."""
        attended = self.assigned_to or self.note or self.dismissed_at
        return not attended and (self.first_at is None or self.read_at - self.first_at < NEW_FOR)


def read_histories(fingerprints: Sequence[str]) -> Mapping[str, History]:
    """The history of each of a page's groups."""
    params = {"fingerprints": list(fingerprints), "hours": HOURS, "counted": COUNTED}
    return {row[0]: _history(row) for row in sql.rows(HISTORY, params)}


def _history(row: tuple[Any, ...]) -> History:
    ago = {int(hour): int(n) for hour, n in sql.loaded(row[8]).items()}
    hours = [ago.get(hour, 0) for hour in reversed(range(HOURS))]
    return History(*[*row[:6], row[6] or "", row[7], hours, row[9]])


SPREAD = """
WITH latest AS (
    SELECT d.kind, coalesce(w.name, '') AS worker,
           coalesce(w.version, '') AS version, d.at
      FROM (SELECT * FROM death WHERE fingerprint = %(fingerprint)s
             ORDER BY at DESC LIMIT %(counted)s) d
      LEFT JOIN worker w ON w.id = d.worker_id
)
SELECT what, name, count(*) FROM (
    SELECT 'kind' AS what, kind AS name FROM latest
    UNION ALL SELECT 'worker', worker FROM latest
    UNION ALL SELECT 'version', version FROM latest
) s
 GROUP BY what, name
 ORDER BY what, count(*) DESC, name
"""

MOST_OF_A_SPREAD: Final = 12


def read_spread(fingerprint: str) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Of the latest deaths, how many of each kind, worker and version; the most first.

    A name is empty where there was no worker, or it told no version.
    """
    found: dict[str, list[tuple[str, int]]] = {"kind": [], "worker": [], "version": []}
    params = {"fingerprint": fingerprint, "counted": COUNTED}
    for what, name, count in sql.rows(SPREAD, params):
        if len(found[what]) < MOST_OF_A_SPREAD:
            found[what].append((name, int(count)))
    return found


SAMPLE = """
SELECT t.id, t.key, t.kind, t.dead_reason, coalesce(t.error ->> 'type', ''),
       coalesce(t.error ->> 'message', ''), coalesce(t.error ->> 'traceback', ''), t.finished_at
  FROM task t
 WHERE t.status = 'DEAD' AND t.fingerprint = %(fingerprint)s
 ORDER BY t.finished_at DESC, t.id DESC
 LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """The latest of a group to die, with its whole error."""

    id: Any
    key: str | None
    kind: str
    dead_reason: str
    error_type: str
    message: str
    traceback: str
    finished_at: datetime

    @property
    def name(self) -> str:
        """The error's class without its module, or the reason."""
        return self.error_type.rpartition(".")[2] or self.dead_reason.capitalize()

    @property
    def frame(self) -> str:
        """The innermost frame of the application's own code, or ""."""
        return app_frame(self.traceback)


def find_sample(fingerprint: str) -> Sample | None:
    """The latest dead letter of a group, or None where none is dead any more."""
    found = sql.row(SAMPLE, {"fingerprint": fingerprint})
    return None if found is None else Sample(*found)


# Counted as far as a page says: "10,000+".
DEAD_NOW = """
SELECT count(*) FROM (SELECT FROM task WHERE status = 'DEAD' AND fingerprint = %(fingerprint)s
                       LIMIT %(most)s) d
"""


def count_dead(fingerprint: str) -> int:
    """How many of a group are dead now, as far as ``MOST_DEAD`` of them."""
    found = sql.row(DEAD_NOW, {"fingerprint": fingerprint, "most": MOST_DEAD})
    return int(found[0]) if found else 0
