"""Statuses of a task and the transitions between them that are legal."""

from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """Where a task stands; the state machine is drawn in docs/architecture.md."""

    PENDING = "PENDING"
    ASSIGNED = "ASSIGNED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    DEAD = "DEAD"
    DISMISSED = "DISMISSED"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"


class DeadReason(StrEnum):
    """Why the supervisor gave a task up to a human."""

    PERMANENT = "permanent"
    EXHAUSTED = "exhausted"
    POISON = "poison"
    DEADLINE = "deadline"
    DEPENDENCY = "dependency"
    UNROUTABLE = "unroutable"


class Outcome(StrEnum):
    """How one lease ended; an attempt row carries exactly one."""

    COMPLETED = "completed"
    ERROR = "error"
    TIMEOUT = "timeout"
    WORKER_LOST = "worker_lost"
    NOT_NAMED = "not_named"
    RELEASED = "released"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    DEADLINE = "deadline"
    EXPIRED = "expired"
    REPLACED = "replaced"
    STOPPED = "stopped"


class OnDead(StrEnum):
    """What a dependent does when the task it depends on is DEAD."""

    WAIT = "wait"
    FAIL = "fail"
    CONTINUE = "continue"


class EdgeState(StrEnum):
    """Where one dependency stands, seen from the dependent."""

    WAITING = "waiting"
    BLOCKED = "blocked"
    MET = "met"
    VOID = "void"


class WorkerState(StrEnum):
    """Where one boot of a worker stands; a person has one row for good, and no heartbeat."""

    ACTIVE = "active"
    DRAINING = "draining"
    STOPPED = "stopped"
    LOST = "lost"
    PERSON = "person"


class BootEnding(StrEnum):
    """Why one boot of a worker ended; it decides who pays for the tasks that it was running."""

    LEFT = "left"
    DRAINING = "draining"
    SILENT = "silent"
    REPLACED = "replaced"
    EVICTED = "evicted"


FAILURES: Final = frozenset({Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED})
"""Outcomes that speak against a kind's handler or what it calls; losses speak against workers."""

FREE: Final = frozenset({Outcome.RELEASED, Outcome.EXPIRED, Outcome.REPLACED, Outcome.STOPPED})
"""Outcomes that use up no attempt although the work had begun."""

ACTIVE: Final = frozenset({Status.ASSIGNED, Status.RUNNING})
UNFINISHED: Final = frozenset({Status.PENDING, Status.ASSIGNED, Status.RUNNING, Status.FAILED})
FINAL: Final = frozenset({Status.COMPLETED, Status.DISMISSED, Status.CANCELLED, Status.SKIPPED})

TRANSITIONS: Final[dict[Status, frozenset[Status]]] = {
    # RUNNING: a person takes a step and begins it in one. COMPLETED: the join of a job's step,
    # whose work is that of its items.
    Status.PENDING: frozenset(
        {
            Status.ASSIGNED,
            Status.RUNNING,
            Status.COMPLETED,
            Status.CANCELLED,
            Status.SKIPPED,
            Status.DEAD,
        }
    ),
    Status.ASSIGNED: frozenset({Status.RUNNING, Status.PENDING, Status.CANCELLED, Status.DEAD}),
    Status.RUNNING: frozenset(
        {Status.COMPLETED, Status.FAILED, Status.PENDING, Status.DEAD, Status.CANCELLED}
    ),
    Status.FAILED: frozenset({Status.PENDING, Status.CANCELLED, Status.DEAD}),
    Status.DEAD: frozenset({Status.PENDING, Status.DISMISSED}),
    Status.COMPLETED: frozenset(),
    Status.DISMISSED: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.SKIPPED: frozenset(),
}


def is_legal(before: Status, after: Status) -> bool:
    """Tell whether a task may go from one status to another.

    >>> is_legal(Status.RUNNING, Status.COMPLETED), is_legal(Status.COMPLETED, Status.RUNNING)
    (True, False)
    """
    return after in TRANSITIONS[before]
