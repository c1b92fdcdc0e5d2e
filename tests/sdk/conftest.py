"""A worker on a plane in memory, run in a thread of the test."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tasks_app.sdk.handlers import HandlerError
from tasks_app.sdk.options import Options
from tasks_app.sdk.runtime import Worker
from tests.sdk import misbehaving
from tests.sdk.plane import PATIENCE, Plane

MODULES = ("tests.sdk.misbehaving",)


class Clock:
    """The monotonic clock, which a test may push forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Running:
    """A worker in a thread; ``exits`` are the codes with which it wanted to end the process."""

    def __init__(self, plane: Plane, clock: Clock, **options: Any) -> None:
        self.plane = plane
        self.clock = clock
        self.exits: list[int] = []
        self.code: int | None = None
        self.error: HandlerError | None = None
        values = {"modules": MODULES, "name": "w1", "slots": 2, "grace": 0.2, "patience": 0.3}
        self.worker = Worker(
            plane,
            Options(**{**values, **options}),
            clock=clock,
            end_process=self.exits.append,
        )
        self._thread = threading.Thread(target=self._run, name="worker-under-test", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.code = self.worker.run()
        except HandlerError as error:
            self.error = error

    def ended(self) -> bool:
        return not self._thread.is_alive()

    def join(self) -> int | None:
        """Wait for the end; return the exit code."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the worker does not end"
        return self.code

    def leave(self) -> int | None:
        self.worker.stop()
        return self.join()


Start = Callable[..., Running]


@pytest.fixture
def plane() -> Plane:
    return Plane()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def start(plane: Plane, clock: Clock) -> Iterator[Start]:
    """Start workers; whatever a test leaves running is ended after it."""
    running: list[Running] = []

    def begin(**options: Any) -> Running:
        running.append(Running(plane, clock, **options))
        return running[-1]

    misbehaving.LET_GO.clear()
    misbehaving.BEGUN.clear()
    yield begin
    misbehaving.LET_GO.set()
    plane.down = False
    for one in running:
        one.leave()
