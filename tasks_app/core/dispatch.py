"""One round's decision: which ready task goes to which worker, and why the others stay."""

import math
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from tasks_app.core.facts import (
    Assignment,
    DispatchPlan,
    KindPolicy,
    Left,
    Order,
    Snapshot,
    TaskFacts,
)
from tasks_app.core.loads import Pools, WorkerLoad
from tasks_app.core.strategies import STRATEGIES, KindView, Strategy


def plan_dispatch(snapshot: Snapshot) -> DispatchPlan:
    """Decide one round: every ready task is either assigned or in ``left`` with its reason.

    The same snapshot always gives the same plan, whatever the order of its sequences. ``cursors``
    has the kinds whose cursor moved.
    """
    policies = {
        kind: snapshot.kinds.get(kind) or KindPolicy(kind)
        for kind in sorted({task.kind for task in snapshot.ready})
    }
    strategies, idle = _open_kinds(snapshot, policies)
    assignments: list[Assignment] = []
    left: dict[UUID, Left] = {}
    for task in in_dispatch_order(snapshot.ready, policies):
        kind = task.kind
        reason = idle.get(kind)
        if reason is not None:
            left[task.id] = reason
            continue
        load = strategies[kind].pick(task.estimate)
        if load is None:
            # Nobody gains room within a round, so the rest of the kind need not ask again.
            left[task.id] = idle[kind] = strategies[kind].busy
            continue
        expected = task.estimate / load.facts.skills[kind]
        load.take(expected)
        assignments.append(Assignment(task.id, load.facts.id, kind, expected))
    return DispatchPlan(assignments, left, _moved_cursors(strategies, policies))


def in_dispatch_order(
    ready: Iterable[TaskFacts], policies: Mapping[str, KindPolicy]
) -> Sequence[TaskFacts]:
    """The tasks in the order in which they are handed out: by ``queue_at``, then by id.

    A ``longest_first`` kind rearranges its tasks of one priority among the places that they hold,
    longest estimate first, and so takes nothing from other kinds and priorities.
    """
    queue = sorted(ready, key=lambda task: (task.queue_at, task.id.int))
    places: dict[tuple[str, int], list[int]] = {}
    for place, task in enumerate(queue):
        if policies[task.kind].order is Order.LONGEST_FIRST:
            places.setdefault((task.kind, task.priority), []).append(place)
    for held in places.values():
        longest_first = sorted((queue[place] for place in held), key=lambda task: -task.estimate)
        for place, task in zip(held, longest_first, strict=True):
            queue[place] = task
    return queue


def _open_kinds(
    snapshot: Snapshot, policies: Mapping[str, KindPolicy]
) -> tuple[dict[str, Strategy], dict[str, Left]]:
    """A strategy for each kind that can be handed out, and for each other kind why it cannot."""
    idle = {kind: Left.KIND_PAUSED for kind, policy in policies.items() if policy.paused}
    able: dict[str, list[WorkerLoad]] = {kind: [] for kind in policies if kind not in idle}
    workers = sorted(snapshot.workers, key=lambda worker: (worker.name, worker.id.int))
    for rank, worker in enumerate(workers):
        if worker.draining or worker.slots < 1:
            continue
        load = WorkerLoad(worker, rank, snapshot.backlog)
        for kind, skill in worker.skills.items():
            if kind in able and 0 < skill < math.inf:
                able[kind].append(load)
    pools = Pools()
    strategies: dict[str, Strategy] = {}
    for kind, loads in able.items():
        if loads:
            view = KindView(policies[kind], loads, pools, snapshot.seed)
            strategies[kind] = STRATEGIES[policies[kind].strategy](view)
        else:
            idle[kind] = Left.NO_CAPABLE_WORKER
    return strategies, idle


def _moved_cursors(
    strategies: Mapping[str, Strategy], policies: Mapping[str, KindPolicy]
) -> dict[str, int]:
    return {
        kind: strategy.cursor
        for kind, strategy in strategies.items()
        if strategy.cursor is not None and strategy.cursor != policies[kind].cursor
    }
