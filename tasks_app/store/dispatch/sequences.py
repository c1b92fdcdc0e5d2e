"""Repairing sequences that are behind, and the tokens that were given while they were."""

from collections.abc import Sequence

from tasks_app.store import sql
from tasks_app.store.reads.invariants.sequences import Behind

# Never backwards, whatever another process has done since it was looked at.
ADVANCE = """
SELECT setval(%(sequence)s::regclass, %(highest)s)
 WHERE %(highest)s > coalesce(pg_sequence_last_value(%(sequence)s::regclass), 0)
"""


def advance(behind: Sequence[Behind]) -> None:
    """Have each sequence go on after the highest number on record."""
    for each in behind:
        sql.execute(ADVANCE, {"sequence": each.sequence, "highest": each.highest})


# A token that is on record already cannot be recorded again when its lease ends, and one that is
# not above the task's earlier ones breaks the promise that tokens rise. The new token fences the
# worker that has the old one, as after any reclaim.
RENEW_TOKENS = """
WITH spent AS (
    SELECT l.task_id, l.token
      FROM (SELECT task_id, token, count(*) OVER (PARTITION BY token) AS holders FROM lease) l
     WHERE l.holders > 1
        OR EXISTS (SELECT FROM attempt a WHERE a.token = l.token)
        OR EXISTS (SELECT FROM attempt a WHERE a.task_id = l.task_id AND a.token > l.token)
), locked AS (
    SELECT t.id FROM task t JOIN spent s ON s.task_id = t.id AND s.token = t.token
     ORDER BY t.id
       FOR UPDATE OF t
), given AS (
    UPDATE task t SET token = nextval('lease_token') FROM locked k WHERE t.id = k.id
    RETURNING t.id, t.token
)
UPDATE lease l SET token = g.token FROM given g WHERE l.task_id = g.id
"""


def renew_tokens() -> int:
    """Give leases whose token was given before a new one; return how many had to have one."""
    return sql.execute(RENEW_TOKENS)
