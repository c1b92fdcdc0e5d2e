"""One round of the supervisor: sweep, settle, snapshot, decide, apply, in one fenced transaction.

Jobs of which something moved, and a person's act on many tasks, follow in one each.

It looks only at the record and never does domain work.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection

from tasks_app import events
from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.dispatch.windows import kinds_hidden_by_locks
from tasks_app.core.facts import Assignment, DispatchPlan, Left, Snapshot
from tasks_app.models import SupervisorSettings
from tasks_app.services.actions.bulk_rounds import advance_bulk
from tasks_app.services.dispatch.locked_windows import look_past_locks
from tasks_app.services.dispatch.sequence_repair import repair_sequences
from tasks_app.services.dispatch.settling import carry_over
from tasks_app.services.dispatch.sweeping import run_sweep
from tasks_app.services.isolation import OF_A_ROW, apart, is_of_a_row, isolating, stage
from tasks_app.services.jobs.job_settling import JobsLook, settle_jobs
from tasks_app.services.transactions import leading, transactional
from tasks_app.store.dispatch import breakers, dispatch, leader
from tasks_app.store.dispatch.inboxes import Inboxes
from tasks_app.store.jobs import jobs
from tasks_app.store.reads.dispatch.round_snapshot import begin_round, read_snapshot
from tasks_app.store.reads.settings.configuration import supervisor_settings

log = logging.getLogger(__name__)

R = TypeVar("R")

TELL_SECONDS: Final = 60.0
_told: Final[dict[UUID, float]] = {}

JOBS_AT_ONCE: Final = 20
"""Jobs that one transaction looks at. A plan of the largest size takes 0.1 s to read, and a
transaction that does nothing for half of the leader's lease is ended by the database."""

JOBS_SECONDS: Final = 0.25
"""How long a round looks at jobs, one transaction after the other."""


class Deposed(Exception):
    """Another leader holds a higher epoch: everything of this round was rolled back."""


@dataclass(slots=True)
class RoundReport:
    """What one round did; times in seconds. ``in_flight``: leases that it found.

    ``left`` counts by reason what it could not place; ``unplaced`` tells it by kind, on demand.
    ``unswept``: its sweep moved as much as one may, so the next round sweeps too.
    """

    dispatched: int = 0
    ready: int = 0
    in_flight: int = 0
    reclaimed: int = 0
    promoted: int = 0
    settled: int = 0
    jobs: int = 0
    bulks: int = 0
    unswept: bool = False
    seconds: float = 0.0
    lost_workers: Sequence[str] = ()
    left: Mapping[Left, int] = field(default_factory=dict)
    unplaced: Callable[[], Mapping[tuple[str, Left], int]] = field(default=dict, repr=False)

    @property
    def moved(self) -> bool:
        """Whether anything happened, so that more may follow at once."""
        return bool(
            self.dispatched
            or self.reclaimed
            or self.promoted
            or self.settled
            or self.jobs
            or self.bulks
            or self.unswept
        )


def run_round(epoch: int, number: int, *, sweeping: bool) -> RoundReport:
    """Run one round under an epoch; ``sweeping`` adds the search for what was lost.

    Raises Deposed, after which nothing of the round stands.
    """
    began = time.perf_counter()
    report, waiting = _whole_or_apart(lambda: _round(epoch, number, sweeping))
    if waiting.jobs:
        report.jobs = _look_at_jobs(epoch)
    if waiting.bulk:
        report.bulks = _whole_or_apart(lambda: _bulk_round(epoch))
    report.seconds = time.perf_counter() - began
    return report


def _whole_or_apart(act: Callable[[], R]) -> R:
    """Run a transaction; where a row is to blame, once more with bad rows set apart."""
    try:
        return act()
    except Exception as error:
        if not is_of_a_row(error):
            raise
        connection.close_if_unusable_or_obsolete()
        # Where numbers were given twice they are repaired, and no row is to blame any more.
        repair_sequences()
        with isolating():
            return act()


@transactional
def _round(epoch: int, number: int, sweeping: bool) -> tuple[RoundReport, Inboxes]:
    settings, has_settled = begin_round()
    report = RoundReport()
    if sweeping:
        swept = run_sweep(settings)
        report.reclaimed, report.promoted = swept.reclaimed, swept.promoted
        report.unswept, report.lost_workers = swept.unswept, swept.lost_workers
    # A sweep may have ended tasks that others wait for.
    if has_settled or sweeping:
        report.settled = stage("settling", carry_over) or 0
    stage("handing out", lambda: _hand_out(settings, number, report))
    waiting = leader.renew_and_look(epoch, settings.leader_lease_seconds)
    if waiting is None:
        raise Deposed(f"epoch {epoch} is over")
    return report, waiting


def _look_at_jobs(epoch: int) -> int:
    """Look at some jobs after the other, until none is left or a while has passed."""
    until = time.perf_counter() + JOBS_SECONDS
    moved = 0
    while True:
        try:
            look = _job_round(epoch, JOBS_AT_ONCE)
        except Exception as error:
            if not _is_of_a_job(error):
                raise
            return moved + _look_one_by_one(epoch)
        moved += look.moved
        if not look.more or time.perf_counter() >= until:
            return moved


def _is_of_a_job(error: Exception) -> bool:
    """Whether what was looked at is to blame, and not that the record cannot be used now."""
    if isinstance(error, OperationalError | InterfaceError):
        return isinstance(error.__cause__, OF_A_ROW)
    return not isinstance(error, Deposed)


def _look_one_by_one(epoch: int) -> int:
    """Look at each job alone; one that cannot be looked at waits behind the others."""
    moved = 0
    for _ in range(JOBS_AT_ONCE):
        connection.close_if_unusable_or_obsolete()
        job_id = jobs.first_news()
        if job_id is None:
            break
        try:
            moved += _job_round(epoch, 1).moved
        except Exception as error:
            if not _is_of_a_job(error):
                raise
            _tell(job_id, error)
            connection.close_if_unusable_or_obsolete()
            _put_last(epoch, job_id)
    return moved


def _tell(job_id: UUID, error: Exception) -> None:
    """Name a job that cannot be looked at in the log, once a minute: each round may try again."""
    now = time.monotonic()
    if now >= _told.get(job_id, float("-inf")) + TELL_SECONDS:
        _told[job_id] = now
        log.error("job %s cannot be looked at; the others go on", job_id, exc_info=error)


@leading
def _put_last(epoch: int, job_id: UUID) -> None:
    jobs.put_last(job_id)
    if not leader.renew(epoch, supervisor_settings().leader_lease_seconds):
        raise Deposed(f"epoch {epoch} is over")


@leading
def _job_round(epoch: int, limit: int) -> JobsLook:
    """Apart, because a job is locked before its tasks, and the round has locked tasks."""
    look = settle_jobs(limit)
    if not leader.renew(epoch, supervisor_settings().leader_lease_seconds):
        raise Deposed(f"epoch {epoch} is over")
    return look


@leading
def _bulk_round(epoch: int) -> int:
    """Apart as well: a batch is bounded by itself, and a bulk is locked before its tasks."""
    moved = advance_bulk()
    if not leader.renew(epoch, supervisor_settings().leader_lease_seconds):
        raise Deposed(f"epoch {epoch} is over")
    return moved


def _hand_out(settings: SupervisorSettings, number: int, report: RoundReport) -> None:
    snapshot, plan = _plan(settings, number)
    report.ready = len(snapshot.ready)
    report.in_flight = sum(worker.active for worker in snapshot.workers)
    if not snapshot.ready:
        return
    handed: Counter[str] = Counter()
    for some in apart("handing out task", plan.assignments, dispatch.dispatch, _task_of):
        handed.update(some)
    dispatch.save_cursors(plan.cursors)
    dispatch.save_turns(plan.turns)
    breakers.spend_tokens(plan.spent)
    for assignment in plan.assignments:
        for guarded in assignment.probes:
            breakers.set_probe(guarded, assignment.task_id)
    _earn_retries(snapshot, plan)
    events.wake_workers(handed)
    report.dispatched = handed.total()
    report.left = Counter(plan.left.values())
    # Whoever draws up a sample asks once a second; a round itself has no time for it.
    report.unplaced = lambda: Counter(
        (task.kind, plan.left[task.id]) for task in snapshot.ready if task.id in plan.left
    )


def _task_of(assignment: Assignment) -> UUID:
    return assignment.task_id


def _plan(settings: SupervisorSettings, number: int) -> tuple[Snapshot, DispatchPlan]:
    snapshot, looked_at = read_snapshot(settings, seed=number)
    plan = plan_dispatch(snapshot)
    hidden = kinds_hidden_by_locks(snapshot, plan, looked_at)
    if hidden:
        snapshot = look_past_locks(snapshot, plan, hidden, settings.window)
        plan = plan_dispatch(snapshot)
    return snapshot, plan


def _earn_retries(snapshot: Snapshot, plan: DispatchPlan) -> None:
    """Only first attempts pay for retries, so that a storm of them cannot feed itself."""
    saving = {name for name, kind in snapshot.kinds.items() if kind.has_retry_budget}
    if not saving:
        return
    again = {task.id for task in snapshot.ready if task.failed_on}
    breakers.earn_credit(
        Counter(a.kind for a in plan.assignments if a.kind in saving and a.task_id not in again)
    )
