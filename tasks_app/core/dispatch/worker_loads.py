"""What each worker holds while a round hands out tasks, and pools of workers ordered by it.

Within a round a worker only ever gains work. Two things rest on that: a full worker stays full, so
it can be forgotten, and a key noted earlier is a lower bound of the true one, so a heap need not be
told when another kind gives one of its workers a task.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Final
from uuid import UUID

from tasks_app.core.bounds import (
    HIGHEST_SKILL,
    LARGEST,
    LONGEST_QUEUE,
    LOWEST_SKILL,
    MOST_SLOTS,
    clamped,
)
from tasks_app.core.facts import WorkerFacts

LoadKey = tuple[float, ...]
"""How a pool orders its workers, least first; its last item, the rank by name, makes it unique."""


def room_for(slots: int, active: int, backlog: float | None) -> float:
    """How many more tasks a worker may be assigned: slots * (1 + backlog) - active, at least 0.

    >>> room_for(slots=4, active=1, backlog=0), room_for(4, 1, 1), room_for(4, 1, 0.5)
    (3, 7, 5)
    >>> room_for(4, 1, None)
    inf
    """
    if backlog is None or not backlog <= LARGEST:
        return math.inf
    # 25 * 1.16 is 28.999999999999996: without the nudge a place would be lost to rounding.
    return max(0, math.floor(slots * (1 + backlog) + 1e-9) - active)


class WorkerLoad:
    """One worker's share of the round so far; the worker has at least one slot.

    ``rank`` is its place by name, ``room`` how many tasks it may still get, ``active`` its leases,
    ``seconds`` the expected time left on them, ``wait`` the expected seconds until one of its slots
    could begin one task more.
    """

    __slots__ = ("_free_at", "active", "facts", "rank", "room", "seconds", "slots", "wait")

    def __init__(self, facts: WorkerFacts, rank: int, backlog: float | None) -> None:
        self.facts = facts
        self.rank = rank
        self.slots = min(facts.slots, MOST_SLOTS)
        self.active = facts.active
        self.seconds = clamped(facts.queued_seconds, 0.0, LONGEST_QUEUE)
        self.room = room_for(self.slots, facts.active, backlog)
        self._free_at: list[float] | None = None
        self.wait = self._level(facts.active // self.slots)

    def skill(self, kind: str) -> float:
        """Its skill at a kind that it can do."""
        return clamped(self.facts.skills[kind], LOWEST_SKILL, HIGHEST_SKILL)

    def take(self, expected: float) -> None:
        """Add a task of ``expected`` seconds; it begins on the slot that is free first."""
        if self._free_at is None:
            self._free_at = self._spread()
        heapreplace(self._free_at, self._free_at[0] + expected)
        self.wait = self._free_at[0]
        self.room -= 1
        self.active += 1
        self.seconds += expected

    def _level(self, leases: int) -> float:
        """Seconds that this many of the leases found at the start last, one after another."""
        # The record tells only the sum, so they count as equally long. The quotient comes first:
        # with one slot it is exactly 1, and equal sums stay equal.
        return self.seconds * (leases / self.active) if self.active else 0.0

    def _spread(self) -> list[float]:
        """When each slot is free if the leases found at the start are dealt out evenly."""
        each, over = divmod(self.active, self.slots)
        # In rising order, which is a valid heap.
        return [self._level(each)] * (self.slots - over) + [self._level(each + 1)] * over


def by_seconds(load: WorkerLoad) -> LoadKey:
    """Expected seconds queued per slot; then, as estimates may be 0, leases per slot."""
    return load.seconds / load.slots, load.active / load.slots, load.rank


def by_count(load: WorkerLoad) -> LoadKey:
    """Leases per slot, whatever their length."""
    return load.active / load.slots, load.rank


def by_wait(load: WorkerLoad) -> LoadKey:
    """Expected seconds until a slot is free; then the emptier worker."""
    return load.wait, load.active / load.slots, load.rank


Measure = Callable[[WorkerLoad], LoadKey]


class Pool:
    """Some workers, of whom the least loaded that has room is known in O(log n)."""

    __slots__ = ("_heap", "_measure")

    def __init__(self, loads: Iterable[WorkerLoad], measure: Measure) -> None:
        self._measure: Final = measure
        self._heap = [(measure(load), load) for load in loads if load.room >= 1]
        heapify(self._heap)

    def least(self) -> WorkerLoad | None:
        """The least loaded worker with room, or None for the rest of the round."""
        heap = self._heap
        while heap:
            noted, load = heap[0]
            if load.room < 1:
                heappop(heap)
                continue
            key = self._measure(load)
            # Not "equal": what is no number equals nothing, and would be looked at for ever.
            if not key > noted:
                return load
            heapreplace(heap, (key, load))
        return None


class Pools:
    """The pools of one round, shared by kinds that the same workers can do.

    Fifty kinds on a uniform fleet then keep one heap in order, not fifty that go stale together.
    """

    def __init__(self) -> None:
        self._pools: dict[tuple[Measure, tuple[int, ...]], Pool] = {}

    def of(self, loads: Sequence[WorkerLoad], measure: Measure) -> Pool:
        """The pool of exactly these workers by this measure."""
        key = measure, tuple(load.rank for load in loads)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = Pool(loads, measure)
        return pool


class Backups:
    """Workers with a slot free at once, for tasks that failed on another."""

    __slots__ = ("_free",)

    def __init__(self, loads: Sequence[WorkerLoad]) -> None:
        self._free = [load for load in reversed(loads) if load.active < load.slots]

    def other_than(self, failed_on: frozenset[UUID]) -> WorkerLoad | None:
        """A worker with a free slot on which the task has not failed, or None."""
        free = self._free
        for at in range(len(free) - 1, -1, -1):
            load = free[at]
            if load.active >= load.slots or load.room < 1:
                # Within a round it stays full: forgotten, so that the search stays short.
                del free[at]
            elif load.facts.id not in failed_on:
                return load
        return None
