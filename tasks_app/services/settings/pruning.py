"""What has been kept for long enough goes: the leader does it beside its rounds, in small batches.

A batch is a transaction of its own, fenced like a round. It takes some hundredths of a second, and
rests the longer the more work moves, so that a round is never kept waiting for more than one.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from django.db import DataError, IntegrityError, OperationalError

from tasks_app.core.settings.retention import FIRST_BATCH, Kept, next_size, rest_after
from tasks_app.services.dispatch.rounds import Deposed
from tasks_app.services.isolation import apart, is_of_a_row, isolating
from tasks_app.services.transactions import leading
from tasks_app.store.dispatch import leader
from tasks_app.store.reads.settings.configuration import days_kept
from tasks_app.store.settings import edge_pruning, pruning
from tasks_app.store.settings.pruning import Place

log = logging.getLogger(__name__)

LOOK_AGAIN: Final = 60.0
"""Seconds until the next look, once nothing is left that would go."""

JOBS_AT_ONCE: Final = 50

EDGES_AT_ONCE: Final = 2000
"""Edges of dependents that one batch reads, and deletes."""

MOST_WIDE: Final = 10
"""Tasks with more dependents than that, and still needed, that one batch passes over."""

_row_by_row: Final[set[Kept]] = set()
"""What held a bad row in a look of this process: whole batches of it would fail again."""


class Pruner:
    """Takes one batch after the other, for as long as one shift lasts."""

    def __init__(self) -> None:
        self._due = time.monotonic()
        self._passes: deque[_Pass] = deque()
        self._gone: dict[Kept, int] = {}

    def due_in(self) -> float:
        """Seconds until the next batch; zero or less when it is due."""
        return self._due - time.monotonic()

    def prune(self, epoch: int, lease_seconds: float, *, busy: bool) -> int:
        """Take one batch, if there is one; return how many rows went. Raises Deposed.

        ``busy``: whether work moves, which leaves it less of the time.
        """
        if not self._passes:
            self._passes = deque(_passes())
        if not self._passes:
            self._due = time.monotonic() + LOOK_AGAIN
            return 0
        current = self._passes[0]
        began = time.perf_counter()
        batch = self._batch_of_sound_rows(current, epoch, lease_seconds)
        seconds = time.perf_counter() - began
        self._due = time.monotonic() + rest_after(seconds, busy=busy)
        self._gone[current.what] = self._gone.get(current.what, 0) + batch.gone
        current.place = batch.place
        self._passes.popleft()
        if not batch.over:
            # Each sort in its turn: one of which more ends than may go keeps no other waiting.
            current.size = next_size(current.size, seconds)
            self._passes.append(current)
        elif not self._passes:
            self._finish()
        return batch.gone

    def _batch_of_sound_rows(self, current: "_Pass", epoch: int, lease_seconds: float) -> "_Batch":
        """Prune a batch. Where a row is to blame this look ends, and the next goes row by row."""
        try:
            with isolating() if current.what in _row_by_row else nullcontext():
                return self._batch(current, epoch, lease_seconds)
        except (IntegrityError, DataError, OperationalError) as error:
            if not is_of_a_row(error):
                raise
            # Something that this version does not know of refers to a row, or its time, written
            # past every check, is out of the database's range. Work must go on.
            log.exception("%s cannot be pruned", current.what)
            _row_by_row.add(current.what)
            return _Batch(0, current.place, over=True)

    @leading
    def _batch(self, current: "_Pass", epoch: int, lease_seconds: float) -> "_Batch":
        began = time.perf_counter()
        # Asked for each batch: who takes a setting back wants the rest of it kept.
        days = days_kept()[current.what]
        if days is None:
            return _Batch(0, current.place, over=True)
        pruning.look_up_by_key_only()
        batch = current.step(days)
        if batch.gone:
            pruning.note(current.what, batch.gone, time.perf_counter() - began)
        if not leader.renew(epoch, lease_seconds):
            raise Deposed(f"epoch {epoch} is over")
        return batch

    def _finish(self) -> None:
        told = ", ".join(f"{rows:,} {what}" for what, rows in self._gone.items() if rows)
        if told:
            log.info("pruned what was kept for long enough: %s", told)
        self._gone = {}
        self._due = time.monotonic() + LOOK_AGAIN


def _passes() -> Iterator["_Pass"]:
    for what, days in days_kept().items():
        if days is None:
            continue
        if what is Kept.JOB:
            yield _Jobs(what)
        elif what is Kept.HISTORY:
            yield _History(what)
        else:
            yield _Tasks(what)


@dataclass(frozen=True, slots=True)
class _Batch:
    """How many rows went, how far has been looked, and whether that was the last of them."""

    gone: int
    place: Place
    over: bool


class _Pass:
    """One look at all of one sort, from the oldest on, in batches of about ``size`` rows."""

    def __init__(self, what: Kept) -> None:
        self.what = what
        self.size = FIRST_BATCH
        self.place = pruning.BEGINNING

    def step(self, days: int) -> _Batch:
        """Prune the next batch of what ended so long ago, in the transaction that is open."""
        raise NotImplementedError

    def _past(self, oldest: Sequence[tuple[UUID, datetime]]) -> Place:
        return Place(oldest[-1][1], oldest[-1][0]) if oldest else self.place


def _prune(ids: Sequence[UUID], act: Callable[[Sequence[UUID]], int]) -> int:
    return sum(apart("pruning of", ids, act, str))


@dataclass(frozen=True, slots=True)
class _Taken:
    """How many tasks went, how many were looked at, and whether more edges of the next must go."""

    gone: int
    looked_at: int
    cut: bool = False


def _prune_tasks(ids: Sequence[UUID], *, of_jobs: bool = False) -> _Taken:
    """Prune the first of these locked tasks, as far as a bounded number of edges reaches.

    One with more dependents than that first loses the edges of those that ended, some in each
    batch; it is passed over where one of those looked at has not.
    """
    for first in range(min(len(ids), MOST_WIDE)):
        portion = edge_pruning.portion_of(ids[first:], EDGES_AT_ONCE)
        if portion.whole:
            act = partial(pruning.prune_tasks, of_jobs=of_jobs)
            end = first + portion.whole
            return _Taken(_prune(ids[first:end], act), end)
        if not portion.is_needed and edge_pruning.cut_edges(ids[first], portion.dependents):
            return _Taken(0, first, cut=True)
    return _Taken(0, min(len(ids), MOST_WIDE))


class _Tasks(_Pass):
    """Tasks of their own; what somebody needs is passed over until the next look."""

    def step(self, days: int) -> _Batch:
        oldest = pruning.lock_oldest(self.what, days, self.place, self.size)
        taken = _prune_tasks([task_id for task_id, _ in oldest])
        rest = taken.cut or taken.looked_at < len(oldest)
        place = self._past(oldest[: taken.looked_at])
        return _Batch(taken.gone, place, over=not rest and len(oldest) < self.size)


class _Jobs(_Pass):
    """Ended jobs with their tasks; a large one goes in several batches, its first steps first."""

    def step(self, days: int) -> _Batch:
        oldest = pruning.lock_oldest_jobs(days, self.place, JOBS_AT_ONCE)
        jobs = [job_id for job_id, _ in oldest]
        tasks, steps = pruning.lock_tasks_of(jobs, self.size) if jobs else ([], 0)
        taken = _prune_tasks(tasks, of_jobs=True)
        gone = taken.gone + _prune(jobs, pruning.prune_jobs)
        if steps == self.size or taken.cut or taken.looked_at < len(tasks):
            # Those behind were not looked at; a job whose first steps are needed is passed over.
            stay = gone or taken.cut
            return _Batch(gone, self.place if stay else self._past(oldest[:1]), over=False)
        # All of these were looked at: what is still there is needed by somebody.
        return _Batch(gone, self._past(oldest), over=len(oldest) < JOBS_AT_ONCE)


class _History(_Pass):
    """What is on record beside tasks; the oldest always stand first."""

    def step(self, days: int) -> _Batch:
        gone = pruning.prune_ledgers(days, self.size) + pruning.prune_items(self.size)
        gone = gone or pruning.prune_bulk(days)
        return _Batch(gone, self.place, over=not gone)
