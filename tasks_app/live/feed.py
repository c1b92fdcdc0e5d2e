"""The feed: one thread a web process that listens for samples and tells all its websockets."""

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from django.db import Error, close_old_connections, connection

from tasks_app.live.subscriptions import Subscription
from tasks_app.services.dispatch.listening import feed_listener
from tasks_app.store.reads.dispatch.series import Point, latest_point, read_oldest
from tasks_app.store.reads.jobs.inbox import waiting_label

log = logging.getLogger(__name__)

THREAD: Final = "live-feed"
POLL_SECONDS: Final = 1.0
"""A notification is a hint that may be lost: the record is asked so often in any case."""

UNCHANGED_SECONDS: Final = 5.0
"""Heartbeats and ages move without any figure of a sample: tables are fetched so often anyway."""


class Feed:
    """Runs while it has subscribers, so that a process that nobody watches holds no connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscriptions: set[Subscription] = set()
        self._thread: threading.Thread | None = None

    def subscribe(self, subscription: Subscription) -> None:
        """Tell this one too, from now on."""
        with self._lock:
            self._subscriptions.add(subscription)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
                self._thread.start()

    def unsubscribe(self, subscription: Subscription) -> None:
        """Tell it nothing more; the thread ends within a second when it was the last."""
        with self._lock:
            self._subscriptions.discard(subscription)

    def _wanted(self) -> bool:
        """Whether to go on; the decision and the end of the thread are one step under the lock."""
        with self._lock:
            if not self._subscriptions:
                self._thread = None
            return bool(self._subscriptions)

    def _run(self) -> None:
        reader = Reader()
        try:
            with feed_listener() as listener:
                while True:
                    message = reader.read()
                    if message is not None:
                        self._tell(message)
                    if not self._wanted():
                        break
                    listener.wait(POLL_SECONDS)
        finally:
            connection.close()
            self._end()

    def _end(self) -> None:
        """Also by an exception: a page that hears nothing comes back, and begins a new thread."""
        with self._lock:
            if self._thread is threading.current_thread():
                self._thread = None

    def _tell(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            subscriptions = tuple(self._subscriptions)
        for subscription in subscriptions:
            subscription.offer(message)


class Reader:
    """Reads the record's newest second and tells what is new in it."""

    def __init__(self) -> None:
        self._last: Point | None = None
        self._told_at = 0.0
        self._changed_at = 0.0

    def read(self) -> Mapping[str, Any] | None:
        """The next message, or None when there is nothing to say yet.

        ``now`` and ``oldest`` are seconds since the epoch, by the database; ``sample`` is a new
        second of the record; ``inbox`` is what waits for people, as the badge says it; ``changed``
        asks the tables to fetch themselves again; ``away`` says that the database does not answer.
        """
        try:
            close_old_connections()
            point, oldest, inbox = latest_point(), read_oldest(), waiting_label()
        except Error as error:
            connection.close()
            log.warning("the live feed cannot read the record: %s", str(error).strip())
            return {"away": True}
        fresh = point is not None and (self._last is None or point.at != self._last.at)
        if not fresh and time.monotonic() - self._told_at < POLL_SECONDS * 0.9:
            return None
        message: dict[str, Any] = {
            "now": oldest.now,
            "oldest": oldest.created,
            "changed": self._changed(point),
            "inbox": inbox,
        }
        if fresh and point is not None:
            message["sample"] = point.as_json()
            self._last = point
        self._told_at = time.monotonic()
        return message

    def _changed(self, point: Point | None) -> bool:
        moved = point is not None and (
            self._last is None or _figures(point) != _figures(self._last)
        )
        if not moved and time.monotonic() - self._changed_at < UNCHANGED_SECONDS:
            return False
        self._changed_at = time.monotonic()
        return True


def _figures(point: Point) -> tuple[Any, ...]:
    return point.by_status, point.active, point.oldest


feed: Final = Feed()
"""The process's one feed."""
