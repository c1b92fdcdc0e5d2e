"""From submission to completion on the real record."""

import pytest

from tasks_app.core.facts import Load, Order, StrategyName
from tasks_app.core.states import Status
from tests.floor import Floor

SEED = [10, 2, 2, 10, 2, 2, 10, 2, 2]


def test_a_task_goes_from_pending_to_completed(floor: Floor) -> None:
    (task,) = floor.submit()
    floor.worker("w1")
    assert floor.round().dispatched == 1
    assert floor.status(task) is Status.ASSIGNED
    (grant,) = floor.claim("w1")
    assert floor.status(task) is Status.RUNNING
    assert (grant.kind, grant.payload, grant.attempt, grant.key) == (
        "job",
        {"n": 0},
        1,
        str(task),
    )
    assert floor.complete("w1", grant, {"label": "x"}) == []
    done = floor.task(task)
    assert (done.status, done.result, done.attempts) == (Status.COMPLETED, {"label": "x"}, 1)
    assert floor.attempts(task) == [("completed", "w1")]
    floor.assert_counts_are_true()


@pytest.mark.parametrize(
    ("strategy", "load", "order", "loads"),
    [
        (StrategyName.ROUND_ROBIN, Load.SECONDS, Order.FIFO, [6, 6, 30]),
        (StrategyName.LEAST_LOADED, Load.SECONDS, Order.FIFO, [12, 14, 16]),
        (StrategyName.LEAST_LOADED, Load.COUNT, Order.FIFO, [6, 6, 30]),
        (StrategyName.LEAST_LOADED, Load.SECONDS, Order.LONGEST_FIRST, [14, 14, 14]),
    ],
)
def test_nine_tasks_of_the_seed_are_handed_out_as_it_says(
    floor: Floor, strategy: StrategyName, load: Load, order: Order, loads: list[float]
) -> None:
    floor.settings(backlog=None)
    floor.kind(strategy=strategy, load=load, order=order)
    for name in ("w1", "w2", "w3"):
        floor.worker(name)
    floor.submit(estimates=SEED)
    assert floor.round().dispatched == 9
    queued = [sum(SEED[g.payload["n"]] for g in floor.claim(name)) for name in floor.workers]
    assert sorted(queued) == loads


def test_round_robin_goes_on_where_the_last_leader_stood(floor: Floor) -> None:
    floor.settings(backlog=None)
    floor.kind(strategy=StrategyName.ROUND_ROBIN)
    for name in ("w1", "w2", "w3"):
        floor.worker(name)
    names = []
    for _ in range(4):
        (task,) = floor.submit()
        floor.round()
        worker = floor.task(task).assigned_to
        assert worker is not None
        names.append(worker.name)
    assert names == ["w1", "w2", "w3", "w1"]


def test_a_backlog_of_zero_hands_out_free_slots_only(floor: Floor) -> None:
    floor.settings(backlog=0)
    floor.worker("w1", slots=2)
    floor.submit(5)
    assert floor.round().dispatched == 2
    assert floor.round().dispatched == 0


def test_a_kind_without_a_worker_stays_pending_and_says_so(floor: Floor) -> None:
    floor.worker("w1")
    (task,) = floor.submit(kind="other")
    report = floor.round()
    assert floor.status(task) is Status.PENDING
    assert dict(report.left) == {"no_capable_worker": 1}


def test_a_kind_that_no_worker_ever_could_do_is_dead_after_the_grace(floor: Floor) -> None:
    floor.settings(unroutable_grace_seconds=0)
    floor.worker("w1")
    (task,) = floor.submit(kind="other")
    floor.round()
    dead = floor.task(task)
    assert (dead.status, dead.dead_reason) == (Status.DEAD, "unroutable")
    floor.assert_counts_are_true()


def test_higher_priority_goes_first_but_an_old_task_is_not_overtaken_for_ever(
    floor: Floor,
) -> None:
    floor.settings(backlog=0, priority_head_start_seconds=60)
    floor.worker("w1")
    (low,) = floor.submit()
    (high,) = floor.submit(priority=1)
    floor.round()
    assert floor.status(high) is Status.ASSIGNED
    assert floor.status(low) is Status.PENDING
    assert (floor.task(low).queue_at - floor.task(high).queue_at).total_seconds() < 60
