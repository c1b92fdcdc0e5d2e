"""What is asked again when a task begins: is its kind open, and does its limit allow it now?

The round that hands a task out asks first (``core.limits.Gate``). A task may wait in its worker's
backlog after that, and a pause, a 429 or an open breaker means that nothing begins.
"""

from typing import Final
from uuid import UUID

from tasks_app.store import sql

# Of task ``t``. Read once a statement, from an index that is empty nearly always.
NOT_PAUSING: Final = """(t.job_id = ANY (ARRAY(
               SELECT id FROM job WHERE paused AND held_to IS NOT NULL))) IS NOT TRUE"""
"""Whether no pause of the task's job is under way that may not have reached the task yet."""

# Of lease ``l`` and its kind ``k``. A half-open breaker lets its probe begin, and nothing else. The
# subqueries run for kinds with a breaker or a limit only.
IS_OPEN: Final = """NOT k.paused AND k.quarantined_at IS NULL AND NOT k.by_people
       AND (k.breaker_failures IS NULL OR NOT EXISTS (
            SELECT FROM breaker_state b
             WHERE b.scope = 'kind' AND b.name = k.name AND b.state <> 'closed'
               AND (b.state <> 'half_open' OR b.probe_token IS DISTINCT FROM l.token)))
       AND (k.limit_name IS NULL OR NOT EXISTS (
            SELECT FROM shared_limit x
              LEFT JOIN limit_state s ON s.limit_id = x.name
              LEFT JOIN breaker_state b ON b.scope = 'limit' AND b.name = x.name
                                       AND x.breaker_failures IS NOT NULL
             WHERE x.name = k.limit_name
               AND (s.paused_until > statement_timestamp()
                    OR b.state <> 'closed'
                       AND (b.state <> 'half_open' OR b.probe_token IS DISTINCT FROM l.token))))"""

# Parts of a WITH list. ``limit_room``: what may begin now under each limit that has a cap.
# Hand-outs keep to the rate as well, but what they let through may wait in a backlog and begin all
# at once, so what begins has a token bucket of its own (``start_tokens``). The weight in flight
# counts assigned tasks too and only exceeds the cap once the cap was lowered: ``in_turn`` says that
# claims must then come one after the other, as they must wherever there is a rate.
# ``refused``: the waiting tasks of a worker for which there is no room yet. A task heavier than the
# cap or the burst begins when all of it is free, and those behind it wait for it.
# A stored instant that lies ahead was written before the database's clock was set back. All leases
# are read by their key, once, and only where a task of a limit waits and some limit has a cap.
LIMIT_ROOM: Final = """held AS (
    SELECT k.limit_name, sum(e.weight) AS weight, sum(e.begun) AS begun
      FROM (SELECT kind, sum(weight) AS weight,
                   coalesce(sum(weight) FILTER (WHERE started_at IS NOT NULL), 0) AS begun
              FROM lease
             WHERE task_id > '00000000-0000-0000-0000-000000000000'
               AND EXISTS (SELECT FROM shared_limit WHERE max_concurrent IS NOT NULL)
             GROUP BY kind) e
      JOIN kind k ON k.name = ANY (ARRAY[e.kind])
     WHERE k.limit_name IS NOT NULL
     GROUP BY k.limit_name
), limit_room AS (
    SELECT x.name, x.burst, x.max_concurrent, s.start_at,
           CASE WHEN x.rate_per_second IS NULL THEN NULL
                WHEN s.start_at <= statement_timestamp() THEN
                    least(x.burst, s.start_tokens + x.rate_per_second
                          * extract(epoch FROM statement_timestamp() - s.start_at)::float8)
                ELSE x.burst END AS tokens,
           x.max_concurrent - coalesce(h.begun, 0) AS free,
           x.rate_per_second IS NOT NULL OR coalesce(h.weight, 0) > x.max_concurrent AS in_turn
      FROM shared_limit x
      LEFT JOIN limit_state s ON s.limit_id = x.name
      LEFT JOIN held h ON h.limit_name = x.name
     WHERE x.rate_per_second IS NOT NULL OR x.max_concurrent IS NOT NULL
), refused AS (
    SELECT w.token
      FROM (SELECT l.token, l.weight, k.limit_name,
                   sum(l.weight) OVER (PARTITION BY k.limit_name ORDER BY l.token)
                       - l.weight AS ahead
              FROM lease l JOIN kind k ON k.name = ANY (ARRAY[l.kind])
             WHERE l.worker_id = %(worker)s AND l.started_at IS NULL
               AND k.limit_name IS NOT NULL) w
      JOIN limit_room r ON r.name = w.limit_name
     WHERE r.in_turn
       AND (r.tokens - w.ahead < least(w.weight, r.burst)
            OR r.free - w.ahead < least(w.weight, r.max_concurrent))
)"""

# Spends what ``locked`` begins. Of two claims that saw the same bucket the second waits for the
# first, finds that the bucket has moved and begins nothing of this limit; its worker asks again.
SPENT: Final = """spent AS (
    INSERT INTO limit_state AS s (limit_id, tokens, start_tokens, start_at)
    SELECT r.name, r.burst, coalesce(r.tokens, r.burst) - sum(k.weight), statement_timestamp()
      FROM locked k JOIN limit_room r ON r.name = k.in_turn
     WHERE k.in_turn IS NOT NULL
     GROUP BY r.name, r.burst, r.tokens
     ORDER BY r.name
    ON CONFLICT (limit_id) DO UPDATE
       SET start_tokens = excluded.start_tokens, start_at = excluded.start_at
     WHERE s.start_at IS NOT DISTINCT FROM
           (SELECT r.start_at FROM limit_room r WHERE r.name = s.limit_id)
    RETURNING s.limit_id
)"""

# Given back, or they would keep their worker's room from kinds that are open. A pause of a job is a
# hold, which its tasks have wherever they stand, or get within the next rounds.
TAKE_WITHHELD: Final = f"""
SELECT t.id, t.token
  FROM (SELECT l.task_id, l.token, NOT ({IS_OPEN}) AS withheld
          FROM lease l JOIN kind k ON k.name = ANY (ARRAY[l.kind])
         WHERE l.started_at IS NULL) l
  JOIN task t ON t.id = ANY (ARRAY[l.task_id]) AND t.token = l.token
 WHERE t.status = 'ASSIGNED' AND (l.withheld OR t.waiting_on > 0)
 ORDER BY l.task_id
 LIMIT %(limit)s
   FOR NO KEY UPDATE OF t SKIP LOCKED
"""  # noqa: S608  constants of this module


def take_withheld(limit: int) -> list[tuple[UUID, int]]:
    """Lock up to ``limit`` assigned tasks that may not begin now: (task, token)."""
    found = sql.rows_by_key(TAKE_WITHHELD, {"limit": limit})
    return [(task_id, int(token)) for task_id, token in found]
