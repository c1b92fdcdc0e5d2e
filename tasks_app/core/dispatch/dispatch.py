"""One round's decision: which ready task goes to which worker, and why the others stay."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tasks_app.core.bounds import LONGEST_SECONDS, clamped
from tasks_app.core.dispatch.fairness import kinds_that_share, take_turns, turns_taken
from tasks_app.core.dispatch.limits import Gate, closed_kinds
from tasks_app.core.dispatch.strategies import STRATEGIES, KindView, Strategy
from tasks_app.core.dispatch.worker_loads import Backups, Pools, WorkerLoad
from tasks_app.core.facts import (
    Assignment,
    DispatchPlan,
    KindPolicy,
    Left,
    Order,
    Snapshot,
    TaskFacts,
    Turn,
)


@dataclass(frozen=True, slots=True)
class OpenKind:
    """Who takes the tasks of one kind in this round: its strategy, and free workers as backups."""

    strategy: Strategy
    backups: Backups


def plan_dispatch(snapshot: Snapshot) -> DispatchPlan:
    """Decide one round: every ready task is either assigned or in ``left`` with its reason.

    The same snapshot always gives the same plan, whatever the order of its sequences. ``cursors``
    has the kinds whose cursor moved.
    """
    policies = {
        kind: snapshot.kinds.get(kind) or KindPolicy(kind)
        for kind in sorted({task.kind for task in snapshot.ready})
    }
    opened, idle = _open_kinds(snapshot, policies)
    gate = Gate(snapshot)
    assignments: list[Assignment] = []
    left: dict[UUID, Left] = {}
    shared = kinds_that_share(snapshot.ready)
    queue = in_dispatch_order(snapshot.ready, policies, snapshot.turns, shared)
    for task in queue:
        kind = task.kind
        reason = idle.get(kind) or gate.admit(task, policies[kind])
        if reason is not None:
            left[task.id] = reason
            gate.pass_over(policies[kind], reason)
            continue
        estimate = clamped(task.estimate, 0.0, LONGEST_SECONDS)
        load = opened[kind].strategy.pick(estimate)
        if load is None:
            # Nobody gains room within a round, so the rest of the kind need not ask again.
            left[task.id] = idle[kind] = opened[kind].strategy.busy
            continue
        if load.facts.id in task.failed_on:
            load = opened[kind].backups.other_than(task.failed_on) or load
        expected = estimate / load.skill(kind)
        load.take(expected)
        probes = gate.take(task, policies[kind])
        assignments.append(
            Assignment(task.id, load.facts.id, kind, expected, task.lock_key, task.weight, probes)
        )
    turns = turns_taken(queue, left, shared)
    return DispatchPlan(assignments, left, _moved_cursors(opened, policies), gate.spent, turns)


def in_dispatch_order(
    ready: Iterable[TaskFacts],
    policies: Mapping[str, KindPolicy],
    turns: Mapping[Turn, float],
    shared: Collection[str],
) -> Sequence[TaskFacts]:
    """The tasks in the order in which they are handed out: by ``queue_at``, then by id.

    The tasks of one kind and priority rearrange themselves among the places that they hold, and so
    take nothing from others: in a ``longest_first`` kind the longest estimate goes first, and in
    the ``shared`` kinds jobs take turns.
    """
    queue = sorted(ready, key=lambda task: (task.queue_at, task.id.int))
    moving = {kind for kind, policy in policies.items() if policy.order is Order.LONGEST_FIRST}
    moving.update(shared)
    places: dict[tuple[str, int], list[int]] = {}
    for place, task in enumerate(queue):
        if task.kind in moving:
            places.setdefault((task.kind, task.priority), []).append(place)
    for (kind, _), held in places.items():
        band: Sequence[TaskFacts] = [queue[place] for place in held]
        if policies[kind].order is Order.LONGEST_FIRST:
            band = sorted(band, key=lambda task: -task.estimate)
        if kind in shared:
            band = take_turns(band, turns)
        for place, task in zip(held, band, strict=True):
            queue[place] = task
    return queue


def _open_kinds(
    snapshot: Snapshot, policies: Mapping[str, KindPolicy]
) -> tuple[dict[str, OpenKind], dict[str, Left]]:
    """Who takes each kind that can be handed out, and for each other kind why it cannot."""
    idle = closed_kinds(policies)
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
    opened: dict[str, OpenKind] = {}
    for kind, loads in able.items():
        if loads:
            view = KindView(policies[kind], loads, pools, snapshot.seed)
            strategy = STRATEGIES[policies[kind].strategy](view)
            opened[kind] = OpenKind(strategy, Backups(loads))
        else:
            idle[kind] = Left.NO_CAPABLE_WORKER
    return opened, idle


def _moved_cursors(
    opened: Mapping[str, OpenKind], policies: Mapping[str, KindPolicy]
) -> dict[str, int]:
    cursors = {kind: each.strategy.cursor for kind, each in opened.items()}
    return {
        kind: cursor
        for kind, cursor in cursors.items()
        if cursor is not None and cursor != policies[kind].cursor
    }
