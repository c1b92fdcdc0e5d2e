"""The worker's standing conversation: register, claim what fits, and leave in good order."""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from tasks_app.sdk.boot import Boot
from tasks_app.sdk.duty import Duty
from tasks_app.sdk.effects import LinkRecord
from tasks_app.sdk.handlers import Handler, handler_of
from tasks_app.sdk.in_flight import Execution
from tasks_app.sdk.link import Link, Registration, WorkerReplaced, WorkerUnknown
from tasks_app.sdk.outage import Outage
from tasks_app.sdk.slots import Slots

logger: Final = logging.getLogger(__name__)

SHORTEST_WAIT: Final = 0.02
LONGEST_WAIT: Final = 2.0
"""Seconds to wait for a hint before asking anyway. Hints may be lost and asking is the truth: 20 to
50 ms while there was work a moment ago, doubling up to what an idle fleet costs nobody."""

MOST_UNREPORTED: Final = 2000
"""Reports that may wait while more is claimed; it bounds memory when reporting is slow."""


class Session:
    """Registers, claims and leaves from a thread of its own."""

    def __init__(
        self,
        link: Link,
        registration: Registration,
        handlers: Mapping[str, Handler],
        duty: Duty,
        slots: Slots,
        clock: Callable[[], float],
    ) -> None:
        self._link = link
        self._registration = registration
        self._handlers = handlers
        self._duty = duty
        self._in_flight = duty.in_flight
        self._slots = slots
        self._clock = clock
        self._outage = Outage("claim")

    def run(self) -> None:
        """Work boot after boot until the worker leaves; the body of the thread."""
        boot: Boot | None = None
        while not self._duty.leaving:
            boot = self._register(boot)
            if boot is not None:
                self._serve(boot)
        self._leave(boot)

    def _register(self, old: Boot | None) -> Boot | None:
        """Register once nothing of the old boot runs any more; None if the worker leaves first."""
        outage = Outage("register")
        with self._in_flight.changed:
            self._in_flight.changed.wait_for(
                lambda: (
                    self._duty.leaving
                    or ((old is None or old.ended.is_set()) and not self._in_flight.orphans)
                )
            )
        while not self._duty.leaving:
            started = self._clock()
            try:
                registered = self._link.register(self._registration)
            except Exception as error:  # noqa: BLE001  logged; there is nothing else to do but retry
                self._pause(outage.failed(error))
                continue
            outage.succeeded()
            boot = Boot(registered, started)
            self._duty.begin(boot)
            logger.info(
                "registered as %s (%s), heartbeat every %g s, leases end after %g s",
                self._registration.name,
                boot.worker_id,
                boot.heartbeat_every,
                boot.stale_after,
            )
            if registered.for_people:
                names = ", ".join(registered.for_people)
                logger.warning("people do %s: this worker gets none of it", names)
            return boot
        return None

    def _serve(self, boot: Boot) -> None:
        """Claim for the free slots until the boot ends or the worker leaves."""
        wait = SHORTEST_WAIT
        while self._await_room(boot):
            limit = self._in_flight.free
            try:
                claimed = self._claim(boot, limit)
                if claimed == limit:
                    wait = SHORTEST_WAIT
                    continue
                wait = SHORTEST_WAIT if claimed else min(LONGEST_WAIT, wait * 1.5)
                self._link.wait_for_work(boot.worker_id, wait)
            except WorkerUnknown as error:
                self._duty.disown(boot.worker_id, replaced=isinstance(error, WorkerReplaced))
                return
            except Exception as error:  # noqa: BLE001  logged; what was claimed unheard is reclaimed
                self._pause(self._outage.failed(error))
            else:
                self._outage.succeeded()

    def _await_room(self, boot: Boot) -> bool:
        """Wait until something may be claimed; False when never again under this boot."""
        duty, in_flight = self._duty, self._in_flight

        def over() -> bool:
            return duty.leaving or boot.ended.is_set()

        def room() -> bool:
            return in_flight.free > 0 and not duty.paused and in_flight.unreported < MOST_UNREPORTED

        with in_flight.changed:
            in_flight.changed.wait_for(lambda: over() or room())
            return not over()

    def _claim(self, boot: Boot, limit: int) -> int:
        grants = self._link.claim(boot.worker_id, limit)
        executions = [
            Execution(
                boot.worker_id,
                grant,
                handler_of(self._handlers, grant.kind),
                LinkRecord(self._link, boot.worker_id, grant.task_id, grant.token),
            )
            for grant in grants
        ]
        with self._in_flight.changed:
            # The boot may have ended while the answer was on its way: then these are not ours.
            if boot.ended.is_set():
                return 0
            self._in_flight.add(executions)
        self._slots.submit(executions)
        return len(executions)

    def _pause(self, seconds: float) -> None:
        """Wait, unless the worker leaves."""
        with self._in_flight.changed:
            self._in_flight.changed.wait_for(lambda: self._duty.leaving, seconds)

    def _leave(self, boot: Boot | None) -> None:
        """Give back what was not begun, see the rest reported, end the boot."""
        if boot is None or boot.ended.is_set():
            self._await_reports()
            return
        self._insist(boot, self._link.drain)
        self._await_reports()
        self._insist(boot, self._link.deregister)
        self._duty.end(boot)

    def _await_reports(self) -> None:
        """Wait until nothing is open and every report is accepted; the watch sees to the grace."""
        in_flight = self._in_flight
        with in_flight.changed:
            in_flight.changed.wait_for(lambda: not in_flight.open and not in_flight.unreported)

    def _insist(self, boot: Boot, call: Callable[..., None]) -> None:
        """Repeat a call until it took effect; the watch sees to it that this has an end."""
        outage = Outage(call.__name__)
        while not boot.ended.is_set():
            try:
                call(boot.worker_id)
            except WorkerUnknown:
                return
            except Exception as error:  # noqa: BLE001  logged; repeated
                self._rest(outage.failed(error))
            else:
                outage.succeeded()
                return

    def _rest(self, seconds: float) -> None:
        with self._in_flight.changed:
            self._in_flight.changed.wait(seconds)
