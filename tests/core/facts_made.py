"""Facts made for the tests of decisions, with everything but the point at hand left plain."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from hypothesis import strategies as st

from tasks_app.core.dispatch.dispatch import in_dispatch_order
from tasks_app.core.dispatch.fairness import kinds_that_share
from tasks_app.core.facts import (
    DispatchPlan,
    KindPolicy,
    Load,
    Order,
    Snapshot,
    StrategyName,
    TaskFacts,
    WorkerFacts,
)

SEED_DURATIONS = (10, 2, 2, 10, 2, 2, 10, 2, 2)
"""The nine tasks of the seed, in seconds."""


def a_task(
    number: int,
    estimate: float = 1.0,
    *,
    kind: str = "draft",
    queue_at: float | None = None,
    priority: int = 0,
    job: int | None = None,
) -> TaskFacts:
    at = float(number) if queue_at is None else queue_at
    of_job = None if job is None else UUID(int=job)
    return TaskFacts(UUID(int=number), kind, priority, at, estimate, job=of_job)


def a_worker(
    number: int,
    *,
    slots: int = 1,
    skills: Mapping[str, float] | None = None,
    active: int = 0,
    queued_seconds: float = 0.0,
    draining: bool = False,
) -> WorkerFacts:
    can_do = {"draft": 1.0} if skills is None else skills
    name = f"w{number}"
    return WorkerFacts(UUID(int=number), name, slots, can_do, active, queued_seconds, draining)


def a_snapshot(
    ready: Sequence[TaskFacts],
    workers: Sequence[WorkerFacts],
    *kinds: KindPolicy,
    backlog: float | None = None,
    seed: int = 0,
) -> Snapshot:
    return Snapshot({kind.name: kind for kind in kinds}, workers, ready, backlog, seed)


def in_order(snapshot: Snapshot) -> Sequence[TaskFacts]:
    """The ready tasks as ``plan_dispatch`` looks at them."""
    shared = kinds_that_share(snapshot.ready)
    return in_dispatch_order(snapshot.ready, snapshot.kinds, snapshot.turns, shared)


def given_to(plan: DispatchPlan) -> list[tuple[int, int]]:
    """The plan as pairs of task number and worker number, in its order."""
    return [(item.task_id.int, item.worker_id.int) for item in plan.assignments]


def workers_given(plan: DispatchPlan) -> list[int]:
    """The worker numbers in the order in which they were given tasks."""
    return [worker for _, worker in given_to(plan)]


KINDS = ("classify", "draft", "send")

seconds = st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.5, 10.0]) | st.floats(0, 1e6)


@st.composite
def snapshots(draw: st.DrawFn, strategy: StrategyName | None = None) -> Snapshot:
    """Any snapshot of up to three kinds (one of them unknown at times), six workers, 40 tasks."""
    strategy_names = st.sampled_from(list(StrategyName)) if strategy is None else st.just(strategy)
    policies = [
        KindPolicy(
            name,
            draw(strategy_names),
            draw(st.sampled_from(list(Order))),
            draw(st.sampled_from(list(Load))),
            paused=draw(st.integers(0, 9)) == 0,
            cursor=draw(st.integers(0, 50)),
        )
        for name in KINDS
    ]
    skill = st.sampled_from([0.25, 0.5, 1.0, 2.0]) | st.floats(0.01, 100)
    workers = []
    for number in range(1, draw(st.integers(0, 6)) + 1):
        active = draw(st.integers(0, 5))
        workers.append(
            a_worker(
                number,
                slots=draw(st.integers(1, 4)),
                skills=draw(st.dictionaries(st.sampled_from(KINDS), skill)),
                active=active,
                queued_seconds=draw(seconds) if active else 0.0,
                draining=draw(st.integers(0, 5)) == 0,
            )
        )
    ready = [
        a_task(
            number,
            draw(seconds),
            kind=draw(st.sampled_from(KINDS)),
            queue_at=draw(st.floats(-100, 100)),
            priority=draw(st.integers(0, 2)),
            job=draw(st.sampled_from([None, None, 1, 2, 3])),
        )
        for number in range(1, draw(st.integers(0, 40)) + 1)
    ]
    backlog = draw(st.sampled_from([None, 0.0, 0.5, 1.0, 2.0]))
    return a_snapshot(ready, workers, *policies, backlog=backlog, seed=draw(st.integers(0, 9)))


def nearly(value: float) -> float:
    """The value with room for the rounding of a sum."""
    return value + 1e-9 * max(1.0, math.fabs(value))
