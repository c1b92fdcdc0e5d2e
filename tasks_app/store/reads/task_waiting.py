"""What the record says about a task that nobody works on yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tasks_app.core.facts import KindPolicy, Snapshot, TaskFacts
from tasks_app.core.waiting import Answer, Waiting, why_waiting
from tasks_app.store import sql
from tasks_app.store.reads.configuration import kind_policies, supervisor_settings
from tasks_app.store.reads.duty import read_duty
from tasks_app.store.reads.snapshot import limit_facts, worker_facts
from tasks_app.store.reads.task_detail import TaskDetail

LOCK_HOLDER = "SELECT task_id FROM lease WHERE lock_key = %(key)s"


@dataclass(frozen=True, slots=True)
class Checklist:
    """The answers, and what their sentences name.

    ``capable`` workers could do its kind, ``draining`` of them take nothing new; ``last_round_at``
    is None where no round was ever recorded; ``lock_holder`` holds the lock that it needs.
    """

    answers: Sequence[Answer]
    policy: KindPolicy
    capable: int
    draining: int
    last_round_at: datetime | None
    lock_holder: UUID | None

    @property
    def ready(self) -> bool:
        """Whether nothing holds it: it goes out when its turn comes."""
        return all(answer.yes for answer in self.answers)


def read_checklist(task: TaskDetail, silent_after: float) -> Checklist:
    """Read and judge; the supervisor is off duty after so many seconds without a round."""
    config, duty = supervisor_settings(), read_duty()
    holder = sql.row(LOCK_HOLDER, {"key": task.lock_key}) if task.lock_key else None
    snapshot = Snapshot(
        kinds=kind_policies(),
        workers=worker_facts(config.stale_after_seconds),
        ready=(),
        backlog=config.backlog,
        limits=limit_facts(),
        locked=frozenset({task.lock_key} if holder and task.lock_key else ()),
    )
    able = [worker for worker in snapshot.workers if task.kind in worker.skills]
    age = duty.last_round_age
    return Checklist(
        answers=why_waiting(
            Waiting(_facts(task), task.waiting_on, task.later),
            snapshot,
            on_duty=age is not None and age <= silent_after,
        ),
        policy=snapshot.kinds.get(task.kind) or KindPolicy(task.kind),
        capable=len(able),
        draining=sum(worker.draining for worker in able),
        last_round_at=duty.last_round_at,
        lock_holder=holder[0] if holder else None,
    )


def _facts(task: TaskDetail) -> TaskFacts:
    return TaskFacts(
        id=task.id,
        kind=task.kind,
        priority=task.priority,
        queue_at=0.0,
        estimate=task.estimate_seconds,
        lock_key=task.lock_key,
        weight=task.weight,
    )
