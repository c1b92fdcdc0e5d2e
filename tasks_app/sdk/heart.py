"""The heartbeat: one sign of life for all leases, and the orders that its answer brings."""

from collections.abc import Callable

from tasks_app.sdk.boot import Boot
from tasks_app.sdk.duty import Duty
from tasks_app.sdk.in_flight import Execution
from tasks_app.sdk.link import Link, Orders, WorkerReplaced, WorkerUnknown
from tasks_app.sdk.outage import Outage
from tasks_app.sdk.outcomes.outcomes import Stop


class Heart:
    """Beats from a thread of its own, so that no other call can delay it; ``halt`` stops work."""

    def __init__(
        self,
        link: Link,
        duty: Duty,
        clock: Callable[[], float],
        halt: Callable[[Execution, Stop], None],
    ) -> None:
        self._link = link
        self._duty = duty
        self._in_flight = duty.in_flight
        self._clock = clock
        self._halt = halt

    def run(self) -> None:
        """Beat for boot after boot until the worker has left; the body of the thread."""
        while (boot := self._next_boot()) is not None:
            outage = Outage("heartbeat")
            # Registering was the first sign of life.
            pause = boot.heartbeat_every
            while not boot.ended.wait(pause):
                pause = self._beat(boot, outage)

    def _next_boot(self) -> Boot | None:
        with self._in_flight.changed:
            self._in_flight.changed.wait_for(
                lambda: self._duty.boot is not None or self._duty.leaving
            )
            return self._duty.boot

    def _beat(self, boot: Boot, outage: Outage) -> float:
        """Beat once; return the pause until the next, in seconds."""
        started = self._clock()
        try:
            orders = self._link.heartbeat(
                boot.worker_id,
                self._in_flight.names(boot.worker_id),
                self._in_flight.progress(boot.worker_id),
            )
        except WorkerUnknown as error:
            self._duty.disown(boot.worker_id, replaced=isinstance(error, WorkerReplaced))
            return boot.heartbeat_every
        except Exception as error:  # noqa: BLE001  logged; without an answer work stops in time
            return min(boot.heartbeat_every, outage.failed(error))
        outage.succeeded()
        boot.anchor = started
        self._obey(orders)
        return boot.heartbeat_every

    def _obey(self, orders: Orders) -> None:
        self._duty.pause(orders.drain)
        for tokens, stop in ((orders.lost, Stop.LOST), (orders.cancel, Stop.CANCEL)):
            for token in tokens:
                execution = self._in_flight.find(token)
                if execution is not None:
                    self._halt(execution, stop)
