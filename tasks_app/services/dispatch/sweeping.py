"""The sweep: what was lost, what is due, what is late, and what keeps failing."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from tasks_app.core.dispatch.breakers import next_state
from tasks_app.core.facts import ErrorFacts
from tasks_app.core.states import ACTIVE, DeadReason, Outcome, Status
from tasks_app.models import SupervisorSettings
from tasks_app.services.attempts.lease_ends import expiry_ends, reclaim_ends
from tasks_app.services.isolation import apart, stage
from tasks_app.store import workers
from tasks_app.store.actions import unleased_ends
from tasks_app.store.attempts import leases, sweep
from tasks_app.store.attempts.leases import LeaseEnd
from tasks_app.store.attempts.sweep import LostLease
from tasks_app.store.dispatch import breakers, clock, gates
from tasks_app.store.dispatch.clock import Service
from tasks_app.store.jobs import human_steps
from tasks_app.store.reads.dispatch.breakers import read_breakers, retry_credits

log = logging.getLogger(__name__)

BATCH: Final = 1000
"""How much of each sort one sweep or settlement moves at most in a round; the rest follows in the
next, which then sweeps too and does not wait for its tick."""

UNNAMED_BEATS: Final = 2
"""Heartbeat intervals that a worker has to name a task that it claimed. An answer to a claim is not
under way for that long, and a retry after a lost answer does not shorten it."""

UNROUTABLE: Final = ErrorFacts(
    type="Unroutable", message="No worker on record could ever do this kind."
)
DEADLINE: Final = ErrorFacts(type="DeadlinePassed", message="Its deadline passed before it ended.")


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did; ``unswept``: it moved all that one may of something, so more may wait."""

    reclaimed: int = 0
    promoted: int = 0
    overdue: int = 0
    unswept: bool = False
    lost_workers: Sequence[str] = ()
    quarantined: Sequence[str] = field(default_factory=list)


def run_sweep(settings: SupervisorSettings) -> SweepReport:
    """Search the record for everything that time alone has changed; part of a round."""
    service = _keep_time()
    silent_for = settings.stale_after_seconds
    lost_workers: Sequence[str] | None = ()
    # Silence while nobody ran a round is not the workers': the record itself may have been away.
    if service.served_for > silent_for:
        lost_workers = stage("marking silent workers", lambda: workers.mark_lost(silent_for))
    unnamed_for = UNNAMED_BEATS * settings.heartbeat_seconds
    timeout_grace = settings.timeout_grace_seconds
    lost: list[LostLease] | None = []
    if service.served_for:
        lost = stage(
            "finding lost leases", lambda: sweep.take_lost(timeout_grace, unnamed_for, BATCH)
        )
    expired = stage("finding expired steps", lambda: human_steps.take_expired(BATCH))
    reclaimed = _end([*reclaim_ends(lost or []), *expiry_ends(expired or [])])
    overdue = stage("giving up overdue tasks", _give_up_overdue)
    grace = settings.unroutable_grace_seconds
    unroutable = stage("giving up unroutable tasks", lambda: _give_up_unroutable(grace))
    quarantined = stage("quarantining kinds", breakers.quarantine_kinds)
    stage("moving breakers", _move_breakers)
    withheld = stage("giving back what may not begin", _give_back_withheld)
    promoted = stage("bringing retries back", lambda: sweep.promote(BATCH, retry_credits()))
    unswept = any(n == BATCH for n in (reclaimed, overdue, unroutable, withheld, promoted))
    return SweepReport(
        reclaimed, promoted or 0, overdue or 0, unswept, lost_workers or (), quarantined or ()
    )


def _keep_time() -> Service:
    """Set right what a clock that was set back has left ahead; part of a sweep."""
    service = clock.read_service()
    if service.stepped_back:
        log.warning("the database's clock went back by %.0f s", service.stepped_back)
        stage("bringing nearer what ends", lambda: clock.bring_nearer(service.stepped_back))
    stage("forgetting the future", clock.forget_the_future)
    return service


def _end(ends: Sequence[LeaseEnd]) -> int:
    """End leases; return how many did. One that cannot end is named in the log and left."""
    return sum(map(len, apart("the end of the lease on task", ends, leases.end, _task_of)))


def _task_of(end: LeaseEnd) -> UUID:
    return end.task_id


def _close(tasks: Sequence[UUID], reason: DeadReason, error: ErrorFacts) -> int:
    """Give waiting tasks up; return how many. One that cannot be is named in the log and left."""
    text = json.dumps(error.as_json())

    def close(some: Sequence[UUID]) -> int:
        errors = [text] * len(some)
        return len(unleased_ends.close_waiting(some, Status.DEAD, reason=reason, errors=errors))

    return sum(apart("giving up task", tasks, close, str))


def _give_up_unroutable(grace: float) -> int:
    stuck = sweep.find_unroutable(grace, BATCH)
    return _close(stuck, DeadReason.UNROUTABLE, UNROUTABLE)


def _give_up_overdue() -> int:
    overdue = sweep.take_overdue(BATCH)
    error = json.dumps(DEADLINE.as_json())
    waiting = [task_id for task_id, _, status in overdue if status not in ACTIVE]
    closed = _close(waiting, DeadReason.DEADLINE, DEADLINE)
    ended = _end(
        [
            LeaseEnd(
                task_id,
                token,
                status=Status.DEAD,
                outcome=Outcome.DEADLINE,
                error=error,
                dead_reason=DeadReason.DEADLINE,
            )
            for task_id, token, status in overdue
            if status in ACTIVE and token is not None
        ]
    )
    return closed + ended


def _give_back_withheld() -> int:
    """Assigned tasks that may not begin now go back, free of charge: their worker has room then."""
    return _end(
        [
            LeaseEnd(task_id, token, status=Status.PENDING, outcome=Outcome.RELEASED)
            for task_id, token in gates.take_withheld(BATCH)
        ]
    )


def _move_breakers() -> None:
    breakers.forget_breakers()
    moved = [
        (guarded, state)
        for guarded, (facts, policy) in read_breakers().items()
        if (state := next_state(facts, policy)) is not facts.state
    ]
    for each in moved:
        apart("the breaker of", [each], lambda one: breakers.set_breaker(*one[0]), str)
