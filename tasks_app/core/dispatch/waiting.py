"""Why a task is not running: what a round asks of it, one question after the other."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.dispatch.limits import Gate, closed_kinds
from tasks_app.core.facts import Breaker, KindPolicy, Left, Snapshot, TaskFacts, WorkerFacts


class Question(StrEnum):
    """What must be answered with yes before a task is handed out, in the order of telling."""

    DEPENDENCIES = "dependencies"
    TIME = "time"
    KIND = "kind"
    BREAKER = "breaker"
    LIMIT = "limit"
    LOCK = "lock"
    WORKER = "worker"
    ROOM = "room"
    SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An unassigned task: dependencies not met, and whether its ``run_at`` is still ahead."""

    facts: TaskFacts
    waiting_on: int = 0
    later: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's answer; ``left`` says why not where a round would say it."""

    question: Question
    yes: bool
    left: Left | None = None


def why_waiting(task: Waiting, snapshot: Snapshot, *, on_duty: bool) -> Sequence[Answer]:
    """Answer every question for one task, by the same code that a round decides with.

    The snapshot's own ready tasks are left out of account: the queue ahead moves on by itself. What
    people do needs neither a worker with room nor a supervisor to begin, only a person.
    """
    facts, policy = task.facts, snapshot.kinds.get(task.facts.kind) or KindPolicy(task.facts.kind)
    judged = {
        Question.KIND: _closed(replace(policy, breaker=Breaker.CLOSED)),
        Question.BREAKER: _closed(replace(policy, paused=False, quarantined=False)),
        Question.LIMIT: Gate(snapshot).admit(replace(facts, lock_key=None), policy),
        Question.LOCK: Gate(snapshot).admit(facts, replace(policy, limit=None)),
    }
    worker = _worker(facts, policy, snapshot)
    nobody = worker in (Left.NO_CAPABLE_WORKER, Left.FOR_PEOPLE)
    answers = [
        Answer(Question.DEPENDENCIES, task.waiting_on == 0),
        Answer(Question.TIME, not task.later),
        *(Answer(question, left is None, left) for question, left in judged.items()),
        Answer(Question.WORKER, not nobody, worker if nobody else None),
    ]
    if not nobody:
        answers.append(Answer(Question.ROOM, worker is None, worker))
    if not policy.by_people:
        answers.append(Answer(Question.SUPERVISOR, on_duty))
    return answers


def _closed(policy: KindPolicy) -> Left | None:
    """Why nothing of a kind is handed out; that people do it is for the question of workers."""
    closed = closed_kinds({policy.name: policy}).get(policy.name)
    return None if closed is Left.FOR_PEOPLE else closed


def _worker(task: TaskFacts, policy: KindPolicy, snapshot: Snapshot) -> Left | None:
    """Why no worker would take it, were everything else open."""
    opened = replace(policy, paused=False, quarantined=False, breaker=Breaker.CLOSED, limit=None)
    alone = replace(
        snapshot,
        kinds={policy.name: opened},
        ready=[replace(task, lock_key=None)],
        limits={},
        locked=frozenset(),
    )
    return plan_dispatch(alone).left.get(task.id)


MOST_MISSES: Final = 5


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A live worker that cannot do a kind; ``nearest`` is the kind it offers with the likest name.

    ``draining``: it could, but takes nothing new.
    """

    worker: str
    nearest: str
    likeness: float
    draining: bool = False


def near_misses(kind: str, workers: Sequence[WorkerFacts]) -> Sequence[NearMiss]:
    """The workers that come closest to doing a kind, the nearest first, at most ``MOST_MISSES``.

    >>> from uuid import UUID
    >>> w1 = WorkerFacts(UUID(int=1), "w1", 1, {"clasify_ticket": 1.0, "mail": 1.0})
    >>> [(miss.worker, miss.nearest) for miss in near_misses("classify_ticket", [w1])]
    [('w1', 'clasify_ticket')]
    """
    found = []
    for worker in workers:
        if worker.draining and kind in worker.skills:
            found.append(NearMiss(worker.name, kind, 1.0, draining=True))
            continue
        if kind in worker.skills or not worker.skills:
            continue
        likeness, nearest = max((_likeness(kind, offered), offered) for offered in worker.skills)
        found.append(NearMiss(worker.name, nearest, likeness))
    return sorted(found, key=lambda miss: (-miss.likeness, miss.worker))[:MOST_MISSES]


def offered(workers: Sequence[WorkerFacts]) -> Sequence[str]:
    """The kinds that live workers take on, by name.

    >>> from uuid import UUID
    >>> w1 = WorkerFacts(UUID(int=1), "w1", 1, {"mail": 1.0, "draft": 1.0})
    >>> offered([w1])
    ['draft', 'mail']
    """
    return sorted({kind for worker in workers if not worker.draining for kind in worker.skills})


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one[:100], other[:100]).ratio()


def expected_start(kind: str, seconds_ahead: float, workers: Sequence[WorkerFacts]) -> float | None:
    """Seconds until a task's turn, or None where nobody can do its kind.

    ``seconds_ahead`` is the sum of the estimates of the tasks of its kind before it in the queue.
    What the workers do of other kinds meanwhile is not known, so it may take longer.

    >>> from uuid import UUID
    >>> w1 = WorkerFacts(UUID(int=1), "w1", 2, {"job": 2.0}, queued_seconds=10.0)
    >>> expected_start("job", 40.0, [w1]), expected_start("mail", 1.0, [w1])
    (15.0, None)
    """
    able = [worker for worker in workers if kind in worker.skills and not worker.draining]
    speed = sum(worker.slots * worker.skills[kind] for worker in able)
    if speed <= 0:
        return None
    held = sum(worker.queued_seconds * worker.skills[kind] for worker in able)
    return (seconds_ahead + held) / speed
