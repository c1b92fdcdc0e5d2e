"""What is wrong on the floor, decided from a few facts, the worst first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from tasks_app.core.dispatch.advice import Pinned, pinned_worker
from tasks_app.core.facts import Breaker, KindPolicy, StrategyName, WorkerFacts
from tasks_app.core.search.queries import quoted_if_needed

SNAPSHOT_SECONDS: Final = 60.0
"""A transaction that is open for longer than any of Chargehand's own, by far."""


@dataclass(frozen=True, slots=True)
class OffDuty:
    """No round was recorded for too long; ``silent_seconds`` is None if there never was one."""

    name: ClassVar[str] = "off_duty"
    silent_seconds: float | None


@dataclass(frozen=True, slots=True)
class Unserved:
    """Ready tasks of these kinds wait for a worker that can do them; there is none."""

    name: ClassVar[str] = "unserved"
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class SnapshotHeld:
    """A transaction has been open for so many seconds: nothing that died since can be cleaned up.

    ``pid`` is its server process, ``program`` what its client calls itself, ``state`` PostgreSQL's
    word for what it does.
    """

    name: ClassVar[str] = "snapshot_held"
    pid: int
    program: str
    state: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PinnedWorker:
    """One worker has queued work while its peers are idle.

    ``kind`` is one that it holds and ``strategy`` what hands it out, preferably one that pins.
    """

    name: ClassVar[str] = "pinned"
    pinned: Pinned
    kind: str
    strategy: str
    worker_id: UUID | None = field(default=None, compare=False)

    @property
    def blind(self) -> bool:
        """Whether the strategy looks at no load at all, so that a change of it is the remedy."""
        return self.strategy in (StrategyName.ROUND_ROBIN, StrategyName.CAPABILITY)


@dataclass(frozen=True, slots=True)
class SilentWorker:
    """A live worker that has missed heartbeats; what it holds waits for ``stale_after``."""

    name: ClassVar[str] = "silent"
    id: UUID
    worker: str
    silent_seconds: float
    active: int


class Hold(StrEnum):
    """What holds back a whole kind until somebody or time ends it."""

    QUARANTINE = "quarantine"
    BREAKER = "breaker"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class HeldKind:
    """Ready tasks of this kind wait, and none of them is handed out."""

    name: ClassVar[str] = "held_kind"
    kind: str
    hold: Hold

    @property
    def query(self) -> str:
        """Its ready tasks in the language of the search."""
        return f"kind:{quoted_if_needed(self.kind)} status:pending"


@dataclass(frozen=True, slots=True)
class DeadWaiting:
    """Dead letters wait for a human."""

    name: ClassVar[str] = "dead_waiting"
    tasks: int


@dataclass(frozen=True, slots=True)
class Overdue:
    """The oldest unfinished task has waited for longer than somebody said it may."""

    name: ClassVar[str] = "overdue"
    seconds: float
    allowed: float


@dataclass(frozen=True, slots=True)
class AlertThresholds:
    """From where on an alert stands; seconds, None where it never does."""

    dead_at_least: int = 1
    oldest_seconds: float | None = None
    pinned_seconds: float = 0.0
    snapshot_seconds: float = SNAPSHOT_SECONDS


Alert = (
    OffDuty
    | Unserved
    | SilentWorker
    | HeldKind
    | SnapshotHeld
    | Overdue
    | PinnedWorker
    | DeadWaiting
)

MOST_OF_A_SORT: Final = 5
"""Alerts of one sort at once: more say nothing that these do not."""


@dataclass(frozen=True, slots=True)
class FloorFacts:
    """What alerts are judged by; seconds.

    ``last_round_age`` is None when no round was ever recorded; ``held`` maps a worker's name to the
    kinds that it holds; ``unserved`` are kinds with ready tasks that no live worker can do;
    ``oldest_snapshot`` is the transaction that has been open for longest, ``oldest_age`` how long
    the oldest unfinished task has waited; ``waiting`` are kinds with ready tasks, of those at least
    that something holds back.
    """

    last_round_age: float | None
    silent_after: float
    workers: Sequence[WorkerFacts]
    held: Mapping[str, Sequence[str]]
    kinds: Mapping[str, KindPolicy]
    unserved: Sequence[str]
    dead: int
    oldest_snapshot: SnapshotHeld | None = None
    silent: Sequence[SilentWorker] = ()
    waiting: Collection[str] = ()
    oldest_age: float | None = None
    thresholds: AlertThresholds = AlertThresholds()


def decide_alerts(facts: FloorFacts, most: int | None = MOST_OF_A_SORT) -> list[Alert]:
    """Every alert that holds, the worst first; up to ``most`` of a sort, None for all of them."""
    alerts: list[Alert] = []
    limits = facts.thresholds
    age = facts.last_round_age
    if age is None or age > facts.silent_after:
        alerts.append(OffDuty(age))
    if facts.unserved:
        alerts.append(Unserved(facts.unserved))
    longest_first = sorted(facts.silent, key=lambda each: (-each.silent_seconds, each.worker))
    alerts += longest_first[:most]
    alerts += _held_kinds(facts)[:most]
    held = facts.oldest_snapshot
    if held is not None and held.seconds > limits.snapshot_seconds:
        alerts.append(held)
    oldest, allowed = facts.oldest_age, limits.oldest_seconds
    if oldest is not None and allowed is not None and oldest > allowed:
        alerts.append(Overdue(oldest, allowed))
    pinned = pinned_worker(facts.workers)
    if pinned is not None and pinned.queued_seconds >= limits.pinned_seconds:
        alerts.append(_explained(pinned, facts))
    if facts.dead >= limits.dead_at_least:
        alerts.append(DeadWaiting(facts.dead))
    return alerts


def hold_of(policy: KindPolicy) -> Hold | None:
    """What holds back a kind, what only a person can end first."""
    if policy.quarantined:
        return Hold.QUARANTINE
    if policy.breaker is Breaker.OPEN:
        return Hold.BREAKER
    return Hold.PAUSE if policy.paused else None


def _held_kinds(facts: FloorFacts) -> list[HeldKind]:
    found = [
        HeldKind(name, hold)
        for name, policy in facts.kinds.items()
        if name in facts.waiting and (hold := hold_of(policy)) is not None
    ]
    return sorted(found, key=lambda each: (list(Hold).index(each.hold), each.kind))


def _explained(pinned: Pinned, facts: FloorFacts) -> PinnedWorker:
    """Name the kind that pins: one handed out blindly if there is one, else the first held."""
    held = [facts.kinds[kind] for kind in facts.held.get(pinned.name, ()) if kind in facts.kinds]
    worker = next((each.id for each in facts.workers if each.name == pinned.name), None)
    explained = [PinnedWorker(pinned, policy.name, policy.strategy, worker) for policy in held]
    blind = next((each for each in explained if each.blind), None)
    return blind or next(iter(explained), PinnedWorker(pinned, "", "", worker))
