"""What the record says about a task that nobody works on yet."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from tasks_app.core.dispatch.waiting import (
    Answer,
    NearMiss,
    Waiting,
    expected_start,
    near_misses,
    offered,
    why_waiting,
)
from tasks_app.core.facts import KindPolicy, Left, Scope, Snapshot, TaskFacts, WorkerFacts
from tasks_app.core.states import Status
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.leader_status import read_duty
from tasks_app.store.reads.dispatch.round_snapshot import limit_facts, worker_facts
from tasks_app.store.reads.search.task_detail import TaskDetail
from tasks_app.store.reads.settings.configuration import kind_policies, supervisor_settings

MOST_AHEAD: Final = 10_000
"""Tasks before one in the queue are counted up to this."""

MOST_HOLDERS: Final = 6

LOCK_HOLDER = "SELECT task_id FROM lease WHERE lock_key = %(key)s"

LIMIT_HOLDERS = """
SELECT e.task_id, coalesce(t.key, e.task_id::text), e.kind, w.name, e.weight
  FROM kind k
  JOIN lease e ON e.kind = k.name
  JOIN task t ON t.id = e.task_id
  LEFT JOIN worker w ON w.id = e.worker_id
 WHERE k.limit_name = %(limit)s
 ORDER BY e.weight DESC, e.assigned_at
 LIMIT %(most)s
"""

# Until when a breaker lets nothing through: then one task may try.
BREAKER_UNTIL = """
SELECT b.since + g.seconds * interval '1 second'
  FROM (SELECT 'kind' AS scope, name, breaker_open_seconds AS seconds FROM kind
         UNION ALL
        SELECT 'limit', name, breaker_open_seconds FROM shared_limit) g
  JOIN breaker_state b ON b.scope = g.scope AND b.name = g.name
 WHERE b.scope = %(scope)s AND b.name = %(name)s AND b.state = 'open'
"""

LIMIT_PAUSED_UNTIL = "SELECT paused_until FROM limit_state WHERE limit_id = %(name)s"

AHEAD = """
SELECT count(*), coalesce(sum(a.estimate_seconds), 0)::float8
  FROM (SELECT q.estimate_seconds FROM task q
         WHERE q.kind = %(kind)s AND q.status = 'PENDING' AND q.waiting_on = 0
           AND (q.queue_at, q.id) < (SELECT t.queue_at, t.id FROM task t WHERE t.id = %(task)s)
         ORDER BY q.queue_at, q.id
         LIMIT %(most)s) a
"""

# Who could do it at some time: the latest boots that are no more.
ONCE_ABLE = """
SELECT w.id, w.name, coalesce(w.ended_at, h.at)
  FROM capability c
  JOIN worker w ON w.id = c.worker_id
  LEFT JOIN heartbeat h ON h.worker_id = w.id
 WHERE c.kind = %(kind)s
 ORDER BY w.registered_at DESC
 LIMIT 3
"""


@dataclass(frozen=True, slots=True)
class Holder:
    """A task in flight that holds a part of a limit."""

    task_id: UUID
    name: str
    kind: str
    worker: str | None
    weight: float


@dataclass(frozen=True, slots=True)
class OnceAble:
    """A boot of a worker that could do a kind, and when it was last heard of."""

    id: UUID
    name: str
    last_seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Checklist:
    """The answers, and what their sentences name.

    ``capable`` workers could do its kind, ``draining`` of them take nothing new; ``last_round_at``
    is None where no round was ever recorded; ``lock_holder`` holds the lock that it needs,
    ``limit_holders`` most of its limit. Its breaker and its limit let nothing through until
    ``breaker_until`` and ``limit_until``, where that is known. ``near_misses`` and ``once_able``
    come closest where nobody can do it, and live workers ``offer`` other kinds. ``ahead`` tasks of
    its kind are before it; None where it is not in the queue.
    """

    answers: Sequence[Answer]
    policy: KindPolicy
    capable: int
    draining: int
    last_round_at: datetime | None
    lock_holder: UUID | None
    breaker_until: datetime | None = None
    limit_until: datetime | None = None
    limit_holders: Sequence[Holder] = ()
    near_misses: Sequence[NearMiss] = ()
    offer: Sequence[str] = ()
    once_able: Sequence[OnceAble] = field(default_factory=tuple)
    ahead: int | None = None
    starts_in: float | None = None

    @property
    def ready(self) -> bool:
        """Whether nothing holds it: it goes out when its turn comes."""
        return all(answer.yes for answer in self.answers)

    @property
    def many_ahead(self) -> bool:
        """Whether there are more before it than are counted."""
        return self.ahead is not None and self.ahead >= MOST_AHEAD


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
    answers = why_waiting(
        Waiting(_facts(task), task.waiting_on, task.later),
        snapshot,
        on_duty=age is not None and age <= silent_after,
    )
    left = {answer.left for answer in answers}
    policy = snapshot.kinds.get(task.kind) or KindPolicy(task.kind)
    nobody = Left.NO_CAPABLE_WORKER in left
    ahead, starts_in = _queue(task, policy, snapshot.workers)
    return Checklist(
        answers=answers,
        policy=policy,
        capable=len(able),
        draining=sum(worker.draining for worker in able),
        last_round_at=duty.last_round_at,
        lock_holder=holder[0] if holder else None,
        breaker_until=_breaker_until(policy, left),
        limit_until=_limit_until(policy, left),
        limit_holders=_limit_holders(policy) if Left.LIMIT_FULL in left else (),
        near_misses=near_misses(task.kind, snapshot.workers) if nobody else (),
        offer=offered(snapshot.workers) if nobody else (),
        once_able=_once_able(task.kind) if nobody else (),
        ahead=ahead,
        starts_in=starts_in,
    )


def _queue(
    task: TaskDetail, policy: KindPolicy, workers: Sequence[WorkerFacts]
) -> tuple[int | None, float | None]:
    """How many are before it, and the seconds until its turn; None where it stands in no queue."""
    if task.status != Status.PENDING or task.waiting_on or task.later or policy.by_people:
        return None, None
    found = sql.row(AHEAD, {"kind": task.kind, "task": task.id, "most": MOST_AHEAD})
    count, seconds = found if found else (0, 0.0)
    return int(count), expected_start(task.kind, float(seconds), workers)


def _breaker_until(policy: KindPolicy, left: Set[Left | None]) -> datetime | None:
    """When its kind's breaker lets one through; None where it does, or waits for a probe."""
    return _until(BREAKER_UNTIL, policy.name, Scope.KIND) if Left.BREAKER_OPEN in left else None


def _limit_until(policy: KindPolicy, left: Set[Left | None]) -> datetime | None:
    """When its limit goes on by itself; None where another's end of work decides that."""
    if policy.limit and Left.LIMIT_BREAKER_OPEN in left:
        return _until(BREAKER_UNTIL, policy.limit, Scope.LIMIT)
    if policy.limit and Left.LIMIT_PAUSED in left:
        return _until(LIMIT_PAUSED_UNTIL, policy.limit, Scope.LIMIT)
    return None


def _until(statement: str, name: str, scope: Scope) -> datetime | None:
    found = sql.row(statement, {"scope": scope, "name": name})
    return found[0] if found else None


def _limit_holders(policy: KindPolicy) -> list[Holder]:
    params = {"limit": policy.limit, "most": MOST_HOLDERS}
    return [Holder(*row) for row in sql.rows(LIMIT_HOLDERS, params)]


def _once_able(kind: str) -> list[OnceAble]:
    return [OnceAble(*row) for row in sql.rows(ONCE_ABLE, {"kind": kind})]


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
