"""Writes to workers, their capabilities and their heartbeats."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from tasks_app.store import sql
from tasks_app.store.settings.kinds import ensure_kinds

NEVER_SILENT: Final = 1e9
"""Seconds; no worker's heartbeat is that old."""

# Two boots of one name at once do not see each other before they commit, and the second would break
# the unique index: it waits instead, and replaces the first. Freed with the transaction.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0))"

# One that had been silent for some heartbeats was gone before: its successor is no reason.
REPLACE = """
UPDATE worker w SET state = 'lost', ended_at = statement_timestamp(),
       ending = CASE WHEN w.state = 'draining' THEN 'draining'
                     WHEN h.at < statement_timestamp() - %(silent_after)s * interval '1 second'
                       THEN 'silent'
                     ELSE 'replaced' END
  FROM heartbeat h
 WHERE w.name = %(name)s AND w.state IN ('active', 'draining') AND h.worker_id = w.id
RETURNING w.id
"""

INSERT = """
INSERT INTO worker (id, name, host, pid, version, slots)
VALUES (%(id)s, %(name)s, %(host)s, %(pid)s, %(version)s, %(slots)s)
"""

DECLARE = """
INSERT INTO capability (worker_id, kind, skill)
SELECT %(id)s, k, s FROM unnest(%(kinds)s::text[], %(skills)s::float8[]) AS offered(k, s)
"""

FIRST_HEARTBEAT = "INSERT INTO heartbeat (worker_id) VALUES (%(id)s)"


def register(
    worker_id: UUID,
    *,
    name: str,
    host: str,
    pid: int,
    version: str,
    slots: int,
    skills: Mapping[str, float],
    silent_after: float = NEVER_SILENT,
) -> list[UUID]:
    """Begin a boot under a new identity; return the older boots of that name, lost from now on.

    One that gave no sign of life for ``silent_after`` seconds counts as silent, not as replaced.

    A kind that a worker offers exists from then on.
    """
    sql.execute(ONE_AT_A_TIME, {"name": name})
    replaced = [
        found for (found,) in sql.rows(REPLACE, {"name": name, "silent_after": silent_after})
    ]
    sql.execute(
        INSERT,
        {
            "id": worker_id,
            "name": name,
            "host": host,
            "pid": pid,
            "version": version,
            "slots": slots,
        },
    )
    kinds = sorted(skills)
    ensure_kinds(kinds)
    sql.execute(
        DECLARE,
        {"id": worker_id, "kinds": kinds, "skills": [float(skills[kind]) for kind in kinds]},
    )
    sql.execute(FIRST_HEARTBEAT, {"id": worker_id})
    return replaced


# Before the beat, so that one that waited for a sweep sees whether it marked the worker lost: a
# worker whose sign of life was accepted counts on its leases from then on.
LOCK_HEARTBEAT = "SELECT FROM heartbeat WHERE worker_id = %(id)s FOR UPDATE"

# A worker that was lost or replaced gets no row back: its word no longer counts.
BEAT = """
UPDATE heartbeat h
   SET previous_at = h.at,
       at = statement_timestamp(),
       held = %(tokens)s::bigint[],
       progress = %(progress)s
  FROM worker w
 WHERE h.worker_id = %(id)s AND w.id = h.worker_id AND w.state IN ('active', 'draining')
RETURNING w.drain_asked
"""


def beat(worker_id: UUID, tokens: Sequence[int], progress: Mapping[str, Any]) -> bool | None:
    """Record a sign of life; return whether a drain is asked for, or None for an unknown boot."""
    _, found = sql.several(
        (LOCK_HEARTBEAT, BEAT),
        {"id": worker_id, "tokens": list(tokens), "progress": sql.jsonb(dict(progress))},
    )
    return bool(found[0][0]) if found else None


# The time of a boot that has ended shows only that its process outlived its end: whether it was
# alive when another took its name decides whether it was a casualty.
NOTE_ALIVE = """
UPDATE heartbeat h SET at = statement_timestamp()
  FROM worker w
 WHERE h.worker_id = %(id)s AND w.id = h.worker_id AND w.state IN ('lost', 'stopped')
"""


def note_alive(worker_id: UUID) -> None:
    """Record that the process of a boot that has ended still speaks."""
    sql.execute(NOTE_ALIVE, {"id": worker_id})


IS_REPLACED = """
SELECT EXISTS (SELECT FROM worker mine
                 JOIN worker other ON other.name = mine.name AND other.id <> mine.id
                WHERE mine.id = %(id)s AND other.state IN ('active', 'draining'))
"""


def is_replaced(worker_id: UUID) -> bool:
    """Tell of a boot that ended whether another one has its name now."""
    found = sql.row(IS_REPLACED, {"id": worker_id})
    return found is not None and bool(found[0])


DRAIN = """
UPDATE worker SET state = 'draining' WHERE id = %(id)s AND state = 'active'
"""


def drain(worker_id: UUID) -> bool:
    """The worker itself takes nothing new until it ends."""
    return sql.execute(DRAIN, {"id": worker_id}) == 1


STOP = """
UPDATE worker SET state = 'stopped', ended_at = statement_timestamp(), ending = 'left'
 WHERE id = %(id)s AND state IN ('active', 'draining')
"""


def stop(worker_id: UUID) -> bool:
    """End a boot in good order."""
    return sql.execute(STOP, {"id": worker_id}) == 1


ASK_DRAIN = """
UPDATE worker SET drain_asked = %(asked)s
 WHERE id = %(id)s AND state IN ('active', 'draining') AND drain_asked <> %(asked)s
"""


def ask_drain(worker_id: UUID, asked: bool) -> bool:
    """Record an operator's wish that a worker takes nothing new, or takes work again."""
    return sql.execute(ASK_DRAIN, {"id": worker_id, "asked": asked}) == 1


EVICT = """
UPDATE worker SET state = 'lost', ended_at = statement_timestamp(), ending = 'evicted'
 WHERE id = %(id)s AND state IN ('active', 'draining')
RETURNING name
"""


def evict(worker_id: UUID) -> str | None:
    """End a boot by an operator's word and return its name; what it reports is stale from now on.

    None where it has ended already.
    """
    found = sql.row(EVICT, {"id": worker_id})
    return None if found is None else str(found[0])


# The heartbeat is locked as well: a sign of life that commits at this instant is seen, one that is
# being written wins, and one that comes after waits and learns that it was too late.
MARK_LOST = """
WITH silent AS (
    SELECT w.id FROM worker w JOIN heartbeat h ON h.worker_id = w.id
     WHERE w.state IN ('active', 'draining')
       AND h.at < statement_timestamp() - %(stale_after)s * interval '1 second'
     ORDER BY w.id
       FOR UPDATE OF w, h SKIP LOCKED
)
UPDATE worker w SET state = 'lost', ended_at = statement_timestamp(),
       ending = CASE w.state WHEN 'draining' THEN 'draining' ELSE 'silent' END
  FROM silent s WHERE w.id = s.id
RETURNING w.name
"""


def mark_lost(stale_after: float) -> list[str]:
    """Mark the workers whose sign of life is older than ``stale_after`` seconds; return names.

    One that drained was stopped before it could leave: its manager did not wait for that.
    """
    return [name for (name,) in sql.rows(MARK_LOST, {"stale_after": stale_after})]
