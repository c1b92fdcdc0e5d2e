"""What a handler is told about its attempt, and what it may say while it runs."""

import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn
from uuid import UUID

from tasks_app.core.sanitise import clean_text
from tasks_app.sdk.effects import EffectRecord, Effects, OwnRecord
from tasks_app.sdk.outcomes.raised import Abandoned, Cancelled
from tasks_app.sdk.task_log import Lines, LogLine, TaskLog

__all__ = ["LONGEST_NOTE", "Cancelled", "Context", "TaskLog"]

LONGEST_NOTE: Final = 200
"""Characters of a progress note that travel with a heartbeat."""

_logger: Final = logging.getLogger("chargehand.task")


@dataclass(frozen=True, slots=True)
class Said:
    """What a handler in a child process has logged so far."""

    lines: Sequence[LogLine]


class Context:
    """One attempt as its handler sees it; safe to use from any thread.

    ``key`` is the idempotency key, the same at every attempt; ``inputs`` maps a dependency's name
    to its result; ``token`` is the fencing token of this attempt's lease; ``deadline`` is the
    instant of the timeout on the monotonic clock, in seconds.
    """

    __slots__ = (
        "_cancelled",
        "_effects",
        "_on_progress",
        "attempt",
        "deadline",
        "inputs",
        "key",
        "kind",
        "latest_progress",
        "lines",
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
        record: EffectRecord | None = None,
    ) -> None:
        self.task_id = task_id
        self.kind = kind
        self.attempt = attempt
        self.key = str(task_id) if key is None else key
        self.inputs: Mapping[str, Any] = {} if inputs is None else inputs
        self.token = token
        self.deadline = math.inf
        self.latest_progress: tuple[float, str] | None = None
        self.lines = Lines()
        self._on_progress = on_progress
        self._cancelled = threading.Event()
        self._effects = Effects(OwnRecord() if record is None else record, self._cancelled)

    @property
    def cancelled(self) -> bool:
        """True once the attempt should end: cancelled, timed out, lease lost, worker stopping."""
        return self._cancelled.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled once the attempt should end; call it between steps of long work."""
        if self._cancelled.is_set():
            raise Cancelled

    def abandon(self) -> NoReturn:
        """End this attempt here as if its machine had been lost: no report, its lease unnamed.

        For rehearsals. What costs most in such a system is work that was done and never recorded,
        and no signal from outside can be sent at exactly that line. Whether a handler may be run
        twice is proven by calling this right after its effect: the supervisor finds that nobody
        names the lease, and hands the task out again.
        """
        raise Abandoned

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

    @property
    def effect_key(self) -> str:
        """The key to give to an outside service that recognises a repetition by one.

        The same at every attempt and after a requeue, and no other task's; where a task has
        several effects at one service, add the effect's name.
        """
        return self.key

    def once(self, name: str, function: Callable[[], Any], *, if_unsure: str = "fail") -> Any:
        """Call the function unless its result is on record; return the result, sanitised.

        A start whose end nobody recorded is in doubt: with ``if_unsure="fail"`` UnsureEffect is
        raised and the task is DEAD until a human has settled it; ``"run"`` calls the function
        again, which is right where the receiver recognises a repetition (``effect_key``).
        """
        return self._effects.once(name, function, if_unsure)

    async def once_async(
        self, name: str, function: Callable[[], Awaitable[Any]], *, if_unsure: str = "fail"
    ) -> Any:
        """The same for an async function in an async handler."""
        return await self._effects.once_async(name, function, if_unsure)

    def note(self, said: "Said | tuple[float, str]") -> None:
        """Take over what the handler said in another process: its lines, or its progress."""
        if isinstance(said, Said):
            self.lines.replace(said.lines)
        else:
            self.latest_progress = said

    @property
    def log(self) -> TaskLog:
        """A standard logger ("chargehand.task") bound to this task and attempt.

        The latest lines from INFO on stand on the task's page too.
        """
        fields: dict[str, object] = {
            "task_id": str(self.task_id),
            "kind": self.kind,
            "attempt": self.attempt,
        }
        return TaskLog(_logger, fields, self.lines)

    def cancel(self) -> None:
        """Ask the attempt to end; called by the worker."""
        self._cancelled.set()
