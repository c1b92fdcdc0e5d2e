"""What a change of the thresholds and rules of alerts would do, told from the samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tasks_app.core.alerts.detection import SnapshotHeld
from tasks_app.core.alerts.notification import STANDS_SECONDS
from tasks_app.core.dispatch.advice import Pinned
from tasks_app.core.figures import short
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import Words, say, say_count, side_by_side

DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute on record: how long ago, the dead letters, the oldest task's age; seconds."""

    ago: float
    dead: int
    oldest: float | None


@dataclass(frozen=True, slots=True)
class AlertsPast:
    """What alerts are judged by as it is now, and the minutes on record, the oldest first."""

    dead: int
    oldest: float | None
    pinned: Pinned | None = None
    snapshot: SnapshotHeld | None = None
    minutes: Sequence[Minute] = ()


def preview_alerts(past: AlertsPast, before: Settings, after: Settings) -> Iterator[Words]:
    """Say of each threshold that changes whether its alert would stand, and how often it did."""
    for name, effect in EFFECTS.items():
        if before[name] != after[name]:
            yield effect(past, before[name], after[name])


def _dead(past: AlertsPast, old: float, new: float) -> Words:
    now = say_count(
        "dead at least %(most)s: there is %(count)s dead letter, so the alert %(stands)s.",
        "dead at least %(most)s: there are %(count)s dead letters, so the alert %(stands)s.",
        past.dead,
        most=new,
        stands=_stands(past.dead >= new),
    )
    return side_by_side(
        now,
        _often(past, lambda each: each.dead >= new, lambda each: each.dead >= old),
    )


def _oldest(past: AlertsPast, old: float | None, new: float | None) -> Words:
    if new is None:
        return side_by_side(
            say("oldest: no alert, however long a task waits."), _often(past, None, _older(old))
        )
    if past.oldest is None:
        now = say("oldest %(allowed)s: nothing is unfinished now.", allowed=short(new))
    else:
        now = say(
            "oldest %(allowed)s: the oldest task has waited for %(oldest)s, so the alert "
            "%(stands)s.",
            allowed=short(new),
            oldest=short(past.oldest),
            stands=_stands(past.oldest > new),
        )
    return side_by_side(now, _often(past, _older(new), _older(old)))


def _older(allowed: float | None) -> "Judge | None":
    if allowed is None:
        return None
    return lambda each: each.oldest is not None and each.oldest > allowed


def _pinned(past: AlertsPast, old: float, new: float) -> Words:
    if past.pinned is None:
        return say("pinned %(new)s: no worker is pinned now.", new=short(new))
    return say(
        "pinned %(new)s: %(worker)s has %(queued)s of queued work beside idle peers, so the alert "
        "%(stands)s.",
        new=short(new),
        worker=past.pinned.name,
        queued=short(past.pinned.queued_seconds),
        stands=_stands(past.pinned.queued_seconds >= new),
    )


def _snapshot(past: AlertsPast, old: float, new: float) -> Words:
    if past.snapshot is None:
        return say("snapshot %(new)s: no transaction is open now.", new=short(new))
    return say(
        "snapshot %(new)s: the longest transaction has been open for %(open)s, so the alert "
        "%(stands)s.",
        new=short(new),
        open=short(past.snapshot.seconds),
        stands=_stands(past.snapshot.seconds > new),
    )


def _stands(holds: bool) -> Words:
    return say("would stand now") if holds else say("would not stand now")


Judge = Callable[[Minute], bool]

EFFECTS: Final[Mapping[str, Callable[..., Words]]] = {
    "dead_at_least": _dead,
    "oldest_seconds": _oldest,
    "pinned_seconds": _pinned,
    "snapshot_seconds": _snapshot,
}
"""The threshold, and the function that tells what a change of it would do."""


def _often(past: AlertsPast, new: Judge | None, old: Judge | None) -> Words:
    """Say how often the alert would have begun, beside how often it did."""
    if not past.minutes:
        return say("No minute is on record yet that it could be held against.")
    day = [each for each in past.minutes if each.ago <= DAY]
    begun = {
        "day": beginnings(day, new),
        "day_now": beginnings(day, old),
        "month": beginnings(past.minutes, new),
        "month_now": beginnings(past.minutes, old),
    }
    return say(
        "Times that it would have begun: %(day)s within a day (now %(day_now)s), %(month)s in the "
        "%(span)s on record (now %(month_now)s).",
        span=_span(past.minutes[0].ago),
        **{name: f"{count:,}" for name, count in begun.items()},
    )


def _span(seconds: float) -> Words | str:
    days = round(seconds / DAY)
    return say("%(days)s days", days=days) if days >= 2 else short(seconds)


def beginnings(minutes: Sequence[Minute], judge: Judge | None) -> int:
    """How often an alert would have begun over these minutes.

    >>> minutes = [Minute(60.0 * each, dead, None) for each, dead in enumerate((0, 2, 3, 1, 2))]
    >>> beginnings(minutes, lambda each: each.dead >= 2)
    2
    """
    if judge is None:
        return 0
    held = [False, *map(judge, minutes)]
    return sum(now and not before for before, now in pairwise(held))


@dataclass(frozen=True, slots=True)
class Told:
    """The beginnings of an alert that were sent within a week, and how many of it stand now.

    ``sent`` maps each key to the instants in seconds, in order.
    """

    sent: Mapping[str, Sequence[float]] = field(default_factory=dict)
    standing: int = 0


def preview_rule(told: Told, before: Settings, after: Settings) -> Iterator[Words]:
    """Say what would and would not have been sent."""
    sent = sum(map(len, told.sent.values()))
    if before["sent"] != after["sent"]:
        yield _sent(sent, told.standing, after["sent"])
    minutes = after["repeat_minutes"]
    if before["repeat_minutes"] == minutes:
        return
    dropped = sum(repeats(at, 60.0 * minutes) for at in told.sent.values())
    said = say(
        "repeat after %(span)s: of %(sent)s within a week, %(dropped)s would not have been sent.",
        span=short(60.0 * minutes),
        sent=say_count("%(count)s message", "%(count)s messages", sent),
        dropped=f"{dropped:,}",
    )
    if minutes > before["repeat_minutes"]:
        yield said
    else:
        kept = say(
            "What was kept back for %(old)s is not on record.",
            old=short(60.0 * before["repeat_minutes"]),
        )
        yield side_by_side(said, kept)


def _sent(sent: int, standing: int, wanted: bool) -> Words:
    if wanted:
        return say_count(
            "sent: %(count)s of this alert stands now; if it has stood for %(span)s, it is told.",
            "sent: %(count)s of this alert stand now; each that has stood for %(span)s is told.",
            standing,
            span=short(STANDS_SECONDS),
        )
    return say_count(
        "not sent: %(count)s message of the last week would not have gone out.",
        "not sent: %(count)s messages of the last week would not have gone out.",
        sent,
    )


def repeats(at: Sequence[float], quiet: float) -> int:
    """How many of these would have been kept back, for one was sent shortly before; seconds.

    >>> repeats([0, 50, 90, 200], quiet=60)
    1
    """
    kept, last = 0, float("-inf")
    for instant in at:
        if instant - last < quiet:
            kept += 1
        else:
            last = instant
    return kept
