"""Writes to the leader lease; every one is fenced by its epoch, on the database's clock."""

from tasks_app.store import sql

ACQUIRE = """
UPDATE leader
   SET epoch = epoch + 1,
       holder = %(holder)s,
       since = statement_timestamp(),
       expires_at = statement_timestamp() + %(ttl)s * interval '1 second'
 WHERE id = 1 AND (expires_at IS NULL OR expires_at <= statement_timestamp())
RETURNING epoch
"""


def acquire(holder: str, ttl: float) -> int | None:
    """Take the leader lease for ``ttl`` seconds if it is free; return the new epoch, or None."""
    found = sql.row(ACQUIRE, {"holder": holder, "ttl": ttl})
    return None if found is None else int(found[0])


# The fence stands last in a round's transaction: the row is locked for an instant only, and a
# leader that froze in the middle finds a higher epoch and rolls everything back.
RENEW = """
UPDATE leader
   SET expires_at = statement_timestamp() + %(ttl)s * interval '1 second',
       last_round_at = statement_timestamp()
 WHERE id = 1 AND epoch = %(epoch)s
RETURNING epoch
"""


def renew(epoch: int, ttl: float) -> bool:
    """Fence the current transaction and extend the lease; False when another leader took over."""
    return sql.row(RENEW, {"epoch": epoch, "ttl": ttl}) is not None


FREE = """
UPDATE leader SET expires_at = statement_timestamp() WHERE id = 1 AND epoch = %(epoch)s
"""


def free(epoch: int) -> bool:
    """End the shift: the next one in line takes over at once."""
    return sql.execute(FREE, {"epoch": epoch}) == 1
