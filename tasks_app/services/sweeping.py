"""The sweep: what was lost, what is due, what is late, and what keeps failing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tasks_app.core.breakers import next_state
from tasks_app.core.facts import ErrorFacts
from tasks_app.core.states import ACTIVE, DeadReason, Outcome, Status
from tasks_app.models import SupervisorSettings
from tasks_app.services.lease_ends import expiry_ends, reclaim_ends
from tasks_app.store import breakers, closing, human_steps, leases, sweep, workers
from tasks_app.store.leases import LeaseEnd
from tasks_app.store.reads.breakers import read_breakers, retry_credits

BATCH: Final = 1000
"""How much one sweep or settlement moves at most in a round; the rest follows in the next."""

UNNAMED_BEATS: Final = 2
"""Heartbeat intervals that a worker has to name a task that it claimed. An answer to a claim is not
under way for that long, and a retry after a lost answer does not shorten it."""

UNROUTABLE: Final = ErrorFacts(
    type="Unroutable", message="No worker on record could ever do this kind."
)
DEADLINE: Final = ErrorFacts(type="DeadlinePassed", message="Its deadline passed before it ended.")


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did."""

    reclaimed: int = 0
    promoted: int = 0
    overdue: int = 0
    lost_workers: Sequence[str] = ()
    quarantined: Sequence[str] = field(default_factory=list)


def run_sweep(settings: SupervisorSettings) -> SweepReport:
    """Search the record for everything that time alone has changed; part of a round."""
    lost_workers = workers.mark_lost(settings.stale_after_seconds)
    unnamed_for = UNNAMED_BEATS * settings.heartbeat_seconds
    lost = sweep.take_lost(settings.timeout_grace_seconds, unnamed_for, BATCH)
    expired = human_steps.take_expired(BATCH)
    reclaimed = len(leases.end([*reclaim_ends(lost), *expiry_ends(expired)]))
    overdue = _give_up_overdue()
    _give_up_unroutable(settings.unroutable_grace_seconds)
    quarantined = breakers.quarantine_kinds()
    _move_breakers()
    promoted = sweep.promote(BATCH, retry_credits())
    return SweepReport(reclaimed, promoted, overdue, lost_workers, quarantined)


def _give_up_unroutable(grace: float) -> int:
    stuck = sweep.find_unroutable(grace, BATCH)
    errors = [json.dumps(UNROUTABLE.as_json())] * len(stuck)
    return len(
        closing.close_waiting(stuck, Status.DEAD, reason=DeadReason.UNROUTABLE, errors=errors)
    )


def _give_up_overdue() -> int:
    overdue = sweep.take_overdue(BATCH)
    error = json.dumps(DEADLINE.as_json())
    waiting = [task_id for task_id, _, status in overdue if status not in ACTIVE]
    closed = closing.close_waiting(
        waiting, Status.DEAD, reason=DeadReason.DEADLINE, errors=[error] * len(waiting)
    )
    ended = leases.end(
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
    return len(closed) + len(ended)


def _move_breakers() -> None:
    breakers.forget_breakers()
    for guarded, (facts, policy) in read_breakers().items():
        state = next_state(facts, policy)
        if state is not facts.state:
            breakers.set_breaker(guarded, state)
