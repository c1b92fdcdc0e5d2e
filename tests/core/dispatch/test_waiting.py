"""Why a task is not running."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.dispatch.waiting import (
    Question,
    Waiting,
    expected_start,
    near_misses,
    why_waiting,
)
from tasks_app.core.facts import Breaker, KindPolicy, Left, LimitFacts, Snapshot, TaskFacts
from tasks_app.core.facts import WorkerFacts as W

TASK = TaskFacts(UUID(int=1), "job", 0, 0.0, 1.0, lock_key="account-7")
FREE = W(UUID(int=2), "w1", 1, {"job": 1.0})


def refusals(task: Waiting, *, on_duty: bool = True, **parts: Any) -> dict[Question, Left | None]:
    known = {"kinds": {"job": KindPolicy("job")}, "workers": [FREE], "backlog": 0.0}
    snapshot = Snapshot(ready=(), **{**known, **parts})
    answers = why_waiting(task, snapshot, on_duty=on_duty)
    asked = [answer.question for answer in answers]
    assert asked == [question for question in Question if question in asked]
    assert set(Question) - set(asked) <= {Question.ROOM}
    return {answer.question: answer.left for answer in answers if not answer.yes}


def test_nothing_holds_a_task_that_can_go() -> None:
    assert refusals(Waiting(TASK)) == {}


def test_what_lies_in_the_task_and_the_supervisor_is_told() -> None:
    found = refusals(Waiting(TASK, waiting_on=2, later=True), on_duty=False)
    assert found == {Question.DEPENDENCIES: None, Question.TIME: None, Question.SUPERVISOR: None}


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (KindPolicy("job", paused=True), Left.KIND_PAUSED),
        (KindPolicy("job", quarantined=True), Left.KIND_QUARANTINED),
    ],
)
def test_a_closed_kind_says_nothing_of_workers(policy: KindPolicy, left: Left) -> None:
    assert refusals(Waiting(TASK), kinds={"job": policy}) == {Question.KIND: left}


def test_a_paused_kind_with_an_open_breaker_is_told_both() -> None:
    policy = KindPolicy("job", paused=True, breaker=Breaker.OPEN)
    assert refusals(Waiting(TASK), kinds={"job": policy}) == {
        Question.KIND: Left.KIND_PAUSED,
        Question.BREAKER: Left.BREAKER_OPEN,
    }


def test_what_people_do_needs_a_person_and_no_supervisor() -> None:
    policy = KindPolicy("job", by_people=True)
    snapshot = Snapshot(kinds={"job": policy}, workers=(), ready=())
    answers = why_waiting(Waiting(TASK), snapshot, on_duty=False)
    assert [(a.question, a.left) for a in answers if not a.yes] == [
        (Question.WORKER, Left.FOR_PEOPLE)
    ]


def test_a_full_limit_and_a_held_lock_are_told_both() -> None:
    found = refusals(
        Waiting(TASK),
        kinds={"job": KindPolicy("job", limit="api")},
        limits={"api": LimitFacts("api", free=0.0)},
        locked=frozenset({"account-7"}),
    )
    assert found == {Question.LIMIT: Left.LIMIT_FULL, Question.LOCK: Left.LOCKED}


def test_the_nearest_miss_is_the_likest_name_and_a_drain_is_nearer_still() -> None:
    workers = [
        W(UUID(int=2), "far", 1, {"mail": 1.0}),
        W(UUID(int=3), "near", 1, {"mail": 1.0, "jobs": 1.0}),
        W(UUID(int=4), "drains", 1, {"job": 1.0}, draining=True),
    ]
    found = near_misses("job", workers)
    assert [(miss.worker, miss.nearest) for miss in found] == [
        ("drains", "job"),
        ("near", "jobs"),
        ("far", "mail"),
    ]


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 50))
def test_more_ahead_never_starts_sooner_and_more_slots_never_later(
    less: float, more: float, slots: int
) -> None:
    fewer = [W(UUID(int=2), "w1", slots, {"job": 1.0}, queued_seconds=5.0)]
    many = [W(UUID(int=2), "w1", slots + 1, {"job": 1.0}, queued_seconds=5.0)]
    low, high = sorted((less, more))
    sooner, later = expected_start("job", low, fewer), expected_start("job", high, fewer)
    at_most = expected_start("job", high, many)
    assert sooner is not None
    assert later is not None
    assert at_most is not None
    assert sooner <= later
    assert at_most <= later


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ({"limits": {"api": LimitFacts("api", free=0.0)}}, Left.LIMIT_FULL),
        ({"limits": {"api": LimitFacts("api", tokens=0.0)}}, Left.RATE_LIMITED),
        ({"limits": {"api": LimitFacts("api", paused=True)}}, Left.LIMIT_PAUSED),
        (
            {"limits": {"api": LimitFacts("api", breaker=Breaker.OPEN)}},
            Left.LIMIT_BREAKER_OPEN,
        ),
    ],
)
def test_a_gate_that_is_shut_says_which(parts: dict[str, Any], left: Left) -> None:
    kinds = {"job": KindPolicy("job", limit="api")}
    assert refusals(Waiting(TASK), kinds=kinds, **parts) == {Question.LIMIT: left}


@pytest.mark.parametrize(
    ("workers", "left"),
    [
        ([], Left.NO_CAPABLE_WORKER),
        ([W(UUID(int=2), "w1", 1, {"other": 1.0})], Left.NO_CAPABLE_WORKER),
        ([W(UUID(int=2), "w1", 1, {"job": 1.0}, draining=True)], Left.NO_CAPABLE_WORKER),
        ([W(UUID(int=2), "w1", 1, {"job": 1.0}, active=1)], Left.ALL_BUSY),
    ],
)
def test_workers_are_judged_as_a_round_judges_them(workers: list[W], left: Left) -> None:
    asked = Question.ROOM if left is Left.ALL_BUSY else Question.WORKER
    assert refusals(Waiting(TASK), workers=workers) == {asked: left}


def test_every_hindrance_is_told_at_once() -> None:
    found = refusals(
        Waiting(TASK, waiting_on=1),
        kinds={"job": KindPolicy("job", paused=True)},
        locked=frozenset({"account-7"}),
        workers=[],
    )
    assert set(found) == {
        Question.DEPENDENCIES,
        Question.KIND,
        Question.LOCK,
        Question.WORKER,
    }
