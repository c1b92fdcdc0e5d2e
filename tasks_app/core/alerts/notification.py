"""When an alert is told and when its end is: once each, never in a storm."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tasks_app.core.alerts.detection import (
    Alert,
    DeadWaiting,
    HeldKind,
    OffDuty,
    Overdue,
    PinnedWorker,
    SilentWorker,
    SnapshotHeld,
    Unserved,
)


class AlertName(StrEnum):
    """Every alert that can be sent; those of the overview by the names that they have there."""

    OFF_DUTY = OffDuty.name
    UNSERVED = Unserved.name
    NEW_ERROR = "new_error"
    ERROR_BACK = "error_back"
    OVERDUE = Overdue.name
    SILENT = SilentWorker.name
    HELD_KIND = HeldKind.name
    SNAPSHOT_HELD = SnapshotHeld.name
    PINNED = PinnedWorker.name
    DEAD_WAITING = DeadWaiting.name


class Event(StrEnum):
    """What a message tells."""

    BEGAN = "began"
    ENDED = "ended"
    TEST = "test"


class ChannelKind(StrEnum):
    """How a channel is reached."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class DeliveryState(StrEnum):
    """Where one message to one channel stands."""

    WAITING = "waiting"
    SENT = "sent"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class ErrorSeen:
    """Dead letters of an error that is new, or back since it was dismissed; nobody has taken it.

    ``error`` is its class or reason. Its message is left out: it may hold what no mail should.
    ``more``: there may be more than the ``tasks`` counted.
    """

    fingerprint: str
    error: str
    tasks: int
    back: bool
    more: bool = False

    @property
    def name(self) -> str:
        """Which of the two alerts it is."""
        return AlertName.ERROR_BACK if self.back else AlertName.NEW_ERROR


Told = Alert | ErrorSeen


def keyed(alert: Told) -> Mapping[str, Told]:
    """An alert by the keys under which it begins and ends, one for each thing that it is about."""
    match alert:
        case Unserved(kinds):
            return {f"unserved:{kind}": Unserved([kind]) for kind in kinds}
        case SilentWorker(worker=worker):
            about = worker
        case HeldKind(kind, hold):
            about = f"{hold}:{kind}"
        case PinnedWorker(pinned):
            about = pinned.name
        case ErrorSeen(fingerprint):
            about = fingerprint
        case _:
            return {alert.name: alert}
    return {f"{alert.name}:{about}": alert}


STANDS_SECONDS: Final = 10.0
"""An alert has stood for so long before it is told: what passes by itself is nobody's concern."""

SETTLES_SECONDS: Final = 15.0
"""It is over once it has not been seen for so long."""

MOST_AN_HOUR: Final = 30
"""Messages that a channel gets in an hour; what began meanwhile is told later, if it stands, and so
is an end."""

KEPT_DAYS: Final = 7
"""Ended alerts, and messages about them, are known for so long: none is kept back for longer."""

TRIES: Final = 8
LONGEST_PAUSE: Final = 600.0


def pause_before(next_try: int) -> float:
    """Seconds until a message is tried for the second time, third time, and so on.

    >>> [pause_before(each) for each in (2, 3, 4, 9)]
    [10.0, 20.0, 40.0, 600.0]
    """
    return min(LONGEST_PAUSE, 10.0 * 2.0 ** (next_try - 2))


@dataclass(frozen=True, slots=True)
class Rule:
    """Whether an alert is sent, and how long one of its kind and subject stays unrepeated."""

    sent: bool = True
    repeat_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one key; instants in seconds. ``told``: its beginning was."""

    began_at: float
    told: bool = False
    sent_at: float | None = None
    missing_since: float | None = None
    ended_at: float | None = None


def advance(
    known: Standing | None, *, seen: bool, now: float, rule: Rule, may_send: bool = True
) -> tuple[Standing, Event | None]:
    """What is known after one more look, and what is to be told, if anything.

    ``known`` is None for a key that is seen for the first time. ``may_send``: the hour's messages
    are not used up; what is not told now is told at a later look.
    """
    if known is None or (seen and known.ended_at is not None):
        known = Standing(began_at=now, sent_at=known.sent_at if known else None)
    if seen:
        known = replace(known, missing_since=None)
        stood = now - known.began_at >= STANDS_SECONDS
        quiet = known.sent_at is not None and now - known.sent_at < rule.repeat_seconds
        if known.told or quiet or not (stood and rule.sent and may_send):
            return known, None
        return replace(known, told=True, sent_at=now), Event.BEGAN
    if known.ended_at is not None:
        return known, None
    if known.missing_since is None:
        return replace(known, missing_since=now), None
    if now - known.missing_since < SETTLES_SECONDS or (known.told and not may_send):
        return known, None
    return replace(known, ended_at=now), Event.ENDED if known.told else None
