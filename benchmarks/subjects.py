"""What is measured: the product and the bare floor, each asked the same things."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import psycopg

from benchmarks import floor
from benchmarks.stage import Stage, end, last_json
from benchmarks.stamps import Stamps

ENQUEUE_BATCH: Final = 1000
LONGEST_DRAIN: Final = 120.0
LOOK: Final = 0.05


@dataclass(frozen=True, slots=True)
class Drain:
    """How fast a full queue emptied, in tasks a second from the first completion to the last.

    ``dispatch_us`` is D: microseconds of the supervisor a task.
    """

    rate: float
    dispatch_us: float


class Subject(Protocol):
    """One of the two."""

    name: str

    def reset(self, workers: int) -> None:
        """An empty record, and who may work on it."""

    def enqueue(self, count: int) -> float:
        """Submit tasks in batches of 1,000; return how many a second."""

    def drain(self, count: int, batch: int, workers: int) -> Drain:
        """Let so many workers of ``batch`` slots empty a queue of ``count``."""

    def pick_up(self, samples: int, stamps: Stamps) -> list[float]:
        """Milliseconds from a submission to the first statement of its body, on an idle worker."""


ENDS: Final = """
SELECT count(*), extract(epoch FROM max(ended_at) - min(ended_at))::float8,
       count(*) FILTER (WHERE ended_at = (SELECT min(ended_at) FROM attempt))
  FROM attempt
"""
EMPTY: Final = """
SELECT NOT EXISTS (SELECT FROM lease) AND NOT EXISTS (SELECT FROM task WHERE status = 'PENDING')
"""


def await_empty(url: str) -> float:
    """Wait until nothing is queued or in flight; return the steady rate, tasks a second."""
    give_up = time.monotonic() + LONGEST_DRAIN
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < give_up:
            if connection.execute(EMPTY).fetchone() == (True,):
                break
            time.sleep(LOOK)
        else:
            raise TimeoutError(f"the queue was not empty after {LONGEST_DRAIN:g} s")
        found = connection.execute(ENDS).fetchone()
    count, seconds, first = found or (0, None, 0)
    return (count - first) / seconds if seconds else float("nan")


class Floor:
    """The bare program."""

    name = "floor"

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._url = stage.create("floor")

    def reset(self, workers: int) -> None:
        """Make the tables anew."""
        floor.prepare(self._url, workers)

    def enqueue(self, count: int) -> float:
        """Insert by one statement a batch."""
        with floor.connect(self._url) as connection:
            began = time.perf_counter()
            floor.enqueue(connection, count, ENQUEUE_BATCH)
            return count / (time.perf_counter() - began)

    @contextmanager
    def _processes(self, batch: int, workers: int) -> Iterator[Any]:
        program = ("-m", "benchmarks.floor")
        with ExitStack() as started:
            for number in range(1, workers + 1):
                words = (*program, "work", self._url, str(batch), str(number))
                started.enter_context(self._stage.process(*words))
            yield started.enter_context(
                self._stage.process(*program, "dispatch", self._url, str(batch))
            )

    def drain(self, count: int, batch: int, workers: int) -> Drain:
        """The dispatcher says itself how long its rounds took."""
        self.reset(workers)
        self.enqueue(count)
        self._stage.settle()
        with self._processes(batch, workers) as dispatcher:
            rate = await_empty(self._url)
            report = last_json(end(dispatcher))
        return Drain(rate, 1e6 * report["seconds"] / report["dispatched"])

    def pick_up(self, samples: int, stamps: Stamps) -> list[float]:
        """One worker, idle between two samples."""
        self.reset(1)
        with self._processes(100, 1), floor.connect(self._url) as connection:

            def submit() -> None:
                payload = json.dumps({"stamp": True})
                connection.execute(floor.INSERT, [[floor.new_id()], [payload], [1.0]])

            return stamps.collect(submit, samples)
