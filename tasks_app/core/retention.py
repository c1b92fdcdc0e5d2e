"""How long what has ended is kept, how fast it goes, and what a change would do."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tasks_app.core.states import Status


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


NOUNS: Final[Mapping[Kept, tuple[str, str]]] = {
    Kept.COMPLETED: ("completed", "task"),
    Kept.CLOSED: ("dismissed, cancelled and skipped", "task"),
    Kept.DEAD: ("dead", "task"),
    Kept.JOB: ("ended", "job"),
    Kept.HISTORY: ("history", "row"),
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
        state, noun = NOUNS[what]
        if new is None:
            yield f"{state}: kept for ever from now on; what has gone does not come back."
            continue
        days = f"{new:,} day{'' if new == 1 else 's'}"
        found = going[what]
        if not found.rows:
            yield f"{days} for {state}: no {noun} is older, so nothing goes now."
            continue
        number = f"{found.rows:,}" if found.exact else f"about {rounded(found.rows):,}"
        goes = f"{noun} older than that goes" if found.rows == 1 else f"{noun}s older than that go"
        least, most = (found.rows * row_seconds / share for share in (IDLE_SHARE, BUSY_SHARE))
        yield (
            f"{days} for {state}: {number} {goes}, over about {lasting(least)} while nothing "
            f"moves and {lasting(most)} while work does. None of it comes back."
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
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}s"
    whole = max(1, round(seconds))
    return f"{whole} second{'' if whole == 1 else 's'}"
