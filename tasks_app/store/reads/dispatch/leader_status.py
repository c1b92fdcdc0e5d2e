"""Who is on duty, judged by the record and not by anybody's word."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tasks_app.store import sql

SILENT_BEATS: Final = 3
"""Beats without a round on record after which the supervisor counts as off duty."""

# An instant ahead was written before the clock was set back: no round was recorded since, and how
# far it lies ahead is all that is known of its age. The next round's is right again.
DUTY = """
SELECT epoch, holder, since, last_round_at,
       abs(extract(epoch FROM statement_timestamp() - last_round_at))::float8,
       expires_at > statement_timestamp(),
       extract(epoch FROM expires_at - statement_timestamp())::float8
  FROM leader WHERE id = 1
"""


@dataclass(frozen=True, slots=True)
class Duty:
    """The leader lease as it stands; ages in seconds, None where nothing was ever recorded."""

    epoch: int
    holder: str
    since: datetime | None
    last_round_at: datetime | None
    last_round_age: float | None
    held: bool
    expires_in: float | None


def read_duty() -> Duty:
    """Read the leader lease."""
    found = sql.row(DUTY)
    if found is None:
        return Duty(0, "", None, None, None, False, None)
    return Duty(found[0], found[1], found[2], found[3], found[4], bool(found[5]), found[6])


def last_round_age_seconds() -> float | None:
    """Seconds since the last round on record, or None if there was none yet."""
    return read_duty().last_round_age


ACCEPTS_WRITES = "SELECT current_setting('transaction_read_only') = 'off'"


def accepts_writes() -> bool:
    """Whether this session may write: not on a standby, nor while the database is read-only."""
    found = sql.row(ACCEPTS_WRITES)
    return found is not None and bool(found[0])
