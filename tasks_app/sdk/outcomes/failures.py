"""Failures on their way to the reporter: kept back until it is clear whether we caused them."""

import logging
import queue
import time
from collections.abc import Callable
from typing import Final
from uuid import UUID

from tasks_app.sdk.link import Failure
from tasks_app.sdk.outcomes.outcomes import LetGo, Outcome, Report
from tasks_app.sdk.stop_signals import KEPT_BACK, StopSignals

logger: Final = logging.getLogger(__name__)


class Failures:
    """Judges failures in a thread of its own, while the slots go on; ``report`` takes them on."""

    def __init__(self, signals: StopSignals, report: Callable[[UUID, Report], object]) -> None:
        self._signals = signals
        self._report = report
        self._queue: queue.SimpleQueue[tuple[float, UUID, Failure, Outcome]] = queue.SimpleQueue()

    def put(self, worker_id: UUID, failure: Failure, outcome: Outcome) -> None:
        """Take a failure and the outcome that it reports."""
        self._queue.put((time.monotonic() + KEPT_BACK, worker_id, failure, outcome))

    def run(self) -> None:
        """Judge one failure after the other; the body of the thread."""
        while True:
            due, worker_id, failure, outcome = self._queue.get()
            self._signals.wait(due - time.monotonic())
            report: Report = failure
            if self._signals.caused(outcome):
                logger.warning(
                    "task %s failed as this worker was told to stop (%s): "
                    "it goes back without an attempt",
                    failure.task_id,
                    failure.error.type,
                )
                report = LetGo(failure.task_id, failure.token)
            self._report(worker_id, report)
