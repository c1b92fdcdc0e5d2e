"""Why a task is not running: what a round asks of it, one question after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tasks_app.core.dispatch import plan_dispatch
from tasks_app.core.facts import Breaker, KindPolicy, Left, Snapshot, TaskFacts
from tasks_app.core.limits import Gate, closed_kinds


class Question(StrEnum):
    """What must be answered with yes before a task is handed out, in the order of asking."""

    DEPENDENCIES = "dependencies"
    TIME = "time"
    SUPERVISOR = "supervisor"
    KIND = "kind"
    GATE = "gate"
    WORKER = "worker"


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
    people do needs no supervisor to begin, only a person.
    """
    policy = snapshot.kinds.get(task.facts.kind) or KindPolicy(task.facts.kind)
    closed = closed_kinds({policy.name: policy}).get(policy.name)
    gate = Gate(snapshot).admit(task.facts, policy)
    worker = _worker(task.facts, policy, snapshot)
    if closed is Left.FOR_PEOPLE:
        closed = None
    supervisor = [] if policy.by_people else [Answer(Question.SUPERVISOR, on_duty)]
    return [
        Answer(Question.DEPENDENCIES, task.waiting_on == 0),
        Answer(Question.TIME, not task.later),
        *supervisor,
        Answer(Question.KIND, closed is None, closed),
        Answer(Question.GATE, gate is None, gate),
        Answer(Question.WORKER, worker is None, worker),
    ]


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
