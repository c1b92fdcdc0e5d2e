"""A round's decision ends, in numbers, whatever an older record holds."""

import math
import sys
import threading
from dataclasses import replace
from itertools import product
from uuid import uuid4

import pytest

from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.facts import (
    KindPolicy,
    LimitFacts,
    Load,
    Snapshot,
    StrategyName,
    TaskFacts,
    WorkerFacts,
)

ODD = (5e-324, 1e-306, 3e-305, 1e308, sys.float_info.max, math.inf, math.nan, -1.0, 0.0)


def planned(snapshot: Snapshot) -> "list[float]":
    """The expected seconds of a plan that is decided in a thread, as the test must end too."""
    found: list[float] = []

    def decide() -> None:
        found.extend(each.expected for each in plan_dispatch(snapshot).assignments)

    thread = threading.Thread(target=decide, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "the decision never ends"
    return found


@pytest.mark.parametrize("strategy", list(StrategyName))
@pytest.mark.parametrize("load", list(Load))
def test_no_number_on_record_makes_a_decision_loop_or_overflow(
    strategy: StrategyName, load: Load
) -> None:
    for skill, queued, estimate, backlog in product(ODD, ODD, ODD, (1.0, *ODD)):
        workers = [
            WorkerFacts(uuid4(), "w1", 4, {"job": skill}, active=1, queued_seconds=queued),
            WorkerFacts(uuid4(), "w2", 2, {"job": 1.0}, active=0, queued_seconds=queued),
        ]
        ready = [TaskFacts(uuid4(), "job", 0, 0.0, estimate) for _ in range(3)]
        kind = KindPolicy("job", strategy=strategy, load=load)
        snapshot = Snapshot({"job": kind}, workers, ready, backlog=backlog)
        try:
            expected = [each.expected for each in plan_dispatch(snapshot).assignments]
        except (ArithmeticError, ValueError) as error:
            raise AssertionError((skill, queued, estimate, backlog)) from error
        assert all(0 <= each < 1e12 for each in expected), (skill, queued, estimate, backlog)


@pytest.mark.timeout(60)
def test_a_skill_near_zero_beside_a_full_queue_is_decided() -> None:
    worker = WorkerFacts(uuid4(), "w1", 4, {"job": 1e-305}, active=1, queued_seconds=math.inf)
    snapshot = Snapshot(
        {"job": KindPolicy("job")}, [worker], [TaskFacts(uuid4(), "job", 0, 0.0, 3600.0)]
    )
    assert planned(snapshot) == [3600.0 / 0.001]


def test_a_worker_of_two_thousand_million_slots_costs_no_memory() -> None:
    worker = WorkerFacts(uuid4(), "w1", 2**31 - 1, {"job": 1.0})
    task = TaskFacts(uuid4(), "job", 0, 0.0, 1.0)
    assert planned(Snapshot({"job": KindPolicy("job")}, [worker], [task])) == [1.0]


@pytest.mark.parametrize("weight", ODD)
@pytest.mark.parametrize("tokens", ODD)
def test_what_a_limit_spends_is_a_number(weight: float, tokens: float) -> None:
    worker = WorkerFacts(uuid4(), "w1", 4, {"job": 1.0})
    task = replace(TaskFacts(uuid4(), "job", 0, 0.0, 1.0), weight=weight)
    limit = LimitFacts("api", free=tokens, tokens=tokens, burst=1e9, most=1e9)
    kind = KindPolicy("job", limit="api")
    plan = plan_dispatch(Snapshot({"job": kind}, [worker], [task], limits={"api": limit}))
    assert all(0 < spent <= 1e6 for spent in plan.spent.values())
