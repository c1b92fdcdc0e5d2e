"""What is left of each rate: one row a subject, refilled and spent in one statement."""

from tasks_app.store import sql

# The row is refilled by the time that has passed and one is taken, by the database's clock: right
# for any number of web processes. An instant ahead was written before the clock was set back, or,
# for the length of a lock, by who was faster: the rate goes on from this moment either way.
TAKE = """
INSERT INTO request_rate AS r (subject, remaining, at)
VALUES (%(subject)s, %(count)s - 1, statement_timestamp())
ON CONFLICT (subject) DO UPDATE
   SET remaining = least(%(count)s, r.remaining + {gained}) - 1,
       at = statement_timestamp()
 WHERE least(%(count)s, r.remaining + {gained}) >= 1
RETURNING true
"""
GAINED = """
abs(extract(epoch FROM statement_timestamp() - r.at))::float8 * %(count)s / %(seconds)s
"""
WAIT = """
SELECT greatest(0, (1 - r.remaining - {gained}) * %(seconds)s / %(count)s)::float8
  FROM request_rate r WHERE r.subject = %(subject)s
"""


def take(subject: str, count: int, seconds: float) -> float | None:
    """Take one of ``count`` in ``seconds``; None, or where none is left the seconds to wait."""
    params = {"subject": subject, "count": count, "seconds": seconds}
    if sql.row(TAKE.format(gained=GAINED), params) is not None:
        return None
    return seconds_to_wait(subject, count, seconds)


def seconds_to_wait(subject: str, count: int, seconds: float) -> float:
    """Seconds until one of ``count`` in ``seconds`` is left; nothing is taken."""
    params = {"subject": subject, "count": count, "seconds": seconds}
    found = sql.row(WAIT.format(gained=GAINED), params)
    return 0.0 if found is None else float(found[0])


GIVE_BACK = """
UPDATE request_rate SET remaining = least(%(count)s, remaining + 1) WHERE subject = %(subject)s
"""


def give_back(subject: str, count: int) -> None:
    """Undo one ``take``: what was counted beforehand was no failure."""
    sql.execute(GIVE_BACK, {"subject": subject, "count": count})


# Whatever its rate, a subject that has been idle for the longest unit of one is full again.
FORGET = """
DELETE FROM request_rate WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM request_rate
     WHERE at NOT BETWEEN statement_timestamp() - interval '1 hour'
                      AND statement_timestamp() + interval '1 hour'
     LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
"""


def forget_idle() -> int:
    """Drop rows of an hour ago, a bounded number each minute; return how many."""
    return sql.execute(FORGET, {"limit": sql.CLEARED_AT_ONCE})
