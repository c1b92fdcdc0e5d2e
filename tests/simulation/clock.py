"""A virtual clock: the record grows older instead of the world.

The store reads the database's clock only, so moving every instant on record back by d seconds is,
to all of its statements, what d seconds of waiting would be.
"""

import time
from typing import Final

from django.db import connection

INSTANTS: Final = {
    "attempt": ("assigned_at", "started_at", "ended_at", "next_run_at"),
    "breaker_state": ("since",),
    "heartbeat": ("at", "previous_at"),
    "kind": ("quarantined_at", "quarantine_freed_at"),
    "leader": ("since", "expires_at", "last_round_at", "served_since"),
    "lease": ("assigned_at", "started_at"),
    "limit_state": ("at", "paused_until", "start_at"),
    "retry_credit": ("at",),
    "task": ("created_at", "run_at", "ready_at", "queue_at", "deadline_at", "finished_at"),
    "worker": ("registered_at", "ended_at"),
}
"""The columns that statements compare with the clock or with each other."""


class Clock:
    """Time passes only when it is told to: what the statements themselves took is taken off."""

    def __init__(self) -> None:
        self._real = time.monotonic()

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass."""
        now = time.monotonic()
        shift = seconds - (now - self._real)
        self._real = now
        statements = [
            f"UPDATE {table} SET "
            + ", ".join(f"{c} = {c} - interval '{shift:.6f} seconds'" for c in columns)
            for table, columns in INSTANTS.items()
        ]
        with connection.cursor() as cursor:
            cursor.execute("; ".join(statements))
