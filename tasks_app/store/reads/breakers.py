"""What a breaker's next state is decided on."""

from tasks_app.core.breakers import BreakerFacts, BreakerPolicy
from tasks_app.core.facts import Breaker
from tasks_app.store import sql

# Permanent errors speak against payloads, not against what a handler calls. Failures from before
# the breaker closed do not open it again.
BREAKERS = """
SELECT k.name, coalesce(b.state, 'closed'),
       coalesce(extract(epoch FROM statement_timestamp() - b.since), 0)::float8,
       (SELECT count(*) FROM attempt a
         WHERE a.kind = k.name AND a.outcome IN ('crashed', 'error', 'timeout')
           AND a.dead_reason IS DISTINCT FROM 'permanent'
           AND a.ended_at > greatest(
               statement_timestamp() - k.breaker_window_seconds * interval '1 second',
               coalesce(b.since, '-infinity'))),
       (SELECT CASE WHEN a.outcome = 'completed' OR a.dead_reason = 'permanent' THEN true
                    WHEN a.outcome IN ('crashed', 'error', 'timeout') THEN false END
          FROM attempt a WHERE a.token = b.probe_token),
       k.breaker_failures, k.breaker_window_seconds, k.breaker_open_seconds
  FROM kind k
  LEFT JOIN breaker_state b ON b.kind_id = k.name
 WHERE k.breaker_failures IS NOT NULL
"""


def read_breakers() -> dict[str, tuple[BreakerFacts, BreakerPolicy]]:
    """Every kind that has a breaker, with what was seen and what it is set to."""
    return {
        r[0]: (
            BreakerFacts(Breaker(r[1]), age=r[2], failures=int(r[3]), probe_succeeded=r[4]),
            BreakerPolicy(failures=r[5], window=r[6], open_for=r[7]),
        )
        for r in sql.rows(BREAKERS)
    }
