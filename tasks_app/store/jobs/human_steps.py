"""Steps that people do: taken from the inbox, held until an hour, extended, taken back.

They are completed, released and cancelled by the statements of every other lease: the person has a
row among the workers, so that token, attempt and ledger say who it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.dispatch.gates import NOT_PAUSING

ENSURE_PERSON = """
INSERT INTO worker (id, name, slots, state, user_id)
VALUES (%(id)s, left(%(name)s, 100), 1, 'person', %(user)s)
ON CONFLICT (user_id) DO UPDATE SET name = excluded.name
RETURNING id
"""


def ensure_person(new_id: UUID, user_id: int, name: str) -> UUID:
    """The row of a user among the workers, made at their first step; return its id."""
    found = sql.row(ENSURE_PERSON, {"id": new_id, "user": user_id, "name": name})
    assert found is not None, "an upsert returns its row"
    person: UUID = found[0]
    return person


# First alone, so that the claim is judged, and its time is read, after any wait for the row.
LOCK = "SELECT id FROM task WHERE id = %(task)s FOR NO KEY UPDATE"

# Taken and begun in one. Who comes second finds that it is no longer PENDING. A lock that is held
# is looked for here for the sake of a clear word; two that take it in one instant are kept apart by
# the index of lease, and the loser's transaction is repeated.
CLAIM = f"""
WITH running AS (
    UPDATE task t
       SET status = 'RUNNING', assigned_to = %(person)s, token = nextval('lease_token'),
           attempts = t.attempts + 1, total_attempts = t.total_attempts + 1
      FROM kind k
     CROSS JOIN supervisor_settings s
     WHERE t.id = %(task)s AND t.status = 'PENDING' AND t.waiting_on < 1
       AND t.run_at <= statement_timestamp() AND t.attempts < t.max_attempts
       AND (t.deadline_at IS NULL OR t.deadline_at > statement_timestamp())
       AND k.name = t.kind AND k.by_people AND NOT k.paused AND k.quarantined_at IS NULL
       AND NOT EXISTS (SELECT FROM lease l WHERE l.lock_key = t.lock_key OFFSET 0)
       AND {NOT_PAUSING}
    RETURNING t.id, t.kind, t.token, t.lock_key, t.weight, t.estimate_seconds,
              coalesce(k.person_lease_seconds, s.person_lease_seconds) AS seconds
), leased AS (
    INSERT INTO lease (task_id, worker_id, kind, token, expected_seconds, lock_key, weight,
                       assigned_at, started_at, held_until)
    SELECT id, %(person)s, kind, token, estimate_seconds, lock_key, weight, statement_timestamp(),
           statement_timestamp(), statement_timestamp() + seconds * interval '1 second'
      FROM running
    RETURNING token, held_until
), counted AS (
    INSERT INTO status_delta (kind, status, change)
    SELECT r.kind, s.status, s.sign
      FROM running r CROSS JOIN (VALUES ('PENDING', -1), ('RUNNING', 1)) AS s(status, sign)
)
SELECT token, held_until FROM leased
"""  # noqa: S608  a constant


def claim(task_id: UUID, person: UUID) -> tuple[int, datetime] | None:
    """Begin a waiting step for a person; return token and end of the lease, or None."""
    sql.rows(LOCK, {"task": task_id})
    found = sql.rows_by_key(CLAIM, {"task": task_id, "person": person})
    return (int(found[0][0]), found[0][1]) if found else None


EXTEND = """
UPDATE lease l
   SET held_until = statement_timestamp()
           + coalesce(k.person_lease_seconds, s.person_lease_seconds) * interval '1 second'
  FROM kind k CROSS JOIN supervisor_settings s
 WHERE l.task_id = %(task)s AND l.token = %(token)s AND l.worker_id = %(person)s
   AND l.held_until IS NOT NULL AND k.name = l.kind
RETURNING l.held_until
"""


def extend(task_id: UUID, token: int, person: UUID) -> datetime | None:
    """Let a person's lease last its whole time from now; None when it is no longer theirs."""
    found = sql.row(EXTEND, {"task": task_id, "token": token, "person": person})
    return None if found is None else found[0]


@dataclass(frozen=True, slots=True)
class ExpiredStep:
    """A step that a person had for longer than their lease, locked for the transaction."""

    task_id: UUID
    token: int
    person: str


# The lease is locked too: an extension that commits between the look and the lock is seen then.
TAKE_EXPIRED = """
SELECT t.id, t.token, w.name
  FROM lease l
  JOIN task t ON t.id = ANY (ARRAY[l.task_id]) AND t.token = l.token
  JOIN worker w ON w.id = ANY (ARRAY[l.worker_id])
 WHERE l.held_until < statement_timestamp() AND t.status = 'RUNNING'
 ORDER BY l.held_until
 LIMIT %(limit)s
   FOR NO KEY UPDATE OF t, l SKIP LOCKED
"""


def take_expired(limit: int) -> list[ExpiredStep]:
    """Lock up to ``limit`` steps whose time has run out."""
    found = sql.rows_by_key(TAKE_EXPIRED, {"limit": limit})
    return [ExpiredStep(r[0], int(r[1]), r[2]) for r in found]


HELD_BY_PEOPLE = """
SELECT task_id FROM lease WHERE task_id = ANY (%(ids)s::uuid[]) AND held_until IS NOT NULL
"""


def held_by_people(ids: Sequence[UUID]) -> set[UUID]:
    """Which of these tasks a person holds; the caller has locked them."""
    if not ids:
        return set()
    return {found for (found,) in sql.rows(HELD_BY_PEOPLE, {"ids": list(ids)})}
