"""How a worker is picked for a task: one class per strategy, opened once per kind and round.

Every strategy sees only workers that can do the kind and are not draining. None of them costs more
than O(log workers) per task, bar rebuilding what it keeps once per round.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from tasks_app.core.dispatch.worker_loads import (
    Measure,
    Pools,
    WorkerLoad,
    by_count,
    by_seconds,
    by_wait,
)
from tasks_app.core.facts import KindPolicy, Left, Load, StrategyName

MEASURES: Final[Mapping[Load, Measure]] = {Load.SECONDS: by_seconds, Load.COUNT: by_count}

MOST_SKILLS: Final = 64
"""Distinct skills of one kind that are compared exactly; past it those within a step are equal."""

SKILL_STEP: Final = 1.05
"""Ratio; a skill is somebody's estimate, and 5 % is less than anybody can estimate."""


@dataclass(frozen=True, slots=True)
class KindView:
    """What a strategy may see of one kind: its policy and the workers that can do it, by name.

    ``able`` is never empty. ``seed`` makes every random choice repeatable.
    """

    policy: KindPolicy
    able: Sequence[WorkerLoad]
    pools: Pools
    seed: int

    def skill(self, load: WorkerLoad) -> float:
        """The worker's skill at this kind."""
        return load.skill(self.policy.name)


class Strategy(ABC):
    """Picks workers for the tasks of one kind, one task after another.

    ``busy`` is why a task stays when nobody is picked; ``cursor`` is what the next round goes on
    from, None when the strategy keeps nothing.
    """

    busy: ClassVar[Left] = Left.ALL_BUSY
    cursor: int | None = None

    @abstractmethod
    def __init__(self, view: KindView) -> None:
        """Begin a round."""

    @abstractmethod
    def pick(self, estimate: float, /) -> WorkerLoad | None:
        """The worker for a task of ``estimate`` seconds, or None for the rest of the round."""


class RoundRobin(Strategy):
    """Each in turn, by name, from where the last round stopped; a full worker is passed over.

    With an unlimited backlog nobody is ever full and it is the plain ring: the first of three
    workers gets tasks 1, 4 and 7 (seed: makespan 30 s where 14 s would do).
    """

    def __init__(self, view: KindView) -> None:
        self._ring = view.able
        # The first place at or after i that may still have room; len(ring) where none is left.
        self._next = list(range(len(view.able) + 1))
        self.cursor: int = view.policy.cursor

    def pick(self, _estimate: float, /) -> WorkerLoad | None:
        """The next in the ring that has room."""
        size = len(self._ring)
        start = self.cursor % size
        place = self._open_from(start)
        if place == size:
            place = self._open_from(0)
        if place == size:
            return None
        # Past whoever got it, not on by one: else the worker after a full one gets two turns.
        self.cursor += (place - start) % size + 1
        return self._ring[place]

    def _open_from(self, place: int) -> int:
        """First place from here on with room; full ones are cut out for good (path halving)."""
        following = self._next
        while True:
            while following[place] != place:
                following[place] = following[following[place]]
                place = following[place]
            if place == len(self._ring) or self._ring[place].room >= 1:
                return place
            following[place] = place + 1


class LeastLoaded(Strategy):
    """Whoever has the least queued work per slot: expected seconds, or a count by the kind's load.

    Ties go to the worker that holds fewer leases, then to the first by name (by count: by name).
    """

    def __init__(self, view: KindView) -> None:
        self._pool = view.pools.of(view.able, MEASURES[view.policy.load])

    def pick(self, _estimate: float, /) -> WorkerLoad | None:
        """The least loaded that has room."""
        return self._pool.least()


class Capability(Strategy):
    """The best skill only, and waiting for it when it is busy; equally good ones share by load."""

    busy = Left.BEST_BUSY

    def __init__(self, view: KindView) -> None:
        best = max(view.skill(load) for load in view.able)
        peers = [load for load in view.able if view.skill(load) == best]
        self._pool = view.pools.of(peers, MEASURES[view.policy.load])

    def pick(self, _estimate: float, /) -> WorkerLoad | None:
        """The least loaded of the best."""
        return self._pool.least()


class CapableLeastLoaded(Strategy):
    """Least expected finish among those with room: seconds until a slot is free + estimate / skill.

    A free slot starts at once, however long the other slots of its worker are busy; past that the
    wait is that of the slot that ends first. Always in seconds: a count has no finish. Ties go to
    the higher skill, then to the emptier worker, then by name.
    """

    def __init__(self, view: KindView) -> None:
        # Among equal skills the shortest wait wins whatever the estimate, so one pool per skill.
        by_skill = _by_skill(view)
        skills = sorted(by_skill, reverse=True)
        self._pools = [view.pools.of(by_skill[skill], by_wait) for skill in skills]
        self._slowness = [1 / skill for skill in skills]
        # Lower bounds: a pool is asked only once it looks best, as another kind may have used it.
        self._waits = [0.0] * len(skills)

    def pick(self, estimate: float, /) -> WorkerLoad | None:
        """The one expected to finish first."""
        waits = self._waits
        while waits:
            at = self._first_to_finish(estimate) if len(waits) > 1 else 0
            load = self._pools[at].least()
            if load is None:
                del self._pools[at], self._slowness[at], waits[at]
            elif not load.wait > waits[at]:
                return load
            else:
                waits[at] = load.wait
        return None

    def _first_to_finish(self, estimate: float) -> int:
        finishes = [
            wait + estimate * slowness
            for wait, slowness in zip(self._waits, self._slowness, strict=True)
        ]
        return finishes.index(min(finishes))


class TwoChoices(Strategy):
    """The less loaded of two workers drawn at random among those with room.

    Nearly as even as least_loaded, and not every task runs after the one worker that looks idle
    because its load is misjudged.
    """

    def __init__(self, view: KindView) -> None:
        self._open = list(view.able)
        self._measure = MEASURES[view.policy.load]
        # Text seeds hash the same in every process, and kinds do not draw from one another.
        self._random = Random(f"{view.seed}/{view.policy.name}")

    def pick(self, _estimate: float, /) -> WorkerLoad | None:
        """The less loaded of a random pair."""
        first = self._draw(apart_from=None)
        if first is None:
            return None
        second = self._draw(apart_from=first)
        if second is None or self._measure(first) <= self._measure(second):
            return first
        return second

    def _draw(self, apart_from: WorkerLoad | None) -> WorkerLoad | None:
        """A random worker with room; full ones met on the way are dropped."""
        workers = self._open
        while len(workers) > (apart_from is not None):
            at = int(self._random.random() * len(workers))
            load = workers[at]
            if load.room < 1:
                workers[at] = workers[-1]
                workers.pop()
            elif load is not apart_from:
                return load
        return None


def _by_skill(view: KindView) -> Mapping[float, Sequence[WorkerLoad]]:
    """The able workers by skill, in steps where the distinct ones are too many to compare."""
    exact: dict[float, list[WorkerLoad]] = {}
    for load in view.able:
        exact.setdefault(view.skill(load), []).append(load)
    if len(exact) <= MOST_SKILLS:
        return exact
    stepped: dict[float, list[WorkerLoad]] = {}
    for skill, loads in exact.items():
        step = SKILL_STEP ** round(math.log(skill, SKILL_STEP))
        stepped.setdefault(step, []).extend(loads)
    return stepped


STRATEGIES: Final[Mapping[StrategyName, type[Strategy]]] = {
    StrategyName.ROUND_ROBIN: RoundRobin,
    StrategyName.LEAST_LOADED: LeastLoaded,
    StrategyName.CAPABILITY: Capability,
    StrategyName.CAPABLE_LEAST_LOADED: CapableLeastLoaded,
    StrategyName.TWO_CHOICES: TwoChoices,
}
