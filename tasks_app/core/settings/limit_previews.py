"""What it would do to a kind to come under a shared limit, told from what ran lately."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.dispatch.limits import refill
from tasks_app.core.figures import short
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import Words, say, say_count

NOTICED: Final = 0.05
"""Seconds: a shorter wait is lost in the time between two rounds."""


@dataclass(frozen=True, slots=True)
class Held:
    """One attempt as a limit sees it: when it was handed out, for how long it was held; seconds.

    ``joins``: it is of the kind that would come under the limit; the others are under it.
    """

    at: float
    seconds: float
    weight: float = 1.0
    joins: bool = True


@dataclass(frozen=True, slots=True)
class JoinPast:
    """The attempts of a day of a kind and of those under a limit, and the weight held by each now.

    ``under`` is what the limit's kinds hold, ``joining`` what the kind does.
    """

    attempts: Sequence[Held] = ()
    under: float = 0.0
    joining: float = 0.0


def preview_join(past: JoinPast, name: str, limit: Settings) -> Iterator[Words]:
    """Say what waits for a limit with these settings, now and by the attempts of a day."""
    yield _now(past, name, limit["max_concurrent"])
    yield from preview_waits(past.attempts, limit)


def preview_waits(attempts: Sequence[Held], limit: Settings) -> Iterator[Words]:
    """Say how many of these would have waited for a limit with these settings, if it has a cap."""
    most, rate = limit["max_concurrent"], limit["rate_per_second"]
    if most is None and rate is None:
        return
    joining = sum(each.joins for each in attempts)
    if not joining:
        yield say("Nothing ran lately that could have waited for it.")
        return
    waits = waits_under(attempts, most, rate, limit["burst"])
    late = [wait for wait in waits if wait > NOTICED]
    if not late:
        yield say_count(
            "The %(count)s attempt of the last day would not have waited for it.",
            "None of the %(count)s attempts of the last day would have waited for it.",
            joining,
        )
        return
    yield say_count(
        "Of the %(whole)s of the last day %(count)s would have waited for it, for %(longest)s.",
        "Of the %(whole)s of the last day %(count)s would have waited for it, up to %(longest)s.",
        len(late),
        whole=say_count("%(count)s attempt", "%(count)s attempts", joining),
        longest=short(max(late)),
    )


def preview_leave(past: JoinPast) -> Words:
    """Say what a kind that comes under no limit any more is held back by."""
    return say(
        "limit: none; only its workers bound it, which hold %(joining)s of it now.",
        joining=f"{past.joining:g}",
    )


def _now(past: JoinPast, name: str, most: float | None) -> Words:
    told = {"name": name, "under": f"{past.under:g}", "joining": f"{past.joining:g}"}
    if most is None:
        return say(
            "limit %(name)s: it has no cap on what runs at once; its kinds hold %(under)s now, "
            "this one holds %(joining)s.",
            **told,
        )
    over = past.under + past.joining - most
    told |= {"most": f"{most:g}", "over": f"{over:g}"}
    if over <= 0:
        return say(
            "limit %(name)s: at most %(most)s at once; its kinds hold %(under)s now, this one "
            "holds %(joining)s.",
            **told,
        )
    return say(
        "limit %(name)s: at most %(most)s at once; its kinds hold %(under)s now, this one holds "
        "%(joining)s, so %(over)s must end before anything starts.",
        **told,
    )


def waits_under(
    attempts: Sequence[Held], most: float | None, rate: float | None, burst: float
) -> list[float]:
    """Seconds that each attempt of the joining kind would have waited for the limit.

    They start in the order in which they were handed out, each as soon as the cap and the rate
    allow, and are held for as long as they were.

    >>> at_once = [Held(0.0, 10.0), Held(0.0, 10.0), Held(1.0, 10.0)]
    >>> waits_under(at_once, most=2, rate=None, burst=1), waits_under(at_once, None, 0.5, 1)
    ([0.0, 0.0, 9.0], [0.0, 2.0, 3.0])
    """
    ends: list[tuple[float, float]] = []
    waits = []
    used, tokens, clock, filled = 0.0, burst, float("-inf"), float("-inf")
    for each in sorted(attempts, key=lambda one: one.at):
        clock = max(clock, each.at)
        # One that is heavier than the whole limit goes when all of it is free, as in a round.
        wanted = each.weight if most is None else min(each.weight, most)
        while ends and (ends[0][0] <= clock or (most is not None and used + wanted > most)):
            end, weight = heapq.heappop(ends)
            clock, used = max(clock, end), used - weight
        if rate is not None:
            tokens, filled = refill(tokens, clock - filled, rate, burst), clock
            missing = min(each.weight, burst) - tokens
            if missing > 0:
                clock += missing / rate
                tokens, filled = tokens + missing, clock
            tokens -= each.weight
        heapq.heappush(ends, (clock + each.seconds, each.weight))
        used += each.weight
        if each.joins:
            waits.append(clock - each.at)
    return waits
