"""Circuit breakers, shared limits, retry credit and quarantine: state beside the configuration."""

from collections.abc import Mapping
from uuid import UUID

from tasks_app.core.attempts import retry_budget
from tasks_app.core.facts import Breaker, Guarded
from tasks_app.store import sql

SET_BREAKER = """
INSERT INTO breaker_state (scope, name, state) VALUES (%(scope)s, %(name)s, %(state)s)
ON CONFLICT (scope, name) DO UPDATE
   SET state = excluded.state, since = statement_timestamp(), probe = NULL, probe_token = NULL
"""


def set_breaker(guarded: Guarded, state: Breaker) -> None:
    """Move a breaker; its age starts anew."""
    sql.execute(SET_BREAKER, {**guarded._asdict(), "state": state})


FORGET_BREAKERS = """
DELETE FROM breaker_state WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM breaker_state b
     WHERE NOT EXISTS (
        SELECT FROM kind k
         WHERE b.scope = 'kind' AND k.name = b.name AND k.breaker_failures IS NOT NULL)
       AND NOT EXISTS (
        SELECT FROM shared_limit l
         WHERE b.scope = 'limit' AND l.name = b.name AND l.breaker_failures IS NOT NULL)
     LIMIT %(limit)s FOR UPDATE OF b SKIP LOCKED))
"""


def forget_breakers() -> int:
    """Drop the states of breakers that were taken away; one that comes back begins closed."""
    return sql.execute(FORGET_BREAKERS, {"limit": sql.CLEARED_AT_ONCE})


SET_PROBE = """
UPDATE breaker_state b SET probe = l.task_id, probe_token = l.token
  FROM lease l
 WHERE b.scope = %(scope)s AND b.name = %(name)s AND b.state = 'half_open'
   AND l.task_id = %(task)s
"""


def set_probe(guarded: Guarded, task: UUID) -> None:
    """Note which task a half-open breaker let through, under which lease."""
    sql.execute(SET_PROBE, {**guarded._asdict(), "task": task})


# Refill and spend in one statement, on the database's clock: right across replicas. An instant
# ahead was written before the clock was set back, and the bucket goes on from this moment.
SPEND = """
INSERT INTO limit_state AS s (limit_id, tokens)
SELECT l.name, l.burst - i.weight
  FROM unnest(%(names)s::text[], %(weights)s::float8[]) AS i(name, weight)
  JOIN shared_limit l ON l.name = i.name
ON CONFLICT (limit_id) DO UPDATE
   SET tokens = least(
           (SELECT l.burst FROM shared_limit l WHERE l.name = s.limit_id),
           s.tokens + abs(extract(epoch FROM statement_timestamp() - s.at))
               * (SELECT l.rate_per_second FROM shared_limit l WHERE l.name = s.limit_id))
           - (SELECT i.weight
                FROM unnest(%(names)s::text[], %(weights)s::float8[]) AS i(name, weight)
               WHERE i.name = s.limit_id),
       at = statement_timestamp()
"""


def spend_tokens(spent: Mapping[str, float]) -> None:
    """Take the weight handed out this round from the token buckets."""
    if spent:
        sql.execute(SPEND, {"names": list(spent), "weights": [spent[name] for name in spent]})


PAUSE_LIMIT = """
INSERT INTO limit_state AS s (limit_id, tokens, paused_until)
SELECT name, burst, statement_timestamp() + %(seconds)s * interval '1 second'
  FROM shared_limit WHERE name = %(name)s
ON CONFLICT (limit_id) DO UPDATE
   SET paused_until = greatest(s.paused_until, excluded.paused_until)
"""


def pause_limit(name: str, seconds: float) -> None:
    """Pause a limit because the other side asked for it (429 with Retry-After)."""
    sql.execute(PAUSE_LIMIT, {"name": name, "seconds": seconds})


CREDIT = """
INSERT INTO retry_credit AS c (kind_id, credit)
SELECT i.kind, least(%(most)s, %(free)s + k.retry_budget * i.firsts)
  FROM unnest(%(kinds)s::text[], %(firsts)s::bigint[]) AS i(kind, firsts)
  JOIN kind k ON k.name = i.kind
 WHERE k.retry_budget IS NOT NULL
ON CONFLICT (kind_id) DO UPDATE
   SET credit = greatest(c.credit, least(%(most)s, c.credit + excluded.credit - %(free)s))
"""


def earn_credit(firsts: Mapping[str, int]) -> None:
    """Credit each kind with a budget its share of the first attempts handed out in a round."""
    if firsts:
        sql.execute(
            CREDIT,
            {
                "kinds": list(firsts),
                "firsts": [firsts[kind] for kind in firsts],
                "free": retry_budget.FREE,
                "most": retry_budget.MOST,
            },
        )


# A kind that an admin saves at this moment has its turn in the next sweep.
QUARANTINE = """
WITH free AS (
    SELECT name FROM kind WHERE quarantined_at IS NULL ORDER BY name
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE kind k SET quarantined_at = statement_timestamp()
  FROM supervisor_settings s, free f
 WHERE k.name = f.name AND k.quarantined_at IS NULL
   AND (SELECT count(*) FROM task t
         WHERE t.kind = k.name AND t.dead_reason = 'poison'
           AND t.finished_at > greatest(
               statement_timestamp() - s.quarantine_window_seconds * interval '1 second',
               coalesce(k.quarantine_freed_at, '-infinity'))) >= s.quarantine_after
RETURNING k.name
"""


def quarantine_kinds() -> list[str]:
    """Pause the kinds whose tasks repeatedly took workers down; return their names."""
    return [name for (name,) in sql.rows(QUARANTINE)]


SET_QUARANTINE = """
UPDATE kind SET quarantined_at = statement_timestamp()
 WHERE name = %(kind)s AND quarantined_at IS NULL
"""


def quarantine_kind(kind: str) -> bool:
    """Put one into quarantine by hand; False where it is there already."""
    return sql.execute(SET_QUARANTINE, {"kind": kind}) == 1


FREE_KIND = """
UPDATE kind SET quarantined_at = NULL, quarantine_freed_at = statement_timestamp()
 WHERE name = %(kind)s AND quarantined_at IS NOT NULL
"""


def free_kind(kind: str) -> bool:
    """End a quarantine; poison tasks from before no longer count."""
    return sql.execute(FREE_KIND, {"kind": kind}) == 1


PAUSE_KIND = "UPDATE kind SET paused = %(paused)s WHERE name = %(kind)s AND paused <> %(paused)s"


def pause_kind(kind: str, paused: bool) -> bool:
    """Hand out nothing of a kind, or let it go on."""
    return sql.execute(PAUSE_KIND, {"kind": kind, "paused": paused}) == 1


# A fifth of stale_after, or less, was left: whoever looks after workers should know. Its leases are
# counted in a LATERAL part, so only where it is one: a count for each report cost 5 us a task.
NOTE_NEAR_MISS = """
INSERT INTO near_miss (worker_id, leases, silent_seconds, stale_after_seconds)
SELECT h.worker_id, held.leases, extract(epoch FROM statement_timestamp() - h.at),
       s.stale_after_seconds
  FROM (SELECT worker_id, at FROM heartbeat
         WHERE worker_id = %(worker)s
           AND at < statement_timestamp()
                    - 0.8 * (SELECT stale_after_seconds FROM supervisor_settings)
                          * interval '1 second'
        OFFSET 0) h
 CROSS JOIN supervisor_settings s
 CROSS JOIN LATERAL (SELECT count(*) AS leases FROM lease WHERE worker_id = h.worker_id) held
 WHERE held.leases > 0
"""


def note_near_miss(worker_id: UUID) -> bool:
    """Record that a worker's leases were nearly lost; called before they are renewed or end."""
    return sql.execute(NOTE_NEAR_MISS, {"worker": worker_id}) == 1
