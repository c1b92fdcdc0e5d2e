"""What holds of every round, whatever the strategy."""

import math
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.dispatch import in_dispatch_order, plan_dispatch
from tasks_app.core.dispatch.worker_loads import room_for
from tasks_app.core.facts import KindPolicy, Left, Order, Snapshot, StrategyName, WorkerFacts
from tests.core.facts_made import a_snapshot, a_task, a_worker, given_to, in_order, snapshots


def able(snapshot: Snapshot, kind: str) -> list[WorkerFacts]:
    return [w for w in snapshot.workers if kind in w.skills and not w.draining]


@given(snapshots())
def test_every_ready_task_is_assigned_once_or_left_with_a_reason(snapshot: Snapshot) -> None:
    plan = plan_dispatch(snapshot)
    decided = [item.task_id for item in plan.assignments] + list(plan.left)
    assert sorted(decided) == sorted(task.id for task in snapshot.ready)


@given(snapshots())
def test_no_worker_gets_more_than_its_slots_and_the_backlog_allow(snapshot: Snapshot) -> None:
    given_by_worker = Counter(item.worker_id for item in plan_dispatch(snapshot).assignments)
    for worker in snapshot.workers:
        room = room_for(worker.slots, worker.active, snapshot.backlog)
        assert given_by_worker[worker.id] <= room


@given(snapshots())
def test_only_capable_workers_that_are_not_draining_get_tasks(snapshot: Snapshot) -> None:
    tasks = {task.id: task for task in snapshot.ready}
    for item in plan_dispatch(snapshot).assignments:
        task = tasks[item.task_id]
        worker = next(w for w in able(snapshot, item.kind) if w.id == item.worker_id)
        assert item.kind == task.kind
        assert not snapshot.kinds[item.kind].paused
        assert item.expected == task.estimate / worker.skills[item.kind]


@given(snapshots())
def test_the_reason_a_task_was_left_is_true(snapshot: Snapshot) -> None:
    plan = plan_dispatch(snapshot)
    given_by_worker = Counter(item.worker_id for item in plan.assignments)

    def full(worker: WorkerFacts) -> bool:
        return given_by_worker[worker.id] >= room_for(worker.slots, worker.active, snapshot.backlog)

    for task in snapshot.ready:
        reason = plan.left.get(task.id)
        workers = able(snapshot, task.kind)
        assert (reason is Left.KIND_PAUSED) == snapshot.kinds[task.kind].paused
        if reason is Left.NO_CAPABLE_WORKER:
            assert not workers
        elif reason is Left.ALL_BUSY:
            assert workers
            assert all(map(full, workers))
        elif reason is Left.BEST_BUSY:
            best = max(worker.skills[task.kind] for worker in workers)
            assert all(full(worker) for worker in workers if worker.skills[task.kind] == best)


@given(snapshots(), st.integers(0, 99))
def test_the_plan_depends_on_what_is_known_and_not_on_the_order_it_came_in(
    snapshot: Snapshot, seed: int
) -> None:
    workers, ready = list(snapshot.workers), list(snapshot.ready)
    Random(seed).shuffle(workers)
    Random(seed).shuffle(ready)
    assert plan_dispatch(replace(snapshot, workers=workers, ready=ready)) == plan_dispatch(snapshot)


@given(snapshots())
def test_no_task_is_left_while_a_later_one_of_its_kind_is_assigned(snapshot: Snapshot) -> None:
    plan = plan_dispatch(snapshot)
    left_kinds = set()
    for task in in_order(snapshot):
        if task.id in plan.left:
            left_kinds.add(task.kind)
        else:
            assert task.kind not in left_kinds


def test_tasks_go_out_by_queue_time_then_id() -> None:
    ready = [a_task(3, queue_at=5), a_task(2, queue_at=5), a_task(1, queue_at=7)]
    plan = plan_dispatch(a_snapshot(ready, [a_worker(1)]))
    assert [task for task, _ in given_to(plan)] == [2, 3, 1]


def test_longest_first_sorts_within_a_priority_and_takes_no_place_of_others() -> None:
    longest_first = KindPolicy("draft", order=Order.LONGEST_FIRST)
    ready = [
        a_task(1, 2, priority=0),
        a_task(2, 1, kind="classify"),
        a_task(3, 9, priority=1),
        a_task(4, 8, priority=0),
        a_task(5, 50, priority=1),
        a_task(6, 8, priority=0),
    ]
    kinds = {"draft": longest_first, "classify": KindPolicy("classify")}
    order = [task.id.int for task in in_dispatch_order(ready, kinds, {}, ())]
    assert order == [4, 2, 5, 6, 3, 1]


def test_a_paused_kind_waits_and_others_go_on() -> None:
    skills = {"draft": 1.0, "classify": 1.0}
    plan = plan_dispatch(
        a_snapshot(
            [a_task(1), a_task(2, kind="classify")],
            [a_worker(1, skills=skills)],
            KindPolicy("draft", paused=True),
            KindPolicy("classify"),
        )
    )
    assert given_to(plan) == [(2, 1)]
    assert plan.left == {a_task(1).id: Left.KIND_PAUSED}


def test_a_kind_without_a_policy_gets_the_default_one() -> None:
    plan = plan_dispatch(a_snapshot([a_task(1)], [a_worker(1)]))
    assert given_to(plan) == [(1, 1)]


def test_a_draining_worker_gets_nothing_even_when_it_is_the_only_one() -> None:
    plan = plan_dispatch(a_snapshot([a_task(1)], [a_worker(1, draining=True)]))
    assert plan.left == {a_task(1).id: Left.NO_CAPABLE_WORKER}


@pytest.mark.parametrize("strategy", StrategyName)
@pytest.mark.parametrize("skill", [0.0, -1.0, math.inf, math.nan])
def test_a_skill_that_gives_no_duration_is_no_capability(
    strategy: StrategyName, skill: float
) -> None:
    worker = a_worker(1, skills={"draft": skill})
    plan = plan_dispatch(a_snapshot([a_task(1)], [worker], KindPolicy("draft", strategy)))
    assert plan.left == {a_task(1).id: Left.NO_CAPABLE_WORKER}


def test_the_same_seed_draws_the_same_pairs_and_another_seed_draws_others() -> None:
    ready = [a_task(number) for number in range(40)]
    workers = [
        a_worker(number, active=number % 3, queued_seconds=number % 3) for number in range(9)
    ]
    kind = KindPolicy("draft", StrategyName.TWO_CHOICES)
    plans = [plan_dispatch(a_snapshot(ready, workers, kind, seed=seed)) for seed in (1, 1, 2)]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]
