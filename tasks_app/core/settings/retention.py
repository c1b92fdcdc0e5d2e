"""How long what has ended is kept, how fast it goes, and what a change would do."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tasks_app.core.states import Status
from tasks_app.core.words import say, say_count, side_by_side


class Kept(StrEnum):
    """What has a time for which it is kept; each has a setting, ``<value>_days``."""

    COMPLETED = "completed"
    CLOSED = "closed"
    DEAD = "dead"
    JOB = "job"
    HISTORY = "history"

    @property
    def setting(self) -> str:
        """The name of its setting."""
        return f"{self.value}_days"


STATUSES: Final[Mapping[Kept, tuple[Status, ...]]] = {
    Kept.COMPLETED: (Status.COMPLETED,),
    Kept.CLOSED: (Status.CANCELLED, Status.DISMISSED, Status.SKIPPED),
    Kept.DEAD: (Status.DEAD,),
}
"""The statuses of tasks of their own, without a job, that each of them is about."""

LONGEST_DAYS: Final = 36_500
"""A century: what is reckoned back by more may lie before any time that the database knows."""

FIRST_BATCH: Final = 100
MOST: Final = 1000
LEAST: Final = 10

BATCH_SECONDS: Final = 0.02
"""A batch is sized so that it takes about as long: what a task that comes in may wait for it."""

BUSY_SHARE: Final = 0.05
IDLE_SHARE: Final = 0.5
"""The share of the leader's time that pruning may have, while work moves and while none does."""

ROW_SECONDS: Final = 0.00015
"""What a task costs to prune where none has gone yet."""


def next_size(size: int, seconds: float) -> int:
    """Rows of the next batch, after one of ``size`` that took so long; doubled at most.

    >>> next_size(100, 0.001), next_size(100, 0.02), next_size(100, 0.1), next_size(900, 0.01)
    (200, 100, 20, 1000)
    """
    wanted = size * BATCH_SECONDS / max(seconds, 1e-6)
    return int(max(LEAST, min(MOST, 2 * size, wanted)))


def rest_after(seconds: float, *, busy: bool) -> float:
    """Seconds for which pruning rests after a batch, so that it has no more than its share.

    >>> round(rest_after(0.02, busy=True), 3), round(rest_after(0.02, busy=False), 3)
    (0.38, 0.02)
    """
    share = BUSY_SHARE if busy else IDLE_SHARE
    return seconds / share - seconds


@dataclass(frozen=True, slots=True)
class Going:
    """What would go by a time: how many rows, by estimate where ``exact`` is False."""

    rows: int
    exact: bool


STATES: Final[Mapping[Kept, str]] = {
    Kept.COMPLETED: say("completed"),
    Kept.CLOSED: say("dismissed, cancelled and skipped"),
    Kept.DEAD: say("dead"),
    Kept.JOB: say("ended"),
    Kept.HISTORY: say("history"),
}


def preview_retention(
    going: Mapping[Kept, Going],
    row_seconds: float,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> Iterator[str]:
    """Say what each change would take; ``going`` is by the new times, for those that are set.

    ``row_seconds`` is what a row has cost lately.
    """
    for what in Kept:
        old, new = before.get(what.setting), after.get(what.setting)
        if old == new:
            continue
        state = STATES[what]
        if new is None:
            yield say(
                "%(state)s: kept for ever from now on; what has gone does not come back.",
                state=state,
            )
            continue
        days = say_count(
            "%(count)s day for %(state)s", "%(count)s days for %(state)s", new, state=state
        )
        found = going[what]
        if not found.rows:
            yield side_by_side(days, _nothing(what), between=": ")
            continue
        least, most = (found.rows * row_seconds / share for share in (IDLE_SHARE, BUSY_SHARE))
        yield say(
            "%(days)s: %(goes)s, over about %(least)s while nothing moves and %(most)s while work "
            "does. None of it comes back.",
            days=days,
            goes=_goes(what, found),
            least=lasting(least),
            most=lasting(most),
        )


def _nothing(what: Kept) -> str:
    if what is Kept.JOB:
        return say("no job is older, so nothing goes now.")
    if what is Kept.HISTORY:
        return say("no row is older, so nothing goes now.")
    return say("no task is older, so nothing goes now.")


def _goes(what: Kept, found: Going) -> str:
    about = f"{rounded(found.rows):,}"
    count = f"{found.rows:,}" if found.exact else say("about %(count)s", count=about)
    rows = found.rows
    if what is Kept.JOB:
        return say_count(
            "%(count)s job older than that goes",
            "%(count)s jobs older than that go",
            rows,
            count=count,
        )
    if what is Kept.HISTORY:
        return say_count(
            "%(count)s row older than that goes",
            "%(count)s rows older than that go",
            rows,
            count=count,
        )
    return say_count(
        "%(count)s task older than that goes",
        "%(count)s tasks older than that go",
        rows,
        count=count,
    )


def rounded(count: int) -> int:
    """A count to two figures.

    >>> rounded(1_234_567), rounded(98_765), rounded(7)
    (1200000, 99000, 7)
    """
    return count if count < 100 else int(round(count, 1 - math.floor(math.log10(count))))


def lasting(seconds: float) -> str:
    """How long something will last, roughly.

    >>> lasting(0.2), lasting(75), lasting(2400), lasting(10_000), lasting(400_000)
    ('1 second', '75 seconds', '40 minutes', '3 hours', '5 days')
    """
    if seconds >= 2 * 86400:
        return say_count("%(count)s day", "%(count)s days", round(seconds / 86400))
    if seconds >= 2 * 3600:
        return say_count("%(count)s hour", "%(count)s hours", round(seconds / 3600))
    if seconds >= 2 * 60:
        return say_count("%(count)s minute", "%(count)s minutes", round(seconds / 60))
    return say_count("%(count)s second", "%(count)s seconds", max(1, round(seconds)))
