"""How far into the ready queue a round must look."""

from collections.abc import Sequence
from typing import Final

from tasks_app.core.facts import DispatchPlan, Left, WorkerFacts
from tasks_app.core.loads import room_for

SHORTEST: Final = 100
"""Tasks a kind that are looked at even when nobody has room, so that a round can say why."""

LONGEST: Final = 1000
"""Tasks a kind that are looked at first however much room there is: a thousand workers and 100,000
ready tasks then still make rounds of less than 100 ms, and workers need not wait for a long one."""

OF_THE_TASK: Final = frozenset({Left.LOCKED, Left.LIMIT_FULL, Left.RATE_LIMITED})
"""Reasons that hold back one task and need not hold back the next of its kind."""


def first_window(workers: Sequence[WorkerFacts], backlog: float | None, window: int) -> int:
    """How many ready tasks a kind to read first: what all workers together have room for.

    Reading 2,000 to hand out 200 costs more than handing them out.

    >>> from uuid import UUID
    >>> first_window([WorkerFacts(UUID(int=1), "w1", 100, {}, active=50)], 1.0, 2000)
    150
    >>> first_window([], 1.0, 2000), first_window([], 1.0, 20)
    (100, 20)
    """
    room = sum(room_for(w.slots, w.active, backlog) for w in workers if not w.draining)
    return int(min(max(room, SHORTEST), LONGEST, window))


def must_look_further(plan: DispatchPlan, looked_at: int) -> bool:
    """Whether tasks behind those looked at might have gone in the place of some that were held.

    ``looked_at`` is what ``first_window`` said: that many assignments are enough for a round.
    """
    return len(plan.assignments) < looked_at and not OF_THE_TASK.isdisjoint(plan.left.values())
