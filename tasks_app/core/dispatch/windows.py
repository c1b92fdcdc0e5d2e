"""How far into the ready queue a round must look."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from tasks_app.core.dispatch.worker_loads import room_for
from tasks_app.core.facts import DispatchPlan, Left, Snapshot, WorkerFacts

SHORTEST: Final = 100
"""Tasks a kind that are looked at even when nobody has room, so that a round can say why."""

OF_THE_LIMIT: Final = frozenset(
    {Left.LIMIT_FULL, Left.RATE_LIMITED, Left.LIMIT_PAUSED, Left.LIMIT_BREAKER_OPEN}
)
"""Reasons for which all kinds of a limit wait."""

LONGEST: Final = 1000
"""Tasks a kind that are looked at first however much room there is: a thousand workers and 100,000
ready tasks then still make rounds of less than 100 ms, and workers need not wait for a long one."""


def first_window(workers: Sequence[WorkerFacts], backlog: float | None, window: int) -> int:
    """How many ready tasks a kind to read first: what all workers together have room for.

    Reading 2,000 to hand out 200 costs more than handing them out.

    >>> from uuid import UUID
    >>> first_window([WorkerFacts(UUID(int=1), "w1", 100, {}, active=50)], 1.0, 2000)
    150
    >>> first_window([], 1.0, 2000), first_window([], 1.0, 20)
    (100, 20)
    """
    return int(min(max(_room(workers, backlog), SHORTEST), LONGEST, window))


def kinds_hidden_by_locks(
    snapshot: Snapshot, plan: DispatchPlan, looked_at: Mapping[str, int]
) -> list[str]:
    """The kinds of which tasks behind those looked at might go in the place of locked ones.

    ``looked_at`` says how many of each kind were asked for: where fewer came, that was all. A lock
    is the only reason that holds back one task and not the next: where a limit is full or its rate
    used up, everybody behind waits too.
    """
    if len(plan.assignments) >= min(_room(snapshot.workers, snapshot.backlog), LONGEST):
        return []
    ready = Counter(task.kind for task in snapshot.ready)
    locked = {task.kind for task in snapshot.ready if plan.left.get(task.id) is Left.LOCKED}
    waiting = {
        snapshot.kinds[task.kind].limit
        for task in snapshot.ready
        if plan.left.get(task.id) in OF_THE_LIMIT and task.kind in snapshot.kinds
    }
    return sorted(
        kind
        for kind in locked
        if ready[kind] >= looked_at.get(kind, LONGEST) and snapshot.kinds[kind].limit not in waiting
    )


def _room(workers: Sequence[WorkerFacts], backlog: float | None) -> float:
    return sum(room_for(w.slots, w.active, backlog) for w in workers if not w.draining)
