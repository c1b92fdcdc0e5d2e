"""Hearing hints: one connection that only listens, apart from those that work.

One connection for both makes listening and working wait for each other.
"""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import psycopg
from django.db import connections
from psycopg import sql

from tasks_app import events


class Listener:
    """Waits for notifications on some channels; reconnects when the server comes back.

    Losing a connection loses hints, never work: ``wait`` then returns early as if hinted.
    """

    def __init__(self, *channels: str) -> None:
        self._channels = channels
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    def _connected(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None or self._connection.closed:
            wrapper = connections["default"]
            params = wrapper.get_connection_params()
            for name in ("cursor_factory", "context", "prepare_threshold"):
                params.pop(name, None)
            self._connection = psycopg.connect(**params, autocommit=True)
            for channel in self._channels:
                self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        return self._connection

    def wait(self, timeout: float) -> Sequence[str]:
        """Return the payloads heard, or an empty list after ``timeout`` seconds.

        Raises nothing when the server is away: it waits the timeout out, for the caller polls.
        """
        began = time.monotonic()
        try:
            connection = self._connected()
            return [n.payload for n in connection.notifies(timeout=timeout, stop_after=1)]
        except (psycopg.OperationalError, psycopg.InternalError):
            # The second is a standby's answer to LISTEN.
            self.close()
            time.sleep(max(0.0, min(timeout, 1.0) - (time.monotonic() - began)))
            return []

    def wait_for(self, wanted: Callable[[str], bool], timeout: float) -> bool:
        """Wait for a payload that is wanted, at most ``timeout`` seconds; tell whether it came."""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            if any(wanted(payload) for payload in self.wait(left)):
                return True
        return False

    def close(self) -> None:
        """Close the listening connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def feed_listener() -> Listener:
    """A listener for the live screens: it hears of each sample."""
    return Listener(events.FEED)
