"""Channels and rules of alerts, what is known of each, and how messages to channels fare."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tasks_app.core.alerts.notification import MOST_AN_HOUR, AlertName, ErrorSeen, Rule, Standing
from tasks_app.models import AlertRule
from tasks_app.store import sql
from tasks_app.store.reads.failures.dead_groups import read_histories
from tasks_app.store.reads.failures.dead_letters import DeadFilter, list_causes

ERRORS_LOOKED_AT: Final = 2_000
"""Newest dead letters among which new errors are sought."""

MOST_ERRORS: Final = 20

OF_AN_ERROR: Final = (f"{AlertName.NEW_ERROR}:", f"{AlertName.ERROR_BACK}:")
"""How the keys of these alerts begin; the fingerprint follows."""

CHANNELS: Final = "SELECT name FROM alert_channel WHERE enabled ORDER BY name"


def enabled_channels() -> list[str]:
    """Where alerts are sent to."""
    return [name for (name,) in sql.rows(CHANNELS)]


def rules() -> Mapping[str, Rule]:
    """How each kind of alert is sent; the default where there is no row."""
    return {row.name: Rule(row.sent, 60.0 * row.repeat_minutes) for row in AlertRule.objects.all()}


STANDINGS: Final = """
SELECT key, name, title, extract(epoch FROM began_at)::float8, told,
       extract(epoch FROM sent_at)::float8, extract(epoch FROM missing_since)::float8,
       extract(epoch FROM ended_at)::float8
  FROM alert_state
"""


@dataclass(frozen=True, slots=True)
class KnownAlert:
    """An alert that was seen: its name, its title when it was seen last, and how it stands."""

    name: str
    title: str
    standing: Standing


def known_alerts() -> Mapping[str, KnownAlert]:
    """Every alert that stands or ended within a week, by its key."""
    return {row[0]: KnownAlert(row[1], row[2], Standing(*row[3:])) for row in sql.rows(STANDINGS)}


def errors_to_tell(open_keys: Collection[str]) -> Sequence[ErrorSeen]:
    """Dead letters by error, new or back since it was dismissed, that nobody has taken on.

    One of ``open_keys`` stays new for as long as it is there, however old it has become, and
    however many other dead letters have come since: each is looked for by itself.
    """
    causes, _ = list_causes(DeadFilter(), most=ERRORS_LOOKED_AT, shown=MOST_ERRORS)
    told_of = {key.partition(":")[2] for key in open_keys if key.startswith(OF_AN_ERROR)}
    for fingerprint in sorted(told_of - {cause.key for cause in causes}):
        causes += list_causes(DeadFilter(cause=fingerprint), most=ERRORS_LOOKED_AT, shown=1)[0]
    histories = read_histories([cause.key for cause in causes])
    found = []
    for cause in causes:
        history = histories[cause.key]
        if history.assigned_to:
            continue
        told = not history.dismissed_at and f"new_error:{cause.key}" in open_keys
        if history.came_back_at or history.is_new or told:
            found.append(
                ErrorSeen(
                    cause.key,
                    cause.name,
                    cause.tasks,
                    back=bool(history.came_back_at),
                    more=cause.more,
                )
            )
    return found


SENT: Final = """
SELECT coalesce(max(n), 0) FROM (
    SELECT count(*) AS n FROM alert_delivery
     WHERE created_at BETWEEN statement_timestamp() - interval '1 hour'
                          AND statement_timestamp()
       AND event <> 'test'
       AND channel_id = ANY (%(channels)s)
     GROUP BY channel_id) sent
"""


def messages_left(channels: Sequence[str]) -> int:
    """How many messages the one of these channels may still get that got most in the last hour."""
    found = sql.row(SENT, {"channels": list(channels)})
    return max(0, MOST_AN_HOUR - int(found[0])) if found else MOST_AN_HOUR


FARING: Final = """
SELECT c.name, c.kind, c.enabled,
       (SELECT count(*) FROM alert_delivery d WHERE d.channel_id = c.name AND d.state = 'waiting'),
       (SELECT count(*) FROM alert_delivery d
         WHERE d.channel_id = c.name AND d.state = 'given_up'),
       (SELECT max(sent_at) FROM alert_delivery d WHERE d.channel_id = c.name),
       coalesce((SELECT d.fault FROM alert_delivery d WHERE d.channel_id = c.name
                  ORDER BY d.created_at DESC LIMIT 1), '')
  FROM alert_channel c
 ORDER BY c.name
 LIMIT 50
"""


@dataclass(frozen=True, slots=True)
class Faring:
    """How messages to a channel fare: those of a week, and of alerts that stand.

    ``fault``: why the latest did not go out.
    """

    name: str
    kind: str
    enabled: bool
    waiting: int
    given_up: int
    sent_at: datetime | None
    fault: str


def list_faring() -> list[Faring]:
    """Every channel."""
    return [Faring(*row) for row in sql.rows(FARING)]
