"""What previews of settings are judged by: the latest attempts, silences, and what waits now."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.settings.hand_out_previews import LimitPast, Silences
from tasks_app.core.settings.kind_previews import KindPast, PastAttempt
from tasks_app.core.settings.supervision_previews import Ahead
from tasks_app.core.states import FAILURES, DeadReason, Outcome, Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.failures.casualties import CASUALTIES_OF_ATTEMPTS, IS_CASUALTY

HOURS: Final = 24.0
LOOKED_AT: Final = 50_000
"""The newest attempts of all kinds among which a kind's are looked for: some 50 ms."""

MOST: Final = 10_000
"""Attempts of the kind that are judged."""

MOST_PAYLOADS: Final = 500

# Attempts are numbered by their tokens, so that the newest are the end of the primary key.
ATTEMPTS = """
SELECT extract(epoch FROM ended_at - started_at)::float8, coalesce(c.skill, 1)::float8, outcome,
       CASE WHEN requeues = 0 THEN number END, extract(epoch FROM ended_at)::float8,
       error->>'type', (error->>'status')::int, dead_reason,
       extract(epoch FROM statement_timestamp() - ended_at)::float8
  FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
  LEFT JOIN capability c ON c.worker_id = a.worker_id AND c.kind = a.kind
 WHERE a.kind = %(kind)s AND a.started_at IS NOT NULL
   AND a.ended_at > statement_timestamp() - %(hours)s * interval '1 hour'
 ORDER BY token DESC
 LIMIT %(most)s
"""


# Of one incarnation, as the sweep counts them: the workers that died as they ran it.
DOWNED = f"""
SELECT ({CASUALTIES_OF_ATTEMPTS})::int
  FROM (SELECT * FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
 WHERE kind = %(kind)s AND started_at IS NOT NULL AND {IS_CASUALTY}
   AND ended_at > statement_timestamp() - %(hours)s * interval '1 hour'
 GROUP BY task_id, requeues
"""  # noqa: S608  constants


def kind_past(kind: str) -> KindPast:
    """A kind's latest attempts, the newest first, of a day at most, and its tasks now."""
    params = {"kind": kind, "hours": HOURS, "looked_at": LOOKED_AT, "most": MOST}
    found = sql.rows(ATTEMPTS, params)
    counts = count_by_status(kind)
    return KindPast(
        attempts=[_attempt(row) for row in found],
        hours=found[-1][8] / 3600 if found else 0.0,
        waiting=counts.get(Status.PENDING, 0) + counts.get(Status.FAILED, 0),
        in_flight=counts.get(Status.ASSIGNED, 0) + counts.get(Status.RUNNING, 0),
        downed=[workers for (workers,) in sql.rows(DOWNED, params)],
    )


def _attempt(row: tuple[Any, ...]) -> PastAttempt:
    return PastAttempt(
        seconds=row[0],
        skill=row[1],
        outcome=Outcome(row[2]),
        number=row[3],
        ended_at=row[4],
        error=ErrorFacts(row[5], "", status=row[6]) if row[5] else None,
        dead_reason=DeadReason(row[7]) if row[7] else None,
    )


# Large ones are left out: they are few, and would be sent as a whole.
PAYLOADS = """
SELECT payload::text
  FROM (SELECT id, kind, payload FROM task ORDER BY id DESC LIMIT %(looked_at)s) t
 WHERE kind = %(kind)s AND pg_column_size(payload) < 20000
 ORDER BY id DESC
 LIMIT %(most)s
"""


def latest_payloads(kind: str) -> list[Any]:
    """The latest payloads of a kind, the newest first, at most ``MOST_PAYLOADS``."""
    params = {"kind": kind, "looked_at": LOOKED_AT, "most": MOST_PAYLOADS}
    return [json.loads(text) for (text,) in sql.rows(PAYLOADS, params)]


CONDITIONS = """
SELECT coalesce(nullif(name, ''), id::text), plan::text
  FROM (SELECT id, name, plan FROM job ORDER BY id DESC LIMIT %(most)s) j
 WHERE pg_column_size(plan) < 20000 AND plan @? '$.steps[*].when'
 ORDER BY id DESC
"""


def latest_conditions() -> list[tuple[str, Any]]:
    """Of the latest jobs, at most ``MOST_PAYLOADS``, those with conditions: name and plan."""
    found = sql.rows(CONDITIONS, {"most": MOST_PAYLOADS})
    return [(name, json.loads(text)) for name, text in found]


GAPS = """
SELECT extract(epoch FROM statement_timestamp() - h.at)::float8
  FROM worker w JOIN heartbeat h ON h.worker_id = w.id
 WHERE w.state IN ('active', 'draining')
"""

NEAR_MISSES = """
SELECT silent_seconds FROM near_miss
 WHERE at > statement_timestamp() - %(hours)s * interval '1 hour'
 ORDER BY id DESC
 LIMIT %(most)s
"""


def silences() -> Silences:
    """How long live workers are silent now, and the near misses of a day."""
    near = sql.rows(NEAR_MISSES, {"hours": HOURS, "most": MOST})
    gaps = [float(gap) for (gap,) in sql.rows(GAPS)]
    return Silences(gaps, [float(silent) for (silent,) in near], HOURS)


LIMIT = """
SELECT (SELECT coalesce(sum(e.weight), 0) FROM lease e JOIN kind k ON k.name = e.kind
         WHERE k.limit_name = %(limit)s)::float8,
       (SELECT coalesce(sum(s.weight), 0) FROM (
            SELECT t.weight FROM kind k
             CROSS JOIN LATERAL (
                SELECT weight FROM task
                 WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
                 ORDER BY queue_at, id LIMIT %(most)s) t
             WHERE k.limit_name = %(limit)s) s)::float8,
       (SELECT count(*) FROM (
            SELECT kind, assigned_at FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
          JOIN kind k ON k.name = a.kind AND k.limit_name = %(limit)s
         WHERE a.assigned_at > statement_timestamp() - interval '1 hour')::float8
"""


FAILED_UNDER = """
SELECT extract(epoch FROM a.ended_at)::float8, a.dead_reason IS NOT DISTINCT FROM 'permanent'
  FROM (SELECT kind, outcome, ended_at, dead_reason FROM attempt
         ORDER BY token DESC LIMIT %(looked_at)s) a
  JOIN kind k ON k.name = a.kind AND k.limit_name = %(limit)s
 WHERE a.outcome = ANY (%(failures)s)
   AND a.ended_at > statement_timestamp() - %(hours)s * interval '1 hour'
 ORDER BY 1
"""


def limit_past(limit: str) -> LimitPast:
    """What is in flight, ready and of the last hour under a limit; ready tasks up to a bound.

    Its kinds' failures are those of a day.
    """
    params = {
        "limit": limit,
        "most": MOST,
        "looked_at": LOOKED_AT,
        "hours": HOURS,
        "failures": sorted(FAILURES),
    }
    found = sql.row(LIMIT, params)
    assert found is not None, "a row of figures is always there"
    failed = [(at, permanent) for at, permanent in sql.rows(FAILED_UNDER, params)]
    return LimitPast(found[0], found[1], found[2], hours=1.0, failed=failed)


AHEAD = """
SELECT count(*)::int, coalesce(sum(slots), 0)::int, coalesce(sum(held), 0)::int,
       coalesce(sum(begun), 0)::int, coalesce(sum(greatest(held - slots, 0)), 0)::int
  FROM (SELECT w.slots, count(l.token) AS held, count(l.started_at) AS begun
          FROM worker w LEFT JOIN lease l ON l.worker_id = w.id
         WHERE w.state IN ('active', 'draining')
         GROUP BY w.id) each
"""


def tasks_ahead() -> Ahead:
    """What live workers hold now, beside their slots."""
    found = sql.row(AHEAD)
    assert found is not None, "a row of figures is always there"
    return Ahead(*found)


POISONED = """
SELECT kind, extract(epoch FROM finished_at)::float8
  FROM (SELECT kind, finished_at FROM task
         WHERE dead_reason = 'poison'
           AND finished_at > statement_timestamp() - %(hours)s * interval '1 hour'
         LIMIT %(most)s) t
 ORDER BY 2
"""


def poisoned() -> Mapping[str, Sequence[float]]:
    """The instants of a day's poison tasks by kind, in order; up to a bound."""
    found: dict[str, list[float]] = {}
    for kind, at in sql.rows(POISONED, {"hours": HOURS, "most": MOST}):
        found.setdefault(kind, []).append(at)
    return found
