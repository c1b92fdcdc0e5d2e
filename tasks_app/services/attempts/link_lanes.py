"""Threads with a database connection of their own, on which a worker's link makes its calls."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from django.db import connections

R = TypeVar("R")

CLOSE_LIMIT: Final = 2.0
"""Seconds for the calls under way to end when a lane is closed."""


class Lane:
    """Runs calls for other threads, ``width`` at a time; methods may be called by any thread."""

    def __init__(self, name: str, width: int = 1) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        # Daemons: a call that hangs must not hold up the end of the process.
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number + 1}", daemon=True)
            for number in range(width)
        ]
        self._starting = threading.Lock()
        self._started = False

    def call(self, function: Callable[[], R]) -> R:
        """Run it on one of the lane's threads; return or raise what it does."""
        with self._starting:
            if not self._started:
                self._started = True
                for thread in self._threads:
                    thread.start()
        ended: Future[R] = Future()
        self._calls.put((function, ended))
        return ended.result()

    def close(self) -> None:
        """End the threads and their connections; nothing is called afterwards."""
        with self._starting:
            if not self._started:
                return
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join(CLOSE_LIMIT)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            function, ended = call
            try:
                ended.set_result(function())
            except BaseException as error:  # noqa: BLE001  raised again by the caller
                ended.set_exception(error)
            # What a call brought may be large, and the next one an hour away.
            del call, function, ended
        connections.close_all()
