"""What a decision may see: frozen facts read from the record, times in seconds since the epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

UNLIMITED: Final = None
"""A backlog without bound: every ready task is handed out at once, as the seeds do it."""


class Order(StrEnum):
    """In which order tasks of one kind and priority are handed out."""

    FIFO = "fifo"
    LONGEST_FIRST = "longest_first"


class Load(StrEnum):
    """What "load" means to a strategy that compares workers."""

    SECONDS = "seconds"
    COUNT = "count"


class StrategyName(StrEnum):
    """The strategies that a kind may choose."""

    ROUND_ROBIN = "round_robin"
    LEAST_LOADED = "least_loaded"
    CAPABILITY = "capability"
    CAPABLE_LEAST_LOADED = "capable_least_loaded"
    TWO_CHOICES = "two_choices"


class Breaker(StrEnum):
    """Where a circuit breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Scope(StrEnum):
    """What a circuit breaker guards."""

    KIND = "kind"
    LIMIT = "limit"


class Guarded(NamedTuple):
    """A kind, or a limit with all its kinds, by its name."""

    scope: Scope
    name: str


@dataclass(frozen=True, slots=True)
class LimitFacts:
    """A shared limit as it stands.

    ``most`` is the concurrent weight allowed and ``free`` what is still free of it, ``tokens`` the
    weight that the rate allows now; None where the limit has no such cap. ``paused``: a 429 asked
    for a pause.
    """

    name: str
    free: float | None = None
    tokens: float | None = None
    burst: float = 1.0
    paused: bool = False
    most: float | None = None
    breaker: Breaker = Breaker.CLOSED


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """How one kind is dispatched.

    ``paused`` kinds get nothing, and no worker gets one that is done ``by_people``; ``cursor`` is
    how far round-robin has come: one place in its ring for each task handed out and for each full
    worker passed over.
    """

    name: str
    strategy: StrategyName = StrategyName.CAPABLE_LEAST_LOADED
    order: Order = Order.FIFO
    load: Load = Load.SECONDS
    paused: bool = False
    cursor: int = 0
    quarantined: bool = False
    limit: str | None = None
    breaker: Breaker = Breaker.CLOSED
    has_retry_budget: bool = False
    by_people: bool = False


class Turn(NamedTuple):
    """Who takes turns with whom: the jobs of one kind and priority; None are tasks without one."""

    kind: str
    priority: int
    job: UUID | None


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One ready task: dependencies met, ``run_at`` reached.

    ``queue_at`` (seconds) orders tasks: submission time less the head start its priority is worth.
    ``estimate`` is the expected run time at skill 1, in seconds. ``failed_on`` are the workers on
    which it failed before.
    """

    id: UUID
    kind: str
    priority: int
    queue_at: float
    estimate: float
    lock_key: str | None = None
    weight: float = 1.0
    failed_on: frozenset[UUID] = frozenset()
    job: UUID | None = None

    @property
    def turn(self) -> Turn:
        """Whose turn it is when this task is handed out."""
        return Turn(self.kind, self.priority, self.job)


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """One live worker as the record shows it.

    ``skills`` maps kind to skill (expected seconds = estimate / skill). ``active`` counts its
    leases (ASSIGNED and RUNNING); ``queued_seconds`` is the expected time left on them.
    ``draining`` workers get nothing new. ``name`` orders the ring of round-robin.
    """

    id: UUID
    name: str
    slots: int
    skills: Mapping[str, float]
    active: int = 0
    queued_seconds: float = 0.0
    draining: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one round decides on.

    ``backlog``: how many more tasks than slots a worker may hold, as a multiple of its slots
    (0 = free slots only, 1 = once its slots again, ``UNLIMITED`` = no bound).
    ``ready`` holds a bounded window per kind, in any order. ``turns`` says when each job was last
    handed something, on the scale of ``queue_at``.
    """

    kinds: Mapping[str, KindPolicy]
    workers: Sequence[WorkerFacts]
    ready: Sequence[TaskFacts]
    backlog: float | None = 1.0
    seed: int = 0
    limits: Mapping[str, LimitFacts] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    turns: Mapping[Turn, float] = field(default_factory=dict)


class Left(StrEnum):
    """Why a ready task was left where it is."""

    KIND_PAUSED = "kind_paused"
    KIND_QUARANTINED = "kind_quarantined"
    BREAKER_OPEN = "breaker_open"
    FOR_PEOPLE = "for_people"
    LIMIT_PAUSED = "limit_paused"
    LIMIT_BREAKER_OPEN = "limit_breaker_open"
    LIMIT_FULL = "limit_full"
    RATE_LIMITED = "rate_limited"
    LOCKED = "locked"
    NO_CAPABLE_WORKER = "no_capable_worker"
    ALL_BUSY = "all_busy"
    BEST_BUSY = "best_busy"


class Assignment(NamedTuple):
    """One task for one worker; ``expected`` is estimate / skill in seconds.

    ``probes``: the half-open breakers of which it is the one task that they let through.
    """

    task_id: UUID
    worker_id: UUID
    kind: str
    expected: float
    lock_key: str | None = None
    weight: float = 1.0
    probes: tuple[Guarded, ...] = ()


@dataclass(frozen=True, slots=True)
class DispatchPlan:
    """What a round wants applied: assignments, for each task left why, and each kind's cursor.

    ``spent`` is the weight handed out under each limit that has a rate; ``turns`` who was handed
    something where jobs share a kind, the last one last.
    """

    assignments: Sequence[Assignment] = ()
    left: Mapping[UUID, Left] = field(default_factory=dict)
    cursors: Mapping[str, int] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    turns: Sequence[Turn] = ()


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """One reported failure.

    ``type`` is the exception's dotted class name, ``bases`` those of its ancestors; ``status`` an
    HTTP status where there is one; ``retry_after`` seconds that the other side asked for;
    ``permanent`` and ``retryable`` are the handler's own word, which wins over every table.
    """

    type: str
    message: str
    traceback: str = ""
    bases: Sequence[str] = ()
    status: int | None = None
    retry_after: float | None = None
    permanent: bool = False
    retryable: bool = False

    def as_json(self) -> dict[str, Any]:
        """The shape stored in task.error and attempt.error."""
        return {
            "type": self.type,
            "message": self.message,
            "traceback": self.traceback,
            "status": self.status,
            "retry_after": self.retry_after,
        }


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How one kind retries; times in seconds (seed: base 2, cap 60, jitter 25 %, 3 attempts)."""

    max_attempts: int = 3
    base: float = 2.0
    cap: float = 60.0
    jitter: float = 0.25
    permanent_errors: Sequence[str] = ()
    retryable_errors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What follows a failed attempt: a retry after ``delay`` seconds, or DEAD with a reason."""

    retry: bool
    delay: float = 0.0
    dead_reason: str | None = None
