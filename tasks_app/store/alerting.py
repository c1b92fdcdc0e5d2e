"""Alerts that stand, and the messages about them: an outbox, written first and sent later."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from tasks_app.core.alerts.notification import KEPT_DAYS, Event, Standing
from tasks_app.models.ids import new_id
from tasks_app.store import sql

LOCK: Final = 4_281_973_001
"""The number of the advisory lock under which alerts are judged: one process at a time."""

TAKE_TURN: Final = (
    "SELECT pg_try_advisory_xact_lock(%(lock)s), extract(epoch FROM statement_timestamp())::float8"
)


def take_turn() -> float | None:
    """Be the one that judges, until the transaction ends: the instant; None if another does."""
    found = sql.row(TAKE_TURN, {"lock": LOCK})
    return float(found[1]) if found and found[0] else None


SAVE: Final = """
INSERT INTO alert_state (key, name, began_at, told, sent_at, missing_since, ended_at, title)
VALUES (%(key)s, %(name)s, to_timestamp(%(began_at)s), %(told)s, to_timestamp(%(sent_at)s),
        to_timestamp(%(missing_since)s), to_timestamp(%(ended_at)s), %(title)s)
ON CONFLICT (key) DO UPDATE
   SET began_at = excluded.began_at, told = excluded.told, sent_at = excluded.sent_at,
       missing_since = excluded.missing_since, ended_at = excluded.ended_at,
       title = coalesce(nullif(excluded.title, ''), alert_state.title)
"""


def save(key: str, name: str, standing: Standing, title: str) -> None:
    """Write what is known of an alert; without a title the one it had stays."""
    sql.execute(
        SAVE,
        {
            "key": key,
            "name": name,
            "began_at": standing.began_at,
            "told": standing.told,
            "sent_at": standing.sent_at,
            "missing_since": standing.missing_since,
            "ended_at": standing.ended_at,
            "title": title[:300],
        },
    )


# The end is told to those who were told of the beginning, and nobody gets more than an hour's due.
QUEUE: Final = """
INSERT INTO alert_delivery (id, channel_id, key, event, began_at, body)
SELECT %(id)s, c.name, %(key)s, %(event)s, to_timestamp(%(began_at)s), %(body)s
  FROM alert_channel c
 WHERE c.name = %(channel)s
   AND (%(event)s <> 'ended' OR EXISTS (
        SELECT FROM alert_delivery d
         WHERE d.channel_id = c.name AND d.key = %(key)s AND d.event = 'began'
           AND d.began_at = to_timestamp(%(began_at)s)))
ON CONFLICT (channel_id, key, event, began_at) DO NOTHING
"""


def queue(
    channel: str, key: str, event: Event, began_at: float, body: Mapping[str, Any]
) -> UUID | None:
    """Write a message to a channel; its id, or None where there is none to send."""
    message = new_id()
    values = {
        "id": message,
        "channel": channel,
        "key": key,
        "event": event,
        "began_at": began_at,
        "body": sql.jsonb({"id": str(message), **body}),
    }
    return message if sql.execute(QUEUE, values) else None


# Held for a minute: who dies meanwhile leaves it to be sent again. An end waits for its beginning,
# and a test for no other.
CLAIM: Final = """
UPDATE alert_delivery SET tries = tries + 1,
       next_try_at = statement_timestamp() + interval '1 minute'
 WHERE id = (
    SELECT d.id FROM alert_delivery d JOIN alert_channel c ON c.name = d.channel_id
     WHERE d.state = 'waiting'
       AND d.next_try_at NOT BETWEEN statement_timestamp()
                             AND statement_timestamp() + interval '15 minutes'
       AND (c.enabled OR d.event = 'test')
       AND (%(only)s::uuid IS NULL OR d.id = %(only)s)
       AND (d.event = 'test' OR NOT EXISTS (
            SELECT FROM alert_delivery e
             WHERE e.channel_id = d.channel_id AND e.key = d.key AND e.state = 'waiting'
               AND e.id < d.id))
     ORDER BY d.next_try_at LIMIT 1
       FOR UPDATE OF d SKIP LOCKED)
RETURNING id, tries, body, (SELECT c.kind FROM alert_channel c WHERE c.name = channel_id),
          (SELECT c.address FROM alert_channel c WHERE c.name = channel_id),
          (SELECT c.secret FROM alert_channel c WHERE c.name = channel_id)
"""


@dataclass(frozen=True, slots=True)
class Message:
    """One message that is ours to send; ``tries`` counts this one."""

    id: UUID
    tries: int
    body: Mapping[str, Any]
    kind: str
    address: str
    secret: str


def claim(only: UUID | None = None) -> Message | None:
    """Take the message that has been due for longest, or a certain one; None where none is."""
    found = sql.row(CLAIM, {"only": only})
    return Message(found[0], found[1], sql.loaded(found[2]), *found[3:]) if found else None


MARK: Final = """
UPDATE alert_delivery
   SET state = %(state)s, fault = %(fault)s,
       sent_at = CASE WHEN %(state)s = 'sent' THEN statement_timestamp() END,
       next_try_at = statement_timestamp() + %(pause)s * interval '1 second'
 WHERE id = %(id)s AND state = 'waiting'
"""


def mark(message: UUID, state: str, *, fault: str = "", pause: float = 0.0) -> None:
    """Write what became of a message; one that waits on is tried again after a pause."""
    params = {"id": message, "state": state, "fault": fault[:300], "pause": pause}
    sql.execute(MARK, params)


SIGN: Final = "UPDATE alert_channel SET secret = %(secret)s WHERE name = %(name)s"


def set_secret(channel: str, secret: str) -> bool:
    """Write a channel's secret; False where there is no such channel."""
    return sql.execute(SIGN, {"name": channel, "secret": secret}) == 1


# As long as an alert stands, the message of its beginning says who is to be told of its end.
FORGET: Final = (
    """
    DELETE FROM alert_delivery WHERE ctid = ANY (ARRAY(
        SELECT d.ctid FROM alert_delivery d
         WHERE d.created_at < statement_timestamp() - %(days)s * interval '1 day'
           AND NOT EXISTS (
                SELECT FROM alert_state s
                 WHERE s.key = d.key AND s.began_at = d.began_at AND s.ended_at IS NULL)
         LIMIT %(limit)s FOR UPDATE OF d SKIP LOCKED))
    """,
    """
    DELETE FROM alert_state WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM alert_state
         WHERE ended_at < statement_timestamp() - %(days)s * interval '1 day'
         LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    """,
)


def forget() -> None:
    """Drop ended alerts of long ago, and messages that are neither young nor of one that stands."""
    for statement in FORGET:
        sql.execute(statement, {"days": KEPT_DAYS, "limit": sql.CLEARED_AT_ONCE})
