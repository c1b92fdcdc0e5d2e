"""What a breaker's next state is decided on, and the credit of retry budgets."""

from typing import Final

from tasks_app.core.attempts import retry_budget
from tasks_app.core.dispatch.breakers import BreakerFacts, BreakerPolicy
from tasks_app.core.facts import Breaker, Guarded, Scope
from tasks_app.store import sql

# The probe of half-open breaker b is in work, or its end has not been judged: a sweep does that,
# once a tick, and rounds before it would send one probe after the other. An end that says nothing,
# as when the worker was lost, lets another go.
IS_PROBED: Final = """(
    EXISTS (SELECT FROM lease e WHERE e.task_id = b.probe AND e.token = b.probe_token)
    OR EXISTS (SELECT FROM attempt a
                WHERE a.token = b.probe_token
                  AND a.outcome IN ('completed', 'crashed', 'error', 'timeout')))"""

# Permanent errors speak against payloads, not against what a handler calls, unless a breaker is
# set to count them. Failures from before the breaker closed do not open it again.
BREAKERS = """
SELECT g.scope, g.name, coalesce(b.state, 'closed'),
       coalesce(abs(extract(epoch FROM statement_timestamp() - b.since)), 0)::float8,
       (SELECT count(*) FROM attempt a
         WHERE a.kind = ANY (g.kinds) AND a.outcome IN ('crashed', 'error', 'timeout')
           AND (g.breaker_counts_permanent OR a.dead_reason IS DISTINCT FROM 'permanent')
           AND a.ended_at > greatest(
               statement_timestamp() - g.breaker_window_seconds * interval '1 second',
               CASE WHEN b.since IS NULL THEN '-infinity'
                    ELSE least(b.since, statement_timestamp()) END)
           AND a.ended_at <= statement_timestamp() + interval '2 seconds'),
       (SELECT CASE WHEN a.outcome = 'completed' THEN true
                    WHEN a.dead_reason = 'permanent' AND NOT g.breaker_counts_permanent THEN true
                    WHEN a.outcome IN ('crashed', 'error', 'timeout') THEN false END
          FROM attempt a WHERE a.token = b.probe_token),
       g.breaker_failures, g.breaker_window_seconds, g.breaker_open_seconds
  FROM (SELECT 'kind' AS scope, name, ARRAY[name]::text[] AS kinds,
               breaker_failures, breaker_window_seconds, breaker_open_seconds,
               breaker_counts_permanent
          FROM kind
         UNION ALL
        SELECT 'limit', l.name,
               ARRAY(SELECT k.name::text FROM kind k WHERE k.limit_name = l.name),
               l.breaker_failures, l.breaker_window_seconds, l.breaker_open_seconds,
               l.breaker_counts_permanent
          FROM shared_limit l) g
  LEFT JOIN breaker_state b ON b.scope = g.scope AND b.name = g.name
 WHERE g.breaker_failures IS NOT NULL
"""


def read_breakers() -> dict[Guarded, tuple[BreakerFacts, BreakerPolicy]]:
    """Every kind and limit that has a breaker, with what was seen and what it is set to."""
    return {
        Guarded(Scope(r[0]), r[1]): (
            BreakerFacts(Breaker(r[2]), age=r[3], failures=int(r[4]), probe_succeeded=r[5]),
            BreakerPolicy(failures=r[6], window=r[7], open_for=r[8]),
        )
        for r in sql.rows(BREAKERS)
    }


CREDITS = """
SELECT k.name, c.credit, abs(extract(epoch FROM statement_timestamp() - c.at))::float8,
       coalesce((SELECT n.count FROM status_count n
                  WHERE n.kind = k.name AND n.status = 'FAILED'), 0)::bigint
  FROM kind k
  LEFT JOIN retry_credit c ON c.kind_id = k.name
 WHERE k.retry_budget IS NOT NULL
"""


def retry_credits() -> dict[str, float]:
    """What each kind with a retry budget has to spend now."""
    return {
        r[0]: retry_budget.FREE if r[1] is None else retry_budget.credit_now(r[1], r[2], int(r[3]))
        for r in sql.rows(CREDITS)
    }
