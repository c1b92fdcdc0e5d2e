"""What a handler is told about its attempt, and what it may say while it runs."""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from tasks_app.core.sanitise import clean_text

LONGEST_NOTE: Final = 200
"""Characters of a progress note that travel with a heartbeat."""

_logger: Final = logging.getLogger("chargehand.task")


class Cancelled(BaseException):
    """The attempt is to end now; not an Exception, so that a broad ``except`` lets it through."""


class TaskLog(logging.LoggerAdapter[logging.Logger]):
    """A logger whose records carry the task and the attempt beside the caller's own fields."""

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        """Join the two sets of fields; the adapter of the standard library drops the caller's."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs


class Context:
    """One attempt as its handler sees it; safe to use from any thread.

    ``key`` is the idempotency key, the same at every attempt; ``inputs`` maps a dependency's name
    to its result; ``token`` is the fencing token of this attempt's lease; ``deadline`` is the
    instant of the timeout on the monotonic clock, in seconds.
    """

    __slots__ = (
        "_cancelled",
        "_on_progress",
        "attempt",
        "deadline",
        "inputs",
        "key",
        "kind",
        "latest_progress",
        "task_id",
        "token",
    )

    def __init__(
        self,
        task_id: UUID,
        *,
        kind: str = "",
        attempt: int = 1,
        key: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        token: int = 0,
        on_progress: Callable[[float, str], None] | None = None,
    ) -> None:
        self.task_id = task_id
        self.kind = kind
        self.attempt = attempt
        self.key = str(task_id) if key is None else key
        self.inputs: Mapping[str, Any] = {} if inputs is None else inputs
        self.token = token
        self.deadline = math.inf
        self.latest_progress: tuple[float, str] | None = None
        self._on_progress = on_progress
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """True once the attempt should end: cancelled, timed out, lease lost, worker stopping."""
        return self._cancelled.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled once the attempt should end; call it between steps of long work."""
        if self._cancelled.is_set():
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        """Wait, but raise Cancelled the moment the attempt should end (for plain functions)."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    @property
    def remaining(self) -> float:
        """Seconds left before the timeout; never below 0, infinite where there is none."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def deadline_at(self) -> datetime | None:
        """The timeout in UTC by this machine's wall clock; None where there is none."""
        left = self.deadline - time.monotonic()
        return None if math.isinf(left) else datetime.now(UTC) + timedelta(seconds=left)

    def progress(self, fraction: float, note: str = "") -> None:
        """Say how far the task is, 0 to 1, and a short note; it travels with the next heartbeat."""
        share = float(fraction)
        if math.isnan(share):
            raise ValueError("progress needs a fraction between 0 and 1, not NaN")
        text = clean_text(str(note)[:LONGEST_NOTE])
        self.latest_progress = (min(1.0, max(0.0, share)), text)
        if self._on_progress is not None:
            self._on_progress(*self.latest_progress)

    def note_progress(self, progress: tuple[float, str]) -> None:
        """Take over what the handler said in another process."""
        self.latest_progress = progress

    @property
    def log(self) -> TaskLog:
        """A standard logger ("chargehand.task") bound to this task and attempt."""
        fields = {"task_id": str(self.task_id), "kind": self.kind, "attempt": self.attempt}
        return TaskLog(_logger, fields)

    def cancel(self) -> None:
        """Ask the attempt to end; called by the worker."""
        self._cancelled.set()
