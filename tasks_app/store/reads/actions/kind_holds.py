"""What kinds are held back by, and whether what somebody names is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from tasks_app.core.jobs.job_states import JOIN_KIND
from tasks_app.core.search.queries import quoted_if_needed
from tasks_app.core.states import WorkerState
from tasks_app.models import Job, Kind, Worker
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import count_by_kind

MOST_KINDS: Final = 500


def kind_exists(name: str) -> bool:
    """Whether there is a kind of this name."""
    return Kind.objects.filter(name=name).exists()


def job_exists(job_id: UUID) -> bool:
    """Whether there is a job of this id."""
    return Job.objects.filter(id=job_id).exists()


def live_worker(named: str) -> UUID | None:
    """The live boot of this id or name, or None."""
    live = Worker.objects.filter(state__in=[WorkerState.ACTIVE, WorkerState.DRAINING])
    try:
        found = live.filter(id=UUID(named))
    except ValueError:
        found = live.filter(name=named)
    return found.values_list("id", flat=True).first()


@dataclass(frozen=True, slots=True)
class KindStanding:
    """One kind: what holds it back, and how many of its tasks wait, are in work and are DEAD.

    ``breaker`` and ``limit_breaker`` are closed, open or half_open; ``limit_paused_until`` is the
    word of the other side (HTTP 429); ``budgeted`` kinds may be short of ``credit`` for retries.
    """

    name: str
    description: str
    paused: bool
    quarantined_at: datetime | None
    breaker: str
    limit: str | None
    limit_breaker: str
    limit_paused_until: datetime | None
    by_people: bool
    workers: int
    waiting: int = 0
    failed: int = 0
    in_work: int = 0
    dead: int = 0

    @property
    def quoted(self) -> str:
        """Its name as a query names it."""
        return quoted_if_needed(self.name)

    @property
    def held(self) -> bool:
        """Whether anything holds back the whole kind."""
        return bool(
            self.paused
            or self.quarantined_at
            or self.limit_paused_until
            or "open" in (self.breaker, self.limit_breaker)
        )


KINDS: Final = """
SELECT k.name, k.description, k.paused, k.quarantined_at,
       CASE WHEN k.breaker_failures IS NULL THEN 'closed' ELSE coalesce(b.state, 'closed') END,
       k.limit_name,
       CASE WHEN l.breaker_failures IS NULL THEN 'closed' ELSE coalesce(g.state, 'closed') END,
       CASE WHEN s.paused_until > statement_timestamp() THEN s.paused_until END, k.by_people,
       (SELECT count(*) FROM capability c JOIN worker w ON w.id = c.worker_id
         WHERE c.kind = k.name AND w.state IN ('active', 'draining'))
  FROM kind k
  LEFT JOIN shared_limit l ON l.name = k.limit_name
  LEFT JOIN limit_state s ON s.limit_id = k.limit_name
  LEFT JOIN breaker_state b ON b.scope = 'kind' AND b.name = k.name
  LEFT JOIN breaker_state g ON g.scope = 'limit' AND g.name = k.limit_name
 WHERE k.name <> %(join)s AND k.name > %(after)s
 ORDER BY k.name
 LIMIT %(most)s
"""

SHOWN: Final = {
    "PENDING": "waiting",
    "FAILED": "failed",
    "ASSIGNED": "in_work",
    "RUNNING": "in_work",
    "DEAD": "dead",
}


def page_of_kinds(after: str | None = None) -> tuple[Sequence[KindStanding], str | None]:
    """Up to ``MOST_KINDS`` kinds behind a name, and the cursor of the page after.

    The supervisor's own kind, which nobody hands out, is left out.
    """
    counts: dict[str, dict[str, Any]] = {}
    for each in count_by_kind():
        if each.status in SHOWN:
            of_kind = counts.setdefault(each.kind, {})
            of_kind[SHOWN[each.status]] = of_kind.get(SHOWN[each.status], 0) + each.count
    params = {"most": MOST_KINDS + 1, "join": JOIN_KIND, "after": after or ""}
    found = [KindStanding(*row, **counts.get(row[0], {})) for row in sql.rows(KINDS, params)]
    rows = found[:MOST_KINDS]
    return rows, rows[-1].name if len(found) > MOST_KINDS else None
