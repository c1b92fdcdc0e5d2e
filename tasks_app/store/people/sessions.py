"""Log-ins: ended by their keys, cleared away once they have expired, unlocked."""

from collections.abc import Sequence

from tasks_app.store import sql

END = "DELETE FROM django_session WHERE session_key = ANY (%(keys)s)"


def end_sessions(keys: Sequence[str]) -> int:
    """End these log-ins; return how many there were."""
    return sql.execute(END, {"keys": list(keys)})


CLEAR = """
DELETE FROM django_session
 WHERE session_key IN (SELECT session_key FROM django_session
                        WHERE expire_date < statement_timestamp()
                        ORDER BY expire_date LIMIT %(limit)s)
"""


def clear_expired(limit: int) -> int:
    """Take away so many expired log-ins at most; return how many there were."""
    return sql.execute(CLEAR, {"limit": limit})


UNLOCK = """
DELETE FROM axes_accessattempt WHERE id = ANY (%(ids)s)
RETURNING username, host(ip_address), failures_since_start
"""


def unlock(ids: Sequence[int]) -> Sequence[tuple[str | None, str | None, int]]:
    """Forget wrong passwords that were counted; return name, network and count of each."""
    return [(row[0], row[1], row[2]) for row in sql.rows(UNLOCK, {"ids": list(ids)})]
