"""What time does to a worker: timeouts, trust and grace that run out, handlers that stay."""

import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from tasks_app.sdk.boot import Boot
from tasks_app.sdk.duty import Duty
from tasks_app.sdk.in_flight import NEVER, Execution
from tasks_app.sdk.options import Options
from tasks_app.sdk.outcomes.outcomes import Stop
from tasks_app.sdk.reporter import Reporter
from tasks_app.sdk.slots import Slots

logger: Final = logging.getLogger(__name__)

SETTLE: Final = 1.0
"""Seconds that handlers get to give way when the grace is over, before they are ended by force."""

FINISH_LIMIT: Final = 5.0
"""Seconds after that for the last reports and the goodbye, before the process ends without them."""

LONGEST_PAUSE: Final = 1.0
"""Seconds between two looks, however little there is to watch."""


class Verdict(Enum):
    """What the process should do after a look."""

    GO_ON = auto()
    END_NOW = auto()


class Watch:
    """Looks at the clock on behalf of all other parts; ``look`` is called by one thread.

    All instants are of the worker's monotonic ``clock``.
    """

    def __init__(
        self,
        duty: Duty,
        slots: Slots,
        reporter: Reporter,
        clock: Callable[[], float],
        options: Options,
    ) -> None:
        self._duty = duty
        self._in_flight = duty.in_flight
        self._slots = slots
        self._reporter = reporter
        self._clock = clock
        self._size = options.slots
        self._patience = options.patience
        self._orphans_until = NEVER
        self._stuck_since = NEVER
        self._grace_ends = NEVER
        self._let_go = False
        self.is_stuck = False
        self.is_replaced = False

    def halt(self, execution: Execution, stop: Stop) -> None:
        """Have an execution end: ask it, and force it at once or after it had time to give way."""
        time_to_give_way = {Stop.CANCEL: self._patience, Stop.DRAIN: SETTLE}.get(stop, 0.0)
        force_at = self._clock() + time_to_give_way
        if self._in_flight.mark_stopped(execution, stop, force_at):
            self._slots.interrupt(execution)
            if not time_to_give_way:
                self._slots.force(execution)

    def leave(self, grace: float) -> None:
        """Take nothing new, and end after ``grace`` seconds at the latest."""
        self._grace_ends = min(self._grace_ends, self._clock() + grace)
        self._duty.leave()

    def look(self) -> Verdict:
        """Do whatever is due now."""
        now = self._clock()
        boot = self._duty.boot
        if boot is not None and boot.disowned:
            # Somebody else may have its tasks by now.
            if boot.replaced:
                logger.error(
                    "this worker leaves: its name is in use elsewhere, by a newer process; "
                    "give each worker a --name of its own"
                )
                # Told to stop, it is as one that makes room for its successor.
                self.is_replaced = not self._duty.leaving
                # Before the boot ends: a session that saw that first would register again.
                self.leave(0.0)
            why = "replaced by a newer process" if boot.replaced else "it was lost"
            self._end_boot(boot, why, now + self._patience)
        elif boot is not None and now >= boot.stop_at:
            why = f"no heartbeat was acknowledged for {boot.stop_at - boot.anchor:.3g} s"
            self._end_boot(boot, why, boot.lease_ends_at)
        for execution in self._in_flight.running():
            self._look_at(execution, now)
        self._look_for_stuck_slots(now)
        self._look_at_grace(now)
        return self._verdict(now)

    def pause(self) -> float:
        """Seconds until the next look is due; anything that comes sooner must hurry it."""
        now = self._clock()
        next_at = now + LONGEST_PAUSE
        # Set before the executions are read: one that begins meanwhile sees it, or is seen.
        self._in_flight.watched_until = next_at
        boot = self._duty.boot
        instants = [self._orphans_until, self._grace_ends]
        instants += [self._grace_ends + SETTLE, self._grace_ends + SETTLE + FINISH_LIMIT]
        instants += [boot.stop_at] if boot is not None else []
        for execution in self._in_flight.running():
            instants += [NEVER if execution.is_zombie else execution.deadline, execution.force_at]
        next_at = min([next_at, *(instant for instant in instants if instant > now)])
        self._in_flight.watched_until = next_at
        return next_at - now

    def _end_boot(self, boot: Boot, why: str, orphans_until: float) -> None:
        self._orphans_until = orphans_until
        # One step for all others: a session that sees the end sees its orphans too.
        with self._in_flight.changed:
            self._duty.end(boot)
            mine = [e for e in self._in_flight.running() if e.worker_id == boot.worker_id]
            for execution in mine:
                self.halt(execution, Stop.BOOT_ENDED)
        logger.warning("boot %s ended: %s; stopped %d tasks", boot.worker_id, why, len(mine))

    def _look_at(self, execution: Execution, now: float) -> None:
        if now >= execution.deadline and not execution.is_zombie:
            report = self._in_flight.time_out(execution)
            if report is not None:
                grant = execution.grant
                logger.warning(
                    "task %s (%s) %s within %g s",
                    grant.task_id,
                    grant.kind,
                    "did not finish" if execution.begun else "could not begin",
                    execution.timeout,
                )
                self._reporter.put(execution.worker_id, report)
                self.halt(execution, Stop.TIMEOUT)
        elif now >= execution.force_at:
            execution.force_at = NEVER
            self._slots.force(execution)

    def _look_for_stuck_slots(self, now: float) -> None:
        """A worker whose every slot is held by a handler that will not stop is of no use."""
        if self._in_flight.zombies < self._size:
            self._stuck_since = NEVER
        elif self._stuck_since == NEVER:
            self._stuck_since = now
        elif now >= self._stuck_since + self._patience and not self.is_stuck:
            self.is_stuck = True
            logger.error("every slot is held by a handler that will not stop: ending this process")
            self.leave(0.0)

    def _look_at_grace(self, now: float) -> None:
        if now < self._grace_ends:
            return
        for execution in self._in_flight.running():
            if not execution.is_zombie:
                self.halt(execution, Stop.DRAIN)
        if now >= self._grace_ends + SETTLE and not self._let_go:
            self._let_go = True
            for worker_id, report in self._in_flight.let_go():
                self._reporter.put(worker_id, report)

    def _verdict(self, now: float) -> Verdict:
        if now >= self._grace_ends + SETTLE + FINISH_LIMIT:
            logger.error(
                "ending with %d results unreported: the supervisor will reclaim their leases",
                self._in_flight.unreported,
            )
            return Verdict.END_NOW
        orphans = self._in_flight.orphans
        if not orphans:
            self._orphans_until = NEVER
        elif now >= self._orphans_until:
            logger.error("%d handlers outlive their leases: ending this process", orphans)
            return Verdict.END_NOW
        return Verdict.GO_ON
