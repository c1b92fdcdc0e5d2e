"""What a change of the supervisor's own settings would do, told in sentences with figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tasks_app.core.figures import short
from tasks_app.core.settings.breaker_previews import openings
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import say, say_count, side_by_side


@dataclass(frozen=True, slots=True)
class Ahead:
    """What live workers hold now: their slots, and tasks beyond those; ``begun`` are under way."""

    workers: int
    slots: int
    held: int
    begun: int
    beyond: int


@dataclass(frozen=True, slots=True)
class RoundsPast:
    """Rounds of the last hour, the longest in seconds, and what their sweeps have found."""

    rounds: int
    longest: float
    promoted: int
    reclaimed: int


def preview_backlog(ahead: Ahead, before: Settings, after: Settings) -> str:
    """Say how far ahead workers could be given tasks, beside how far they are now.

    >>> told = preview_backlog(Ahead(3, 12, 20, 9, 8), {"backlog": 1.0}, {"backlog": 0.0})
    >>> told.partition(";")[0]
    'backlog 0: 3 workers with 12 slots may hold 0 tasks beyond those (now 12)'
    """

    old, new = before["backlog"], after["backlog"]
    now = say("any number") if old is None else f"{int(ahead.slots * old):,}"
    told = {
        "workers": say_count("%(count)s worker", "%(count)s workers", ahead.workers),
        "slots": say_count("%(count)s slot", "%(count)s slots", ahead.slots),
        "now": now,
        "beyond": f"{ahead.beyond:,}",
        "waiting": f"{ahead.held - ahead.begun:,}",
        "held": f"{ahead.held:,}",
    }
    if new is None:
        return say(
            "backlog unlimited: %(workers)s with %(slots)s may hold any number of "
            "tasks beyond those (now %(now)s); they hold %(beyond)s beyond them, and have not "
            "begun %(waiting)s of their %(held)s.",
            **told,
        )
    allowed = int(ahead.slots * new)
    said = say(
        "backlog %(named)s: %(workers)s with %(slots)s may hold %(allowed)s "
        "beyond those (now %(now)s); they hold %(beyond)s beyond them, and have not begun "
        "%(waiting)s of their %(held)s.",
        named=f"{new:g}",
        allowed=say_count("%(count)s task", "%(count)s tasks", allowed),
        **told,
    )
    stays = say("What they hold already stays with them.")
    return side_by_side(said, stays) if ahead.beyond > allowed else said


def preview_tick(past: RoundsPast, before: Settings, after: Settings) -> str:
    """Say how often there would be a round where nothing happens, and what waits for one."""
    new, old = after["tick_seconds"], before["tick_seconds"]
    told = say(
        "tick %(new)s: a quiet supervisor makes %(then)s rounds an hour (now %(now)s); the "
        "%(promoted)s retries and %(reclaimed)s lost leases of the last hour would each have "
        "waited for one for up to %(new)s (now %(old)s).",
        new=short(new),
        old=short(old),
        then=f"{3600 / new:,.0f}",
        now=f"{3600 / old:,.0f}",
        promoted=f"{past.promoted:,}",
        reclaimed=f"{past.reclaimed:,}",
    )
    if past.longest <= new:
        return told
    took = {"rounds": f"{past.rounds:,}", "longest": short(past.longest)}
    return side_by_side(told, say("The longest of %(rounds)s rounds took %(longest)s.", **took))


def preview_quarantine(
    poisoned: Mapping[str, Sequence[float]], before: Settings, after: Settings
) -> str:
    """Say which kinds the poison tasks of a day would have put into quarantine.

    ``poisoned`` holds, by kind, the instants of their deaths in seconds, in order.
    """

    def caught(settings: Settings) -> str:
        most, window = settings["quarantine_after"], settings["quarantine_window_seconds"]
        found = [k for k, at in poisoned.items() if openings(at, most, window, open_for=inf)]
        if not found:
            return say("no kind")
        first = ", ".join(sorted(found)[:3])
        if len(found) <= 3:
            return first
        return say("%(kinds)s and %(rest)s others", kinds=first, rest=len(found) - 3)

    tasks = sum(map(len, poisoned.values()))
    window = short(after["quarantine_window_seconds"])
    return say(
        "quarantine after %(most)s in %(window)s: by the %(tasks)s poison tasks of the last day, "
        "it would have caught %(then)s (now: %(now)s).",
        most=after["quarantine_after"],
        window=window,
        tasks=f"{tasks:,}",
        then=caught(after),
        now=caught(before),
    )
