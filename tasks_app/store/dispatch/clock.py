"""The database's clock, which may be set back, and may be another server's after a fail-over.

What is reckoned from a stored instant would stand still until the clock has come there again. So an
instant that must lie in the past and does not is taken for this moment, at each sweep, and what
ends at an instant is brought nearer by as much as the clock went back, as the leader finds by its
own last round.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tasks_app.core.actions.bulks import HOLD_SECONDS, LONGEST_WATCH_PAUSE
from tasks_app.core.attempts.retry import LONGEST_RETRY_AFTER
from tasks_app.store import sql

TOLERANCE: Final = 2.0
"""Seconds: between the statement of a round and the one that it waited for, nothing more."""

UNKNOWN: Final = 1e9
"""Seconds; where no break in the rounds is on record."""

# A round is due each tick. Where none was for half of the time after which a worker counts as
# silent, the record itself may have been away, or the clock has jumped forward.
BREAK: Final = """(SELECT greatest(stale_after_seconds / 2, 3 * tick_seconds) * interval '1 second'
                     FROM supervisor_settings WHERE id = 1)"""

READ = f"""
SELECT coalesce(extract(epoch FROM last_round_at - statement_timestamp()), 0)::float8,
       coalesce(last_round_at < statement_timestamp() - {BREAK}, false),
       coalesce(extract(epoch FROM statement_timestamp() - served_since), %(unknown)s)::float8
  FROM leader WHERE id = 1
"""  # noqa: S608  a constant


@dataclass(frozen=True, slots=True)
class Service:
    """How far the clock has gone back since the last round, and for how long rounds have been due.

    ``served_for`` is 0 in the first round after a break; seconds.
    """

    stepped_back: float
    served_for: float


def read_service() -> Service:
    """What the leader's last round tells of the clock and of itself."""
    ahead, broken, served_for = sql.row(READ, {"unknown": UNKNOWN}) or (0.0, False, UNKNOWN)
    stepped = ahead if ahead > TOLERANCE else 0.0
    return Service(stepped, 0.0 if broken or stepped else max(0.0, served_for))


# What is empty stays so: LEAST would fill it.
IN_THE_PAST: Final = (
    # By the live boots: those that have ended are many, and their heartbeats count for nothing.
    """UPDATE heartbeat h SET at = statement_timestamp(),
               previous_at = least(h.previous_at, statement_timestamp())
          FROM worker w
         WHERE w.state IN ('active', 'draining') AND h.worker_id = w.id
           AND h.at > statement_timestamp() + %(tolerance)s""",
    """UPDATE lease SET assigned_at = statement_timestamp()
         WHERE assigned_at > statement_timestamp() + %(tolerance)s""",
    """UPDATE lease SET started_at = statement_timestamp()
         WHERE started_at > statement_timestamp() + %(tolerance)s""",
    """UPDATE limit_state SET at = statement_timestamp()
         WHERE at > statement_timestamp() + %(tolerance)s""",
    """UPDATE breaker_state SET since = statement_timestamp()
         WHERE since > statement_timestamp() + %(tolerance)s""",
    """UPDATE retry_credit SET at = statement_timestamp()
         WHERE at > statement_timestamp() + %(tolerance)s""",
    """UPDATE job_turn SET at = statement_timestamp()
         WHERE at > statement_timestamp() + %(tolerance)s""",
    # These end after a time that has a bound: what is further ahead comes from another clock.
    """UPDATE limit_state SET paused_until = NULL
         WHERE paused_until > statement_timestamp() + %(tolerance)s + %(pause)s""",
    """UPDATE bulk SET look_at = statement_timestamp(),
               begins_at = least(begins_at, statement_timestamp())
         WHERE (state = 'held' AND look_at > statement_timestamp() + %(tolerance)s + %(hold)s)
            OR (state = 'running' AND look_at > statement_timestamp() + %(tolerance)s + %(watch)s)
    """,
)


def forget_the_future() -> None:
    """Take instants of small tables that lie ahead, and must not, for this moment."""
    params = {
        "tolerance": timedelta(seconds=TOLERANCE),
        "pause": timedelta(seconds=LONGEST_RETRY_AFTER),
        "hold": timedelta(seconds=HOLD_SECONDS),
        "watch": timedelta(seconds=LONGEST_WATCH_PAUSE),
    }
    sql.execute("; ".join(IN_THE_PAST), params)


# What was submitted to begin at once begins now; an instant that somebody chose is by the clock.
# Reads all that waits, once for each time that the clock is set back.
BROUGHT_NEARER: Final = (
    """UPDATE task SET run_at = run_at - %(step)s
         WHERE status = 'FAILED' AND run_at > statement_timestamp()""",
    """UPDATE task SET run_at = run_at - %(step)s, queue_at = queue_at - %(step)s
         WHERE status = 'PENDING' AND run_at > statement_timestamp()
           AND run_at <= statement_timestamp() + %(tolerance)s + %(step)s
           AND (run_at = created_at OR requeues > 0 OR total_attempts > 0)""",
    """UPDATE limit_state SET paused_until = paused_until - %(step)s
         WHERE paused_until > statement_timestamp()""",
    """UPDATE lease SET held_until = held_until - %(step)s
         WHERE held_until > statement_timestamp()""",
    """UPDATE bulk SET begins_at = begins_at - %(step)s, look_at = look_at - %(step)s
         WHERE state IN ('held', 'running') AND look_at > statement_timestamp()""",
    """UPDATE alert_delivery SET next_try_at = next_try_at - %(step)s
         WHERE state = 'waiting' AND next_try_at > statement_timestamp()""",
    """UPDATE alert_state SET sent_at = statement_timestamp()
         WHERE sent_at > statement_timestamp() + %(tolerance)s""",
    """UPDATE alert_state SET missing_since = statement_timestamp()
         WHERE missing_since > statement_timestamp() + %(tolerance)s""",
    # Alike in both: a message of an end is found by the instant of its beginning.
    """UPDATE alert_state SET began_at = began_at - %(step)s
         WHERE began_at > statement_timestamp() + %(tolerance)s""",
    """UPDATE alert_delivery SET began_at = began_at - %(step)s
         WHERE began_at > statement_timestamp() + %(tolerance)s""",
)


def bring_nearer(step: float) -> None:
    """Have what ends at an instant end when it would have, had the clock not gone back by this."""
    params = {"step": timedelta(seconds=step), "tolerance": timedelta(seconds=TOLERANCE)}
    sql.execute("; ".join(BROUGHT_NEARER), params)
