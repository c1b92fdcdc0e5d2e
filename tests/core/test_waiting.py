"""Why a task is not running."""

from typing import Any
from uuid import UUID

import pytest

from tasks_app.core.facts import Breaker, KindPolicy, Left, LimitFacts, Snapshot, TaskFacts
from tasks_app.core.facts import WorkerFacts as W
from tasks_app.core.waiting import Question, Waiting, why_waiting

TASK = TaskFacts(UUID(int=1), "job", 0, 0.0, 1.0, lock_key="account-7")
FREE = W(UUID(int=2), "w1", 1, {"job": 1.0})


def refusals(task: Waiting, *, on_duty: bool = True, **parts: Any) -> dict[Question, Left | None]:
    known = {"kinds": {"job": KindPolicy("job")}, "workers": [FREE], "backlog": 0.0}
    snapshot = Snapshot(ready=(), **{**known, **parts})
    answers = why_waiting(task, snapshot, on_duty=on_duty)
    assert [answer.question for answer in answers] == list(Question)
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
        (KindPolicy("job", breaker=Breaker.OPEN), Left.BREAKER_OPEN),
    ],
)
def test_a_closed_kind_says_nothing_of_workers(policy: KindPolicy, left: Left) -> None:
    assert refusals(Waiting(TASK), kinds={"job": policy}) == {Question.KIND: left}


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ({"locked": frozenset({"account-7"})}, Left.LOCKED),
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
    assert refusals(Waiting(TASK), kinds=kinds, **parts) == {Question.GATE: left}


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
    assert refusals(Waiting(TASK), workers=workers) == {Question.WORKER: left}


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
        Question.GATE,
        Question.WORKER,
    }
