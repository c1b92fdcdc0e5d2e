"""One boot of this worker: its identity, and for how long it may trust its leases."""

import threading
from typing import Final
from uuid import UUID

from tasks_app.sdk.link import Registered

MARGIN: Final = 0.1
"""Share of ``stale_after`` kept free before a lease ends, so that work has stopped by then."""

BEATS_IN_TRUST: Final = 3
"""Heartbeats that must go missing before work stops, however ``stale_after`` is set."""


class Boot:
    """An identity and its leases' life, on a monotonic clock in seconds.

    ``anchor`` is the instant at which the last call that was acknowledged, the registration or a
    heartbeat, was *started*: the control plane noted the sign of life later than that, so a lease
    never ends before ``lease_ends_at``. ``disowned`` once the control plane said that it does not
    know this identity, ``replaced`` where another process has its name; ``ended`` once nothing is
    done under it any more.
    """

    def __init__(self, registered: Registered, anchor: float) -> None:
        self.worker_id: UUID = registered.worker_id
        self.stale_after = registered.stale_after
        trust = self.stale_after * (1 - MARGIN)
        self.heartbeat_every = min(registered.heartbeat_every, trust / BEATS_IN_TRUST)
        self.anchor = anchor
        self.disowned = False
        self.replaced = False
        self.ended = threading.Event()

    @property
    def stop_at(self) -> float:
        """When work under this boot stops, unless a heartbeat is acknowledged before."""
        return self.anchor + self.stale_after * (1 - MARGIN)

    @property
    def lease_ends_at(self) -> float:
        """When the control plane may at the earliest give the boot's tasks to somebody else."""
        return self.anchor + self.stale_after
