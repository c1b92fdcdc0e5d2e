"""The overview's figures and alerts, read together in about a dozen short statements."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from tasks_app.core.alerts.detection import (
    MOST_OF_A_SORT,
    Alert,
    FloorFacts,
    PinnedWorker,
    SilentWorker,
    decide_alerts,
    hold_of,
)
from tasks_app.core.dispatch.advice import ceiling
from tasks_app.core.states import UNFINISHED, Status, WorkerState
from tasks_app.models import SupervisorSettings
from tasks_app.store.reads.dispatch import series
from tasks_app.store.reads.dispatch.counts import by_status, completed_ever, count_by_kind
from tasks_app.store.reads.dispatch.leader_status import Duty, read_duty
from tasks_app.store.reads.dispatch.round_snapshot import worker_facts
from tasks_app.store.reads.dispatch.vacuum_horizon import oldest_snapshot
from tasks_app.store.reads.failures.dead_letters import Cause, DeadFilter, list_causes
from tasks_app.store.reads.fleet.live_workers import (
    FloorWorker,
    count_lost,
    list_floor,
    list_unserved_kinds,
    waiting_kinds,
)
from tasks_app.store.reads.settings.configuration import (
    alert_thresholds,
    kind_policies,
    supervisor_settings,
)

CAUSES_SHOWN: Final = 5
DEAD_LOOKED_AT: Final = 2_000
"""Newest dead letters grouped by cause: fewer than on their own page, as this is asked often."""

WORKERS_SHOWN: Final = 12
MISSED_HEARTBEATS: Final = 2.5
"""Heartbeats without a sign of life after which its age is shown as a worry."""

RECENT_SECONDS: Final = 10.0
TREND_SECONDS: Final = 300.0
CLOSED: Final = (Status.DISMISSED, Status.CANCELLED, Status.SKIPPED)
"""Ended without a result: neither done nor to be done."""


@dataclass(frozen=True, slots=True)
class Work:
    """How far the work is; rates in tasks a second, ages in seconds, None while unknown.

    ``total`` leaves out what was closed without a result; ``ends_at`` is where the trend leads.
    """

    done: int
    total: int
    unfinished: int
    dead: int
    rate: float | None
    trend: float | None
    ends_at: datetime | None
    oldest_age: float | None
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Supervision:
    """Who leads, whether the record shows it alive, D in seconds and the ceiling T / D."""

    duty: Duty
    silent: bool
    dispatch_seconds: float | None
    ceiling: int | None


@dataclass(frozen=True, slots=True)
class LoadedWorker:
    """A worker beside its peers: its share of the longest queue in percent, and what stands out."""

    worker: FloorWorker
    share: int
    pinned: bool
    late: bool


@dataclass(frozen=True, slots=True)
class Workers:
    """All live workers as counts, the most loaded of them as rows."""

    rows: Sequence[LoadedWorker]
    live: int
    draining: int
    late: int
    lost: int
    idle: int
    pinned: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the overview that moves, charts apart."""

    alerts: Sequence[Alert]
    work: Work
    supervision: Supervision
    workers: Workers
    causes: Sequence[Cause]
    statuses: Mapping[str, int]
    stale_after: float


def read_overview(silent_after: float, *, most_alerts: int | None = MOST_OF_A_SORT) -> Overview:
    """Read and judge; the supervisor is silent after so many seconds without a round.

    ``most_alerts`` of a sort are told; None for all of them.
    """
    config, counted, floor = supervisor_settings(), count_by_kind(), list_floor()
    statuses = by_status(counted)
    dead = statuses.get(Status.DEAD, 0)
    supervision, kinds, work = (
        _supervision(silent_after),
        kind_policies(),
        _work(statuses, completed_ever(counted)),
    )
    alerts = decide_alerts(
        FloorFacts(
            last_round_age=supervision.duty.last_round_age,
            silent_after=silent_after,
            workers=worker_facts(config.stale_after_seconds),
            held={worker.name: worker.kinds for worker in floor},
            kinds=kinds,
            unserved=list_unserved_kinds(config.stale_after_seconds),
            dead=dead,
            oldest_snapshot=oldest_snapshot(),
            silent=_silent(floor, config),
            waiting=waiting_kinds([name for name, kind in kinds.items() if hold_of(kind)]),
            oldest_age=work.oldest_age,
            thresholds=alert_thresholds(),
        ),
        most_alerts,
    )
    return Overview(
        alerts=alerts,
        work=work,
        supervision=supervision,
        workers=_workers(floor, alerts, config),
        causes=_causes() if dead else [],
        statuses=statuses,
        stale_after=config.stale_after_seconds,
    )


def _silent(floor: Sequence[FloorWorker], config: SupervisorSettings) -> Sequence[SilentWorker]:
    late_after = MISSED_HEARTBEATS * config.heartbeat_seconds
    return [
        SilentWorker(worker.id, worker.name, worker.heartbeat_age, worker.active)
        for worker in floor
        if worker.heartbeat_age > late_after
    ]


def _causes() -> Sequence[Cause]:
    causes, _ = list_causes(DeadFilter(), most=DEAD_LOOKED_AT, shown=CAUSES_SHOWN)
    return causes


def _work(statuses: Mapping[str, int], ever: int) -> Work:
    done = statuses.get(Status.COMPLETED, 0)
    unfinished = sum(statuses.get(status, 0) for status in UNFINISHED)
    rate = series.completed_per_second(ever, RECENT_SECONDS)
    trend = series.completed_per_second(ever, TREND_SECONDS)
    oldest = series.read_oldest()
    # What is left and cannot move waits for a dead letter, and so for a human: no trend ends that.
    leads_there = bool(unfinished and trend and oldest.age is not None)
    return Work(
        done=done,
        total=sum(statuses.values()) - sum(statuses.get(status, 0) for status in CLOSED),
        unfinished=unfinished,
        dead=statuses.get(Status.DEAD, 0),
        rate=rate,
        trend=trend,
        ends_at=_instant(oldest.now + unfinished / trend) if leads_there and trend else None,
        oldest_age=oldest.age,
        oldest_at=None if oldest.created is None else _instant(oldest.created),
    )


def _instant(second: float) -> datetime:
    return datetime.fromtimestamp(second, tz=UTC)


def _supervision(silent_after: float) -> Supervision:
    duty, costs = read_duty(), series.read_costs()
    age = duty.last_round_age
    return Supervision(
        duty=duty,
        silent=age is None or age > silent_after,
        dispatch_seconds=costs.dispatch_seconds,
        ceiling=ceiling(costs.task_seconds or 0.0, costs.dispatch_seconds or 0.0),
    )


def _workers(
    floor: Sequence[FloorWorker], alerts: Sequence[Alert], config: SupervisorSettings
) -> Workers:
    pinned = next((each.pinned.name for each in alerts if isinstance(each, PinnedWorker)), "")
    longest = max((worker.queued_seconds for worker in floor), default=0.0)
    late_after = MISSED_HEARTBEATS * config.heartbeat_seconds
    rows = [
        LoadedWorker(
            worker=worker,
            share=round(100 * worker.queued_seconds / longest) if longest else 0,
            pinned=worker.name == pinned,
            late=worker.heartbeat_age > late_after,
        )
        for worker in floor
    ]
    states = Counter(worker.state for worker in floor)
    draining = sum(worker.drain_asked or worker.state == WorkerState.DRAINING for worker in floor)
    return Workers(
        # The most loaded when they are many, yet in the order of their names: rows must not jump.
        rows=sorted(
            sorted(rows, key=lambda row: -row.worker.queued_seconds)[:WORKERS_SHOWN],
            key=lambda row: row.worker.name,
        ),
        live=sum(states.values()),
        draining=draining,
        late=sum(row.late for row in rows),
        lost=count_lost(),
        idle=sum(worker.active == 0 for worker in floor),
        pinned=pinned,
    )
