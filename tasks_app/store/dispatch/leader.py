"""Writes to the leader lease and the history of its shifts, on the database's clock."""

from typing import Final

from tasks_app.core.dispatch.shifts import ShiftEnd
from tasks_app.store import sql
from tasks_app.store.dispatch import inboxes
from tasks_app.store.dispatch.clock import BREAK, TOLERANCE
from tasks_app.store.dispatch.inboxes import Inboxes

# Whoever takes over writes down the shift that begins, and closes one whose leader could not: it
# ended with the last round on record. The holder itself, whose connection was ended, need not wait
# for the end of its own lease: a name is one thread's alone, and the new epoch fences whatever its
# old session may still be about to write. An end that lies further ahead than a lease lasts was
# written by a clock that has been set back since, or by that of another server: nobody waits for
# it.
ACQUIRE = """
WITH taken AS (
    UPDATE leader
       SET epoch = epoch + 1,
           holder = %(holder)s,
           since = statement_timestamp(),
           expires_at = statement_timestamp() + %(ttl)s * interval '1 second'
     WHERE id = 1
       AND (expires_at IS NULL OR expires_at <= statement_timestamp() OR holder = %(holder)s
            OR expires_at > statement_timestamp() + (%(ttl)s + 1) * interval '1 second')
    RETURNING epoch, holder, since, last_round_at
), lost AS (
    UPDATE shift s
       SET ended_at = greatest(s.began_at, t.last_round_at), ending = 'lost'
      FROM taken t
     WHERE s.ended_at IS NULL
), begun AS (
    INSERT INTO shift (epoch, holder, began_at, silent_seconds)
    SELECT epoch, holder, since, extract(epoch FROM since - last_round_at)::float8 FROM taken
)
SELECT epoch FROM taken
"""


def acquire(holder: str, ttl: float) -> int | None:
    """Take the leader lease for ``ttl`` seconds if it is free or the holder's own.

    Returns the new epoch, or None. The name must be one thread's alone.
    """
    found = sql.row(ACQUIRE, {"holder": holder, "ttl": ttl})
    return None if found is None else int(found[0])


WAIT_BRIEFLY = "SELECT set_config('lock_timeout', %(longest)s, true)"


def wait_briefly() -> None:
    """Have the rest of the transaction give up a statement that would wait for a lock for long."""
    sql.row(WAIT_BRIEFLY, {"longest": sql.LONGEST_WAIT})


# The fence stands last in a round's transaction: the row is locked for an instant only, and a
# leader that froze in the middle finds a higher epoch and rolls everything back.
# It also notes since when rounds have been due without a break, and by the same clock.
RENEW = f"""
UPDATE leader
   SET expires_at = statement_timestamp() + %(ttl)s * interval '1 second',
       served_since = CASE
           WHEN last_round_at < statement_timestamp() - {BREAK}
             OR last_round_at > statement_timestamp() + interval '{TOLERANCE} seconds'
           THEN statement_timestamp() ELSE served_since END,
       last_round_at = statement_timestamp()
 WHERE id = 1 AND epoch = %(epoch)s
RETURNING epoch
"""  # noqa: S608  constants


def renew(epoch: int, ttl: float) -> bool:
    """Fence the current transaction and extend the lease; False when another leader took over."""
    return sql.row(RENEW, {"epoch": epoch, "ttl": ttl}) is not None


def renew_and_look(epoch: int, ttl: float) -> Inboxes | None:
    """The same, and what else waits for the supervisor; None when another leader took over."""
    found, renewed = sql.several((inboxes.LOOK, RENEW), {"epoch": epoch, "ttl": ttl})
    return Inboxes(*found[0]) if renewed else None


FREE = """
WITH freed AS (
    UPDATE leader SET expires_at = statement_timestamp() WHERE id = 1 AND epoch = %(epoch)s
    RETURNING epoch
), ended AS (
    UPDATE shift s
       SET ended_at = statement_timestamp(), ending = %(ending)s, rounds = %(rounds)s,
           dispatched = %(dispatched)s
      FROM freed f
     WHERE s.epoch = f.epoch AND s.ended_at IS NULL
)
SELECT epoch FROM freed
"""


def free(
    epoch: int, ending: ShiftEnd = ShiftEnd.OVER, *, rounds: int = 0, dispatched: int = 0
) -> bool:
    """End the shift: the next one in line takes over at once. False when another leads already."""
    values = {"epoch": epoch, "ending": ending, "rounds": rounds, "dispatched": dispatched}
    return sql.row(FREE, values) is not None


EXPIRE = "UPDATE leader SET expires_at = statement_timestamp() WHERE id = 1 AND epoch = %(epoch)s"


def expire(epoch: int) -> None:
    """End the lease of a leader whose process is gone; who takes over closes its shift as lost."""
    sql.execute(EXPIRE, {"epoch": epoch})


STAND_BY = """
INSERT INTO replica (holder) VALUES (%(holder)s)
ON CONFLICT (holder) DO UPDATE SET seen_at = statement_timestamp()
"""


def stand_by(holder: str) -> None:
    """Note that a replica is ready to take over."""
    sql.execute(STAND_BY, {"holder": holder})


PRUNE_SHIFTS = """
DELETE FROM shift WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM shift WHERE began_at < statement_timestamp() - %(days)s * interval '1 day'
     LIMIT %(limit)s))
"""

PRUNE_REPLICAS = """
DELETE FROM replica WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM replica WHERE seen_at < statement_timestamp() - interval '1 hour'
     LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
"""

SHIFT_DAYS: Final = 7


def prune_shifts() -> None:
    """Drop shifts and replicas of long ago, a bounded number each minute."""
    sql.execute(PRUNE_SHIFTS, {"days": SHIFT_DAYS, "limit": sql.CLEARED_AT_ONCE})
    sql.execute(PRUNE_REPLICAS, {"limit": sql.CLEARED_AT_ONCE})
