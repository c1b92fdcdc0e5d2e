"""Reports travel in batches and are repeated until they are accepted or known to be stale."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.sdk.link import Completion, Failure, Link, LinkDown, WorkerUnknown
from tasks_app.sdk.outage import Outage
from tasks_app.sdk.outcomes.errors import describe
from tasks_app.sdk.outcomes.outcomes import Report

logger: Final = logging.getLogger(__name__)

BATCH: Final = 200
"""Reports in one call; a call for one costs the database 25 times as much a report as for 100."""

LINGER: Final = 0.02
"""Seconds between two calls while reports keep coming; after a quiet time one goes at once."""

ENOUGH: Final = 50
"""Reports that need not wait for more: the call costs little a report by then."""


class Reporter:
    """Carries reports to the control plane from a thread of its own.

    ``settled`` is called with the tokens that were accepted or are stale, ``unknown`` with the
    identity that the control plane does not accept any more.
    """

    def __init__(
        self,
        link: Link,
        settled: Callable[[Sequence[int]], None],
        unknown: Callable[[UUID], None],
    ) -> None:
        self._link = link
        self._settled = settled
        self._unknown = unknown
        self._queue: queue.SimpleQueue[tuple[UUID, Report] | None] = queue.SimpleQueue()
        self._giving_up = threading.Event()
        self._outage = Outage("report")

    def put(self, worker_id: UUID, report: Report) -> None:
        """Have a report carried under the identity that claimed its task."""
        self._queue.put((worker_id, report))

    def stop(self) -> None:
        """End after what was put before; what cannot be delivered now is given up."""
        self._giving_up.set()
        self._queue.put(None)

    def run(self) -> None:
        """Carry reports until ``stop``; the body of the thread."""
        next_call = 0.0
        while (first := self._queue.get()) is not None:
            batch, more = self._batch_from(first, next_call)
            for (worker_id, kind), reports in _grouped(batch).items():
                self._deliver(worker_id, kind, reports)
            if not more:
                return
            next_call = time.monotonic() + LINGER
            # A result may be large, and the next one may be an hour away.
            del first, batch

    def _batch_from(
        self, first: tuple[UUID, Report], until: float
    ) -> tuple[list[tuple[UUID, Report]], bool]:
        """What waits and what comes until an instant, up to a batch; False when the end was among.

        Once there is enough it takes only what waits already.
        """
        batch = [first]
        while len(batch) < BATCH:
            left = until - time.monotonic() if len(batch) < ENOUGH else 0.0
            try:
                item = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return batch, False
            batch.append(item)
        return batch, True

    def _deliver(self, worker_id: UUID, kind: type[Report], reports: list[Report]) -> None:
        """Repeat one call until it took effect."""
        while True:
            try:
                stale = self._send(worker_id, kind, reports)
            except LinkDown as error:
                pause = self._outage.failed(error)
                if self._giving_up.wait(pause):
                    logger.error("gave up %d unreported results", len(reports))
                    return
            except WorkerUnknown:
                stale = [report.token for report in reports]
                self._unknown(worker_id)
                break
            except Exception as error:  # noqa: BLE001  one bad report must not hold up the others
                self._deliver_singly(worker_id, reports, error)
                return
            else:
                self._outage.succeeded()
                break
        if stale:
            logger.warning("late: the leases of tokens %s were held no more", list(stale))
        self._settled([report.token for report in reports])

    def _send(
        self, worker_id: UUID, kind: type[Report], reports: Sequence[Report]
    ) -> Sequence[int]:
        if kind is Completion:
            return self._link.complete(
                worker_id, [report for report in reports if isinstance(report, Completion)]
            )
        if kind is Failure:
            return self._link.fail(
                worker_id, [report for report in reports if isinstance(report, Failure)]
            )
        self._link.release(worker_id, [report.token for report in reports])
        return ()

    def _deliver_singly(self, worker_id: UUID, reports: list[Report], error: Exception) -> None:
        """Find the report that cannot be stored and fail its task instead."""
        if len(reports) > 1:
            for report in reports:
                self._deliver(worker_id, type(report), [report])
            return
        (report,) = reports
        logger.error("the report of token %d was refused", report.token, exc_info=error)
        if isinstance(report, Completion):
            facts = describe(error)
            refused = ErrorFacts(
                type="ResultRefused",
                message=f"the result could not be stored: {facts.type}: {facts.message}",
            )
            self._deliver(
                worker_id, Failure, [Failure(report.task_id, report.token, error=refused)]
            )
        else:
            # No longer named, its lease is taken back by the supervisor.
            self._settled([report.token])


def _grouped(
    batch: Sequence[tuple[UUID, Report]],
) -> dict[tuple[UUID, type[Report]], list[Report]]:
    groups: dict[tuple[UUID, type[Report]], list[Report]] = {}
    for worker_id, report in batch:
        groups.setdefault((worker_id, type(report)), []).append(report)
    return groups
