"""The figures of each second: folded counts and one sample, fenced like a round."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db import DataError, IntegrityError

from tasks_app import events
from tasks_app.core.dispatch.shifts import ROUND_LENGTHS, length_class
from tasks_app.core.facts import Left
from tasks_app.services.dispatch.rounds import Deposed, RoundReport
from tasks_app.services.isolation import tell
from tasks_app.services.transactions import leading
from tasks_app.store.dispatch import dispatch, leader, sampling
from tasks_app.store.dispatch.sampling import Figures
from tasks_app.store.people import request_rates
from tasks_app.store.reads.dispatch.counts import completed_so_far
from tasks_app.store.settings import pruning

FOLD_LIMIT: Final = 50_000
MINUTE: Final = 60.0
MOST_UNPLACED: Final = 20


@dataclass(slots=True)
class Totals:
    """What the rounds since the last sample add up to; seconds."""

    rounds: int = 0
    dispatched: int = 0
    dispatch_seconds: float = 0.0
    longest_round_seconds: float = 0.0
    reclaimed: int = 0
    promoted: int = 0
    lengths: list[int] = field(default_factory=lambda: [0] * (len(ROUND_LENGTHS) + 1))
    unplaced: Callable[[], Mapping[tuple[str, Left], int]] = dict

    def add(self, report: RoundReport) -> None:
        """Count one round."""
        self.rounds += 1
        self.dispatched += report.dispatched
        if report.dispatched:
            self.dispatch_seconds += report.seconds
        self.longest_round_seconds = max(self.longest_round_seconds, report.seconds)
        self.reclaimed += report.reclaimed
        self.promoted += report.promoted
        self.lengths[length_class(report.seconds)] += 1
        self.unplaced = report.unplaced

    def unplaced_first(self) -> list[tuple[str, str, int]]:
        """What the last round could not place: kind, why, how many; the most first."""
        most_first = sorted(self.unplaced().items(), key=lambda each: (-each[1], each[0]))
        return [(kind, left.value, tasks) for (kind, left), tasks in most_first[:MOST_UNPLACED]]


class Sampler:
    """Writes one sample a second and a row a minute, for as long as one shift lasts."""

    def __init__(self) -> None:
        self.totals = Totals()
        self._due = time.monotonic()
        self._minute_due = time.monotonic()

    def due_in(self) -> float:
        """Seconds until the next sample; zero or less when it is due."""
        return self._due - time.monotonic()

    def sample(self, epoch: int, lease_seconds: float) -> None:
        """Fold the deltas and write the sample of this second. Raises Deposed."""
        self._due = time.monotonic() + 1.0
        try:
            self._write(epoch, lease_seconds)
        except (IntegrityError, DataError) as error:
            # A figure that cannot be kept leaves a gap in the charts; work must go on.
            tell("the sample of a second", error)
        self.totals = Totals()
        if time.monotonic() >= self._minute_due:
            self._minute_due = time.monotonic() + MINUTE
            _tidy(epoch, lease_seconds)

    @leading
    def _write(self, epoch: int, lease_seconds: float) -> None:
        sampling.fold_deltas(FOLD_LIMIT)
        completed, busy = completed_so_far()
        before, busy_before = sampling.sampled_until_now(completed, busy)
        sampling.record_sample(
            Figures(
                rounds=self.totals.rounds,
                dispatched=self.totals.dispatched,
                completed=max(0, completed - before),
                busy_seconds=max(0.0, busy - busy_before),
                dispatch_seconds=self.totals.dispatch_seconds,
                longest_round_seconds=self.totals.longest_round_seconds,
                reclaimed=self.totals.reclaimed,
                promoted=self.totals.promoted,
                lengths=self.totals.lengths,
                unplaced=self.totals.unplaced_first(),
            )
        )
        sampling.note_sampled(completed, busy)
        events.announce_sample()
        _fence(epoch, lease_seconds)


def _tidy(epoch: int, lease_seconds: float) -> None:
    try:
        _roll_up(epoch, lease_seconds)
    except (IntegrityError, DataError) as error:
        tell("the row of a minute", error)


@leading
def _roll_up(epoch: int, lease_seconds: float) -> None:
    sampling.roll_up_minutes()
    leader.prune_shifts()
    dispatch.forget_turns()
    request_rates.forget_idle()
    pruning.forget_notes()
    _fence(epoch, lease_seconds)


def _fence(epoch: int, lease_seconds: float) -> None:
    if not leader.renew(epoch, lease_seconds):
        raise Deposed(f"epoch {epoch} is over")
