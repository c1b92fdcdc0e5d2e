"""Everything this process holds, from its claim until its report is accepted."""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from tasks_app.sdk.context import Context
from tasks_app.sdk.effects import EffectRecord
from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.link import Completion, Failure, Grant, Progress
from tasks_app.sdk.outcomes.errors import timed_out
from tasks_app.sdk.outcomes.outcomes import ABANDONED, LetGo, Outcome, Report, Stop, report_of

NEVER: Final = math.inf


class Execution:
    """One attempt on this machine, claimed under ``worker_id``.

    ``begun`` once its handler was called; ``closed`` once its report is decided, whatever the
    handler still does; ``stop`` is why it was asked to end, ``force_at`` the instant from which it
    may be ended by force. All of it changes under the lock of ``InFlight`` only. ``record`` is
    where the effects of its handler stand.
    """

    __slots__ = (
        "begun",
        "closed",
        "context",
        "deadline",
        "force_at",
        "grant",
        "handler",
        "record",
        "stop",
        "timeout",
        "worker_id",
    )

    def __init__(
        self, worker_id: UUID, grant: Grant, handler: Handler, record: EffectRecord
    ) -> None:
        self.worker_id = worker_id
        self.grant = grant
        self.handler = handler
        self.record = record
        # The supervisor enforces the kind's timeout, so a handler can only shorten it.
        self.timeout = min(grant.timeout, handler.timeout or NEVER)
        self.context = Context(
            grant.task_id,
            kind=grant.kind,
            attempt=grant.attempt,
            key=grant.key,
            inputs=grant.inputs,
            token=grant.token,
            record=record,
        )
        self.deadline = NEVER
        self.force_at = NEVER
        self.stop: Stop | None = None
        self.begun = False
        self.closed = False

    @property
    def is_zombie(self) -> bool:
        """Still running with nothing left to say: timed out, released, or its lease lost."""
        return self.closed or self.stop in ABANDONED


class InFlight:
    """The table of executions; thread-safe. ``changed`` is notified whenever something may go on.

    ``hurry`` is called when a deadline falls before ``watched_until``, the instant at which the
    watch looks next.
    """

    def __init__(self, slots: int, clock: Callable[[], float], hurry: Callable[[], None]) -> None:
        self.changed = threading.Condition()
        self.watched_until = NEVER
        self._slots = slots
        self._clock = clock
        self._hurry = hurry
        self._running: dict[int, Execution] = {}
        self._unreported: dict[int, tuple[UUID, bool]] = {}

    def add(self, executions: Iterable[Execution]) -> None:
        """Hold what was claimed: from now on heartbeats name it."""
        with self.changed:
            for execution in executions:
                # Until it begins: a loop that one handler blocks must not hold the others for ever.
                execution.deadline = self._clock() + execution.timeout
                self._running[execution.grant.token] = execution

    def begin(self, execution: Execution) -> bool:
        """Start an attempt's clock; False when it was stopped before its handler began."""
        with self.changed:
            if execution.stop is not None:
                return False
            execution.begun = True
            execution.deadline = self._clock() + execution.timeout
            execution.context.deadline = execution.deadline
            soon = execution.deadline < self.watched_until
        if soon:
            self._hurry()
        return True

    def end(self, execution: Execution, outcome: Outcome) -> Report | None:
        """The handler ended: free its slot; return what to report, None if that is said."""
        grant = execution.grant
        with self.changed:
            del self._running[grant.token]
            self.changed.notify_all()
            if execution.closed:
                return None
            execution.closed = True
            report = report_of(grant.task_id, grant.token, outcome, execution.stop)
            lines = execution.context.lines.all()
            if lines and isinstance(report, Completion | Failure):
                report = replace(report, lines=lines)
            if report is not None:
                self._owe(execution)
            return report

    def time_out(self, execution: Execution) -> Report | None:
        """Decide that an attempt timed out; None when its end was quicker.

        One that never began is let go: it has not had its attempt.
        """
        grant = execution.grant
        with self.changed:
            if execution.is_zombie:
                return None
            execution.closed = True
            self._owe(execution)
            if not execution.begun:
                execution.stop = Stop.UNABLE
                return LetGo(grant.task_id, grant.token)
        error, lines = timed_out(execution.timeout), execution.context.lines.all()
        return Failure(grant.task_id, grant.token, error, timed_out=True, lines=lines)

    def let_go(self) -> Sequence[tuple[UUID, Report]]:
        """Give back every attempt that is still open, whatever its handler does from now on."""
        given: list[tuple[UUID, Report]] = []
        with self.changed:
            for execution in self._running.values():
                if not execution.is_zombie:
                    execution.closed = True
                    self._owe(execution)
                    grant = execution.grant
                    given.append((execution.worker_id, LetGo(grant.task_id, grant.token)))
            self.changed.notify_all()
        return given

    def _owe(self, execution: Execution) -> None:
        named = execution.stop not in ABANDONED
        self._unreported[execution.grant.token] = (execution.worker_id, named)

    def settle(self, tokens: Iterable[int]) -> None:
        """These reports were accepted, or are known to be stale."""
        with self.changed:
            for token in tokens:
                self._unreported.pop(token, None)
            self.changed.notify_all()

    def mark_stopped(self, execution: Execution, stop: Stop, force_at: float) -> bool:
        """Record why an attempt is to end; False when it has ended or was abandoned already."""
        with self.changed:
            ended = execution.grant.token not in self._running
            if ended or execution.stop in ABANDONED or execution.stop is stop:
                return False
            execution.stop = stop
            execution.force_at = min(execution.force_at, force_at)
            return True

    def names(self, worker_id: UUID) -> Sequence[int]:
        """The tokens to name in a heartbeat: claimed by this identity, report not yet accepted."""
        with self.changed:
            running = [
                token
                for token, execution in self._running.items()
                if execution.worker_id == worker_id and not execution.is_zombie
            ]
            owed = [
                token
                for token, (owner, named) in self._unreported.items()
                if named and owner == worker_id
            ]
        return running + owed

    def progress(self, worker_id: UUID) -> Sequence[Progress]:
        """The latest word of every attempt that said how far it is."""
        return [
            said
            for execution in self.running()
            if execution.worker_id == worker_id and (said := _said(execution)) is not None
        ]

    def running(self) -> Sequence[Execution]:
        """Every execution whose handler has not ended, zombies too."""
        with self.changed:
            return list(self._running.values())

    def find(self, token: int) -> Execution | None:
        """The running execution of a token."""
        with self.changed:
            return self._running.get(token)

    @property
    def free(self) -> int:
        """Slots that run nothing."""
        return self._slots - len(self._running)

    @property
    def open(self) -> int:
        """Executions whose report is not decided yet."""
        with self.changed:
            return sum(not execution.is_zombie for execution in self._running.values())

    @property
    def zombies(self) -> int:
        """Slots that are held by a handler which has nothing left to say and does not end."""
        with self.changed:
            return sum(execution.is_zombie for execution in self._running.values())

    @property
    def orphans(self) -> int:
        """Handlers that still run although the boot that claimed their tasks has ended."""
        with self.changed:
            return sum(
                execution.stop is Stop.BOOT_ENDED and not execution.closed
                for execution in self._running.values()
            )

    @property
    def unreported(self) -> int:
        """Reports decided and not yet accepted."""
        return len(self._unreported)


def _said(execution: Execution) -> Progress | None:
    """What an attempt said so far; None where it said nothing."""
    context = execution.context
    lines = context.lines.all()
    if context.latest_progress is None and not lines:
        return None
    fraction, note = context.latest_progress or (None, "")
    return Progress(execution.grant.token, fraction, note, lines)
