"""What previews of limits, of the queue and of giving up are judged by; every look is bounded."""

import json
from typing import Any, Final

from tasks_app.core.settings.limit_previews import Held, JoinPast
from tasks_app.core.settings.queue_previews import Overruns, Queue, Unroutable
from tasks_app.core.states import DeadReason, Outcome
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.readiness import WAITS_SINCE
from tasks_app.store.reads.settings.kind_preview_facts import HOURS, LOOKED_AT, MOST, MOST_PAYLOADS

# The weight is the task's; one that was pruned meanwhile counts as most do.
HELD: Final = """
SELECT extract(epoch FROM a.assigned_at)::float8,
       extract(epoch FROM a.ended_at - a.assigned_at)::float8,
       coalesce(t.weight, 1)::float8, coalesce(a.kind = %(kind)s, true)
  FROM (SELECT token, task_id, kind, assigned_at, ended_at
          FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
  LEFT JOIN task t ON t.id = a.task_id
 WHERE a.kind = ANY (ARRAY(SELECT name FROM kind
                            WHERE limit_name = %(limit)s OR name = %(kind)s))
   AND a.ended_at > statement_timestamp() - %(hours)s * interval '1 hour'
 ORDER BY a.token DESC
 LIMIT %(most)s
"""

HELD_NOW: Final = """
SELECT coalesce(sum(l.weight) FILTER (WHERE l.kind <> %(kind)s AND k.limit_name = %(limit)s),
                0)::float8,
       coalesce(sum(l.weight) FILTER (WHERE l.kind = %(kind)s), 0)::float8
  FROM lease l JOIN kind k ON k.name = l.kind
"""


def held_under(limit: str, kind: str | None = None) -> list[Held]:
    """A day's attempts of the kinds under a limit, each as one that waits for it.

    With a ``kind`` also those of it, and only they wait: it would come under the limit.
    """
    params = {"kind": kind, "limit": limit, "hours": HOURS, "looked_at": LOOKED_AT, "most": MOST}
    return [Held(*row) for row in sql.rows(HELD, params)]


def join_past(kind: str, limit: str | None) -> JoinPast:
    """A day's attempts of a kind and of those under a limit, and what each holds now."""
    found = sql.row(HELD_NOW, {"kind": kind, "limit": limit})
    assert found is not None, "a row of figures is always there"
    attempts = held_under(limit, kind) if limit else []
    return JoinPast(attempts, under=found[0], joining=found[1])


# Large ones are left out, as they are of payloads.
RESULTS: Final = """
SELECT result::text
  FROM (SELECT id, kind, result, finished_at FROM task ORDER BY id DESC LIMIT %(looked_at)s) t
 WHERE kind = %(kind)s AND result IS NOT NULL AND pg_column_size(result) < 20000
   AND finished_at > statement_timestamp() - %(hours)s * interval '1 hour'
 ORDER BY id DESC
 LIMIT %(most)s
"""


def latest_results(kind: str) -> list[Any]:
    """A kind's results of a day, the newest task's first, at most ``MOST_PAYLOADS``."""
    params = {"kind": kind, "hours": HOURS, "looked_at": LOOKED_AT, "most": MOST_PAYLOADS}
    return [json.loads(text) for (text,) in sql.rows(RESULTS, params)]


IN_QUEUE: Final = """
SELECT extract(epoch FROM statement_timestamp() - t.queue_at)::float8
  FROM kind k
 CROSS JOIN LATERAL (
    SELECT queue_at FROM task
     WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
       AND run_at <= statement_timestamp()
     ORDER BY queue_at
     LIMIT %(most)s) t
 WHERE NOT k.by_people
 LIMIT %(most)s
"""

RAISED: Final = """
SELECT count(*)::int, (count(*) FILTER (WHERE priority <> 0))::int
  FROM (SELECT priority FROM task ORDER BY id DESC LIMIT %(most)s) t
"""


def queue_now() -> Queue:
    """The ready tasks as they stand, and how many of the latest have a priority; to a bound."""
    ago = [each for (each,) in sql.rows(IN_QUEUE, {"most": MOST})]
    found = sql.row(RAISED, {"most": MOST})
    assert found is not None, "a row of figures is always there"
    return Queue(ago, *found)


READY: Final = """
SELECT k.name, (SELECT count(*) FROM (
          SELECT FROM task
           WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
             AND run_at <= statement_timestamp()
           LIMIT %(most)s) t)::int
  FROM kind k
 WHERE NOT k.by_people
"""


def ready_by_kind() -> dict[str, int]:
    """How many ready tasks each kind has, at most ``MOST``; kinds without any are left out."""
    return {kind: tasks for kind, tasks in sql.rows(READY, {"most": MOST}) if tasks}


# As the sweep finds them: no boot on record could do the kind.
UNROUTABLE: Final = f"""
SELECT k.name, extract(epoch FROM statement_timestamp() - t.waits_since)::float8
  FROM kind k
 CROSS JOIN LATERAL (
    SELECT {WAITS_SINCE} AS waits_since FROM task
     WHERE kind = k.name AND status = 'PENDING' AND waiting_on = 0
       AND run_at <= statement_timestamp()
     ORDER BY queue_at
     LIMIT %(most)s) t
 WHERE NOT k.by_people AND NOT EXISTS (SELECT FROM capability c WHERE c.kind = k.name OFFSET 0)
 LIMIT %(most)s
"""  # noqa: S608  a constant

DIED_OF: Final = """
SELECT count(*)::int
  FROM (SELECT dead_reason FROM task
         WHERE status = 'DEAD'
           AND finished_at > statement_timestamp() - %(hours)s * interval '1 hour'
         ORDER BY finished_at DESC
         LIMIT %(looked_at)s) t
 WHERE dead_reason = %(reason)s
"""


def unroutable_now() -> Unroutable:
    """Ready tasks that no worker ever could do, and a day's dead letters for that; to a bound."""
    waits: dict[str, list[float]] = {}
    for kind, waited in sql.rows(UNROUTABLE, {"most": MOST}):
        waits.setdefault(kind, []).append(waited)
    params = {"hours": HOURS, "looked_at": LOOKED_AT, "reason": DeadReason.UNROUTABLE}
    found = sql.row(DIED_OF, params)
    return Unroutable(waits, found[0] if found else 0)


STOPPED: Final = """
SELECT extract(epoch FROM a.ended_at - a.started_at)::float8 - k.timeout_seconds
  FROM (SELECT kind, outcome, started_at, ended_at
          FROM attempt ORDER BY token DESC LIMIT %(looked_at)s) a
  JOIN kind k ON k.name = a.kind
 WHERE a.outcome = %(timeout)s AND a.started_at IS NOT NULL
   AND a.ended_at > statement_timestamp() - %(hours)s * interval '1 hour'
 LIMIT %(most)s
"""

RUNNING_ON: Final = """
SELECT extract(epoch FROM statement_timestamp() - l.started_at)::float8 - k.timeout_seconds
  FROM lease l JOIN kind k ON k.name = l.kind
 WHERE l.started_at < statement_timestamp() - k.timeout_seconds * interval '1 second'
 LIMIT %(most)s
"""


def overruns() -> Overruns:
    """By how much attempts ran past their kind's timeout as it is now: of a day, and running."""
    params = {
        "hours": HOURS,
        "looked_at": LOOKED_AT,
        "most": MOST,
        "timeout": Outcome.TIMEOUT,
    }
    stopped = [over for (over,) in sql.rows(STOPPED, params)]
    return Overruns(stopped, [over for (over,) in sql.rows(RUNNING_ON, {"most": MOST})])
