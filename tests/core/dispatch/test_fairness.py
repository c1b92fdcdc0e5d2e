"""Jobs take turns within a kind and priority, and take nothing from others."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.dispatch.fairness import kinds_that_share, lacking, share_of, take_turns
from tasks_app.core.facts import KindPolicy, Order, Snapshot, TaskFacts, Turn
from tests.core.facts_made import a_snapshot, a_task, a_worker, in_order, snapshots

jobs = st.sampled_from([None, 1, 2, 3, 4])


@st.composite
def bands(draw: st.DrawFn) -> list[TaskFacts]:
    """Tasks of one kind and priority, in the order of the queue."""
    tasks = [a_task(n, job=draw(jobs)) for n in range(1, draw(st.integers(1, 30)) + 1)]
    return sorted(tasks, key=lambda task: task.queue_at)


def served(band: list[TaskFacts], draw: Callable[..., Any]) -> dict[Turn, float]:
    return {turn: draw(st.floats(0, 100)) for turn in {t.turn for t in band} if draw(st.booleans())}


@given(bands(), st.data())
def test_jobs_alternate_until_one_has_nothing_left(
    band: list[TaskFacts], data: st.DataObject
) -> None:
    order = take_turns(band, served(band, data.draw))
    count: dict[UUID | None, int] = defaultdict(int)
    total = {job: sum(t.job == job for t in band) for job in {t.job for t in band}}
    for task in order:
        count[task.job] += 1
        for job, whole in total.items():
            assert count[job] >= min(whole, count[task.job] - 1), "nobody is a turn behind"


@given(bands(), st.data())
def test_every_task_is_there_once_and_each_job_keeps_its_order(
    band: list[TaskFacts], data: st.DataObject
) -> None:
    order = take_turns(band, served(band, data.draw))
    assert sorted(t.id for t in order) == sorted(t.id for t in band)
    for job in {t.job for t in band}:
        assert [t for t in order if t.job == job] == [t for t in band if t.job == job]


@given(snapshots(), st.integers(0, 99))
def test_turns_take_nothing_from_other_kinds_and_priorities(snapshot: Snapshot, seed: int) -> None:
    alone = replace(snapshot, ready=[replace(task, job=None) for task in snapshot.ready])
    assert [t.turn[:2] for t in in_order(snapshot)] == [t.turn[:2] for t in in_order(alone)]
    shuffled = list(snapshot.ready)
    Random(seed).shuffle(shuffled)
    assert in_order(replace(snapshot, ready=shuffled)) == in_order(snapshot)


def test_a_small_job_goes_out_beside_a_large_one_and_beside_tasks_of_no_job() -> None:
    ready = [a_task(n, job=1) for n in range(1, 7)] + [a_task(n) for n in range(7, 13)]
    ready += [a_task(20, job=2), a_task(21, job=2)]
    order = [task.id.int for task in in_order(a_snapshot(ready, [], KindPolicy("draft")))]
    assert order == [1, 7, 20, 2, 8, 21, 3, 9, 4, 10, 5, 11, 6, 12]


def test_in_a_longest_first_kind_each_job_has_its_longest_first_at_its_turns() -> None:
    ready = [a_task(1, 1, job=1), a_task(2, 9, job=1), a_task(3, 5, job=2), a_task(4, 8, job=2)]
    policy = KindPolicy("draft", order=Order.LONGEST_FIRST)
    assert [t.id.int for t in in_order(a_snapshot(ready, [], policy))] == [2, 4, 1, 3]


@pytest.mark.parametrize("room", [1, 2, 3])
def test_rounds_with_little_room_go_on_where_the_last_one_stopped(room: int) -> None:
    sizes = {1: 30, 2: 6, 3: 9}
    ready = [
        a_task(100 * job + n, queue_at=100 * job + n, job=job)
        for job, size in sizes.items()
        for n in range(size)
    ]
    turns: dict[Turn, float] = {}
    given_out: list[int] = []
    while ready:
        snapshot = a_snapshot(ready, [a_worker(1, slots=room)], KindPolicy("draft"), backlog=0)
        plan = plan_dispatch(replace(snapshot, turns=turns))
        gone = {item.task_id for item in plan.assignments}
        jobs_of = {task.id: task.job.int for task in ready if task.job}
        given_out += [jobs_of[item.task_id] for item in plan.assignments]
        now = 1000.0 + len(given_out)
        turns |= {turn: now + n / 100 for n, turn in enumerate(plan.turns)}
        ready = [task for task in ready if task.id not in gone]
    assert given_out == [1, 2, 3] * 6 + [1, 3] * 3 + [1] * 21


def test_a_stream_of_new_jobs_does_not_keep_out_an_old_one() -> None:
    turns = {Turn("draft", 0, UUID(int=1)): 50.0}
    old = a_task(1, queue_at=0, job=1)
    new = [a_task(n, queue_at=float(n), job=n) for n in (49, 51, 52)]
    assert [t.id.int for t in take_turns([old, *new], turns)] == [49, 1, 51, 52]


def test_only_kinds_with_more_than_one_job_are_noted() -> None:
    ready = [a_task(1, job=1), a_task(2, job=1), a_task(3, kind="send"), a_task(4, kind="send")]
    assert kinds_that_share(ready) == frozenset()
    assert plan_dispatch(a_snapshot(ready, [a_worker(1)])).turns == ()
    assert kinds_that_share([*ready, a_task(5, kind="send", job=1)]) == {"send"}


def test_jobs_of_which_too_few_tasks_are_seen_are_looked_for() -> None:
    ready = [a_task(n, job=1) for n in range(4)]
    looked_for = lacking(ready, [("draft", UUID(int=1)), ("draft", UUID(int=2))], share_of(8, 2))
    assert looked_for == [("draft", UUID(int=2))]
