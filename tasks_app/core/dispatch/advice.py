"""Advice that the dashboard gives from a few numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.facts import WorkerFacts

STALE_AFTER_SPAN: Final = (3.0, 5.0)
"""Times the 99th percentile of run time (seed): shorter reclaims what is merely slow."""


def ceiling(task_seconds: float, dispatch_seconds: float) -> int | None:
    """How many workers one supervisor can keep busy: T / D; None while either is unknown (0).

    T is a task's mean run time, D the supervisor's time per dispatched task (seed: 6.2 s and
    0.15 s).

    >>> ceiling(6.2, 0.15)
    41
    """
    if task_seconds <= 0 or dispatch_seconds <= 0:
        return None
    # The nudge keeps 0.3 / 0.1 at 3.
    return math.floor(task_seconds / dispatch_seconds + 1e-9)


@dataclass(frozen=True, slots=True)
class StaleAfter:
    """Sensible bounds of ``stale_after`` in seconds; the longest is the one to choose."""

    shortest: float
    longest: float


def stale_after_from_p99(p99_seconds: float) -> StaleAfter:
    """How old a heartbeat that comes with the work itself may grow: 3 to 5 times the p99.

    >>> stale_after_from_p99(18)
    StaleAfter(shortest=54.0, longest=90.0)
    """
    low, high = STALE_AFTER_SPAN
    return StaleAfter(p99_seconds * low, p99_seconds * high)


@dataclass(frozen=True, slots=True)
class Pinned:
    """One worker with tasks queued behind its slots while most of its peers hold none.

    ``queued_seconds`` is the expected time left on all it holds, ``waiting`` how many of its tasks
    have no slot yet, ``idle`` the names of those that could run them.
    """

    name: str
    queued_seconds: float
    waiting: int
    idle: Sequence[str]


def pinned_worker(workers: Sequence[WorkerFacts]) -> Pinned | None:
    """The most pinned worker: the most seconds queued, with half of its peers or more idle.

    A peer shares a kind with it and is not draining. Half, since at the end of any run or between
    two rounds a few workers are idle without anything being wrong.
    """
    if all(worker.active for worker in workers):
        return None
    longest_first = sorted(
        (worker for worker in workers if worker.active > worker.slots),
        key=lambda worker: (-worker.queued_seconds, worker.slots - worker.active, worker.name),
    )
    return next((pinned for worker in longest_first if (pinned := _pinned(worker, workers))), None)


def _pinned(worker: WorkerFacts, workers: Sequence[WorkerFacts]) -> Pinned | None:
    peers = [
        peer
        for peer in workers
        if peer.id != worker.id
        and not peer.draining
        and not worker.skills.keys().isdisjoint(peer.skills)
    ]
    idle = sorted(peer.name for peer in peers if peer.active == 0)
    if not idle or 2 * len(idle) < len(peers):
        return None
    return Pinned(worker.name, worker.queued_seconds, worker.active - worker.slots, idle)
