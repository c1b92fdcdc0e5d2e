"""The shift: stand by for the leader lease, then run rounds on duty until the shift is over."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.db import InterfaceError, OperationalError, connection

from tasks_app import events
from tasks_app.core.dispatch.shifts import ShiftEnd
from tasks_app.services.dispatch.leader_holders import is_gone
from tasks_app.services.dispatch.listening import Listener
from tasks_app.services.dispatch.rounds import Deposed, RoundReport, run_round
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.dispatch.sequence_repair import repair_sequences
from tasks_app.services.settings.pruning import Pruner
from tasks_app.store.dispatch import leader
from tasks_app.store.reads.dispatch.leader_status import read_duty
from tasks_app.store.reads.settings.configuration import supervisor_settings
from tasks_app.store.settings.vacuum import vacuum_what_churns

log = logging.getLogger(__name__)

BUSY_POLL: Final = 0.02
"""Pause between rounds while work moves: finished workers are refilled within it (20 to 50 ms)."""

LONGEST_POLL: Final = 0.2
"""Pause that it grows to while work is in flight and nothing moves. A completion sends no hint: a
leader that waited for its tick left workers idle for up to a second once they had finished."""

BULK: Final = 100
BULK_PAUSE: Final = 0.001
"""After a round that handed out so many: workers that take them so fast are soon done with them.
A round that handed out fewer is followed the later, the fewer they were."""

DEAD_ROWS: Final = 10_000
"""Leases that were handed out since the tables that churn were last vacuumed."""

STANDBY_POLL: Final = 0.25
STANDBY_TOLD: Final = 2.0
"""How often one who stands by says so on record."""

FIRST_RECONNECT: Final = 0.05
LONGEST_RECONNECT: Final = 1.0
"""Pauses between tries to reach a database that is away, in seconds; each doubles the last one."""

AWAY_SECONDS: Final = 30.0
"""How long one run tries before it returns: a Celery thread is given back for the next message."""


@dataclass(slots=True)
class ShiftReport:
    """What one run came to: whether it led, its epoch, and how many rounds and dispatches."""

    led: bool = False
    epoch: int = 0
    rounds: int = 0
    dispatched: int = 0
    ended: str = "stood by"


def stand_by(holder: str, until: float, stopping: Callable[[], bool]) -> int | None:
    """Wait for the leader lease until a monotonic instant; return the epoch when it was won."""
    told = float("-inf")
    while not stopping() and time.monotonic() < until:
        settings = supervisor_settings()
        epoch = leader.acquire(holder, settings.leader_lease_seconds)
        if epoch is not None:
            return epoch
        if time.monotonic() - told >= STANDBY_TOLD:
            leader.stand_by(holder)
            told = time.monotonic()
        duty = read_duty()
        if is_gone(duty.holder):
            # Killed on this machine: nothing is gained by waiting its lease out.
            leader.expire(duty.epoch)
            continue
        expires_in = duty.expires_in or 0.0
        time.sleep(min(max(expires_in, 0.02), STANDBY_POLL))
    return None


def run_shift(holder: str, stopping: Callable[[], bool]) -> ShiftReport:
    """Stand by for at most a shift, then lead for at most one; free the lease at the end.

    Returns early when ``stopping`` says so or when another leader took over.
    """
    report = ShiftReport()
    until = time.monotonic() + supervisor_settings().shift_seconds
    epoch = stand_by(holder, until, stopping)
    if epoch is None:
        return report
    report.led, report.epoch = True, epoch
    log.info("on duty: epoch %s, %s", epoch, holder)
    repair_sequences()
    with Listener(events.SUPERVISOR) as listener:
        try:
            _lead(epoch, listener, stopping, report)
        except Deposed:
            report.ended = "deposed"
            log.warning("deposed: epoch %s, %s", epoch, holder)
        else:
            ending = ShiftEnd.STOPPED if stopping() else ShiftEnd.OVER
            leader.free(epoch, ending, rounds=report.rounds, dispatched=report.dispatched)
    return report


def _lead(
    epoch: int, listener: Listener, stopping: Callable[[], bool], report: ShiftReport
) -> None:
    settings = supervisor_settings()
    sampler, pruner = Sampler(), Pruner()
    until = time.monotonic() + settings.shift_seconds
    sweep_due = time.monotonic()
    poll = BUSY_POLL
    swept_out = report.dispatched
    hinted = unswept = False
    while not stopping() and time.monotonic() < until:
        # What was just submitted goes out first; the sweep follows, a tick late at most. One that
        # left something is followed by the next at once.
        due = sweep_due + settings.tick_seconds if hinted else sweep_due
        sweeping = unswept or time.monotonic() >= due
        hinted = False
        if sweeping:
            sweep_due = time.monotonic() + settings.tick_seconds
        round_report = run_round(epoch, report.rounds, sweeping=sweeping)
        unswept = round_report.unswept
        _note(report, sampler, round_report)
        if sampler.due_in() <= 0:
            settings = supervisor_settings()
            sampler.sample(epoch, settings.leader_lease_seconds)
        if pruner.due_in() <= 0:
            pruner.prune(epoch, settings.leader_lease_seconds, busy=round_report.moved)
        if report.dispatched - swept_out >= DEAD_ROWS:
            vacuum_what_churns()
            swept_out = report.dispatched
        if round_report.moved:
            poll = pause_after(round_report.dispatched)
            time.sleep(poll)
            continue
        pause = min(sweep_due - time.monotonic(), sampler.due_in(), pruner.due_in())
        if round_report.in_flight:
            pause = min(pause, poll)
            poll = min(2 * poll, LONGEST_POLL)
        hinted = bool(listener.wait(max(pause, BULK_PAUSE)))
    report.ended = "stopped" if stopping() else "shift over"


def pause_after(dispatched: int) -> float:
    """Seconds until the next round while work moves.

    >>> [round(1000 * pause_after(count)) for count in (0, 50, 90, 100, 500)]
    [20, 10, 2, 1, 1]
    """
    return max(BULK_PAUSE, BUSY_POLL * (1 - dispatched / BULK))


def _note(report: ShiftReport, sampler: Sampler, round_report: RoundReport) -> None:
    sampler.totals.add(round_report)
    report.rounds += 1
    report.dispatched += round_report.dispatched
    if round_report.reclaimed or round_report.lost_workers:
        log.warning(
            "reclaimed %s leases; workers lost: %s",
            round_report.reclaimed,
            ", ".join(round_report.lost_workers) or "none",
        )


def serve(holder: str, stopping: Callable[[], bool]) -> ShiftReport:
    """Run one shift; where the database goes away, come back and take the lease again at once."""
    until = math.inf
    pause = FIRST_RECONNECT
    while True:
        try:
            return run_shift(holder, stopping)
        except (OperationalError, InterfaceError) as error:
            log.warning("the database cannot serve, trying again: %s", str(error).strip())
            connection.close()
        until = min(until, time.monotonic() + AWAY_SECONDS)
        if stopping() or time.monotonic() >= until:
            return ShiftReport(ended="the database was away")
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_RECONNECT)


def supervise(holder: str, stopping: Callable[[], bool]) -> ShiftReport:
    """Serve shift after shift until ``stopping``, however long the database is away."""
    report = ShiftReport()
    while not stopping():
        report = serve(holder, stopping)
    return report
