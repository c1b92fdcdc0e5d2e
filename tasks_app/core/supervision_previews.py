"""What a change of the supervisor's own settings would do, told in sentences with figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tasks_app.core.previews import Settings, openings, short


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

    def most(settings: Settings) -> str:
        backlog = settings["backlog"]
        return "any number of" if backlog is None else f"{int(ahead.slots * backlog):,}"

    named = "unlimited" if after["backlog"] is None else f"{after['backlog']:g}"
    now = most(before).removesuffix(" of")
    told = (
        f"backlog {named}: {ahead.workers:,} workers with {ahead.slots:,} slots may hold "
        f"{most(after)} tasks beyond those (now {now}); they hold {ahead.beyond:,} beyond them, "
        f"and have not begun {ahead.held - ahead.begun:,} of their {ahead.held:,}."
    )
    allowed = inf if after["backlog"] is None else int(ahead.slots * after["backlog"])
    return told + (" What they hold already stays with them." if ahead.beyond > allowed else "")


def preview_tick(past: RoundsPast, before: Settings, after: Settings) -> str:
    """Say how often there would be a round where nothing happens, and what waits for one."""
    new, old = after["tick_seconds"], before["tick_seconds"]
    told = (
        f"tick {short(new)}: a quiet supervisor makes {3600 / new:,.0f} rounds an hour (now "
        f"{3600 / old:,.0f}); the {past.promoted:,} retries and {past.reclaimed:,} lost leases of "
        f"the last hour would each have waited for one for up to {short(new)} (now {short(old)})."
    )
    if past.longest <= new:
        return told
    return f"{told} The longest of {past.rounds:,} rounds took {short(past.longest)}."


def preview_quarantine(
    poisoned: Mapping[str, Sequence[float]], before: Settings, after: Settings
) -> str:
    """Say which kinds the poison tasks of a day would have put into quarantine.

    ``poisoned`` holds, by kind, the instants of their deaths in seconds, in order.
    """

    def caught(settings: Settings) -> str:
        most, window = settings["quarantine_after"], settings["quarantine_window_seconds"]
        found = [k for k, at in poisoned.items() if openings(at, most, window, open_for=inf)]
        rest = f" and {len(found) - 3} others" if len(found) > 3 else ""
        return ", ".join(sorted(found)[:3]) + rest if found else "no kind"

    tasks = sum(map(len, poisoned.values()))
    window = short(after["quarantine_window_seconds"])
    return (
        f"quarantine after {after['quarantine_after']} in {window}: by the {tasks:,} poison tasks "
        f"of the last day, it would have caught {caught(after)} (now: {caught(before)})."
    )
