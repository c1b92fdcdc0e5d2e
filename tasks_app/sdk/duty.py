"""What the threads of a worker must agree on: the present boot, and whether to take new work."""

import logging
from collections.abc import Callable
from typing import Final
from uuid import UUID

from tasks_app.sdk.boot import Boot
from tasks_app.sdk.in_flight import InFlight

logger: Final = logging.getLogger(__name__)


class Duty:
    """The worker's standing with the control plane; thread-safe by ``in_flight.changed``.

    ``paused`` while an operator wants nothing new taken; ``leaving`` once this process is to end.
    ``hurry`` makes the watch look at what changed.
    """

    def __init__(self, in_flight: InFlight, hurry: Callable[[], None]) -> None:
        self.in_flight = in_flight
        self.boot: Boot | None = None
        self.paused = False
        self.leaving = False
        self._hurry = hurry

    def begin(self, boot: Boot) -> None:
        """Registered: heartbeats and claims are under this identity from now on."""
        with self.in_flight.changed:
            self.boot = boot
            self.in_flight.changed.notify_all()
        self._hurry()

    def disown(self, worker_id: UUID, *, replaced: bool = False) -> None:
        """The control plane does not know this identity: have the watch end its boot.

        ``replaced``: another process has its name, so that this one leaves.
        """
        with self.in_flight.changed:
            if self.boot is not None and self.boot.worker_id == worker_id:
                self.boot.replaced |= replaced
                self.boot.disowned = True
        self._hurry()

    def end(self, boot: Boot) -> None:
        """The identity counts no more."""
        with self.in_flight.changed:
            boot.ended.set()
            if self.boot is boot:
                self.boot = None
            self.in_flight.changed.notify_all()

    def pause(self, paused: bool) -> None:
        """An operator's wish, as each heartbeat's answer repeats it."""
        with self.in_flight.changed:
            if paused is self.paused:
                return
            self.paused = paused
            self.in_flight.changed.notify_all()
        logger.info("an operator drains this worker" if paused else "this worker takes work again")

    def leave(self) -> None:
        """Take nothing new and end when all is done."""
        with self.in_flight.changed:
            self.leaving = True
            self.in_flight.changed.notify_all()
