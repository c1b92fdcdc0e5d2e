"""The link of a worker that reaches the database itself."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import InterfaceError, OperationalError, close_old_connections, connections

from tasks_app import events
from tasks_app.core.attempts.effects import IfUnsure
from tasks_app.sdk.link import (
    Completion,
    EffectStart,
    Failure,
    Grant,
    LinkDown,
    Orders,
    Progress,
    Registered,
    Registration,
)
from tasks_app.services.attempts import effects, worker_protocol
from tasks_app.services.attempts.link_lanes import Lane
from tasks_app.services.dispatch.listening import Listener

R = TypeVar("R")

TRUSTED: Final = 1.0
"""Seconds that a connection is taken to live after it was used."""


EFFECT_LANES: Final = 2
"""Calls about effects at a time, each some milliseconds: not one for each slot, which would keep a
connection for each."""


class DirectLink:
    """Calls the worker protocol over database connections that no handler shares.

    Heartbeats and reports have one each, opened before there is any work and kept, so that
    handlers which use up the database's connections cannot silence the worker.
    """

    def __init__(self) -> None:
        self._called = threading.local()
        self._heart = Lane("heart-link")
        self._reports = Lane("report-link")
        self._effects = Lane("effect-link", EFFECT_LANES)
        self._listener = Listener(events.WORKERS)
        self._listening = threading.Lock()

    def _call(self, function: Callable[[], R]) -> R:
        self._renew_connection()
        try:
            return function()
        except (OperationalError, InterfaceError) as error:
            connections["default"].close()
            raise LinkDown(str(error).strip()) from error

    def _renew_connection(self) -> None:
        """Have a connection tried that may have died since this thread's last call.

        Not after each of many calls a second: that costs a round trip, and finds nothing.
        """
        now = time.monotonic()
        if now - getattr(self._called, "at", -math.inf) > TRUSTED:
            # Whatever its age: one that is given up may be the last that the database had.
            connections["default"].close_at = None
            close_old_connections()
        self._called.at = now

    def register(self, registration: Registration) -> Registered:
        """Begin a new boot; an older boot of the same name is replaced."""
        for lane in (self._heart, self._reports):
            lane.call(self._open)
        return self._call(lambda: worker_protocol.register(registration))

    def _open(self) -> None:
        self._call(connections["default"].ensure_connection)

    def claim(self, worker_id: UUID, limit: int) -> Sequence[Grant]:
        """Start up to ``limit`` of the tasks assigned to this worker."""
        return self._call(lambda: worker_protocol.claim(worker_id, limit))

    def wait_for_work(self, worker_id: UUID, timeout: float) -> None:
        """Return when a hint names this worker or everybody, or after ``timeout`` seconds."""
        with self._listening:
            self._listener.wait_for(
                lambda payload: payload == events.EVERYBODY or str(worker_id) in payload, timeout
            )

    def heartbeat(
        self, worker_id: UUID, tokens: Sequence[int], progress: Sequence[Progress]
    ) -> Orders:
        """Give a sign of life that names every token still worked on."""
        return self._heart.call(
            lambda: self._call(lambda: worker_protocol.heartbeat(worker_id, tokens, progress))
        )

    def complete(self, worker_id: UUID, completions: Sequence[Completion]) -> Sequence[int]:
        """Report results; return the stale tokens among them."""
        return self._reports.call(
            lambda: self._call(lambda: worker_protocol.complete(worker_id, completions))
        )

    def fail(self, worker_id: UUID, failures: Sequence[Failure]) -> Sequence[int]:
        """Report failures; return the stale tokens among them."""
        return self._reports.call(
            lambda: self._call(lambda: worker_protocol.fail(worker_id, failures))
        )

    def begin_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, if_unsure: IfUnsure
    ) -> EffectStart:
        """Ask whether to do an effect; on RUN its start is on record."""
        return self._effects.call(
            lambda: self._call(
                lambda: effects.begin_effect(worker_id, task_id, token, name, if_unsure)
            )
        )

    def finish_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, result: Any
    ) -> bool:
        """Record an effect's result; False when the lease is no longer held."""
        return self._effects.call(
            lambda: self._call(
                lambda: effects.finish_effect(worker_id, task_id, token, name, result)
            )
        )

    def take_back_effect(self, worker_id: UUID, task_id: UUID, token: int, name: str) -> bool:
        """Forget the start of an effect that was not done; False when the lease is lost."""
        return self._effects.call(
            lambda: self._call(lambda: effects.take_back_effect(worker_id, task_id, token, name))
        )

    def drain(self, worker_id: UUID) -> None:
        """Announce that this boot takes nothing new."""
        self._call(lambda: worker_protocol.drain(worker_id))

    def release(self, worker_id: UUID, tokens: Sequence[int]) -> None:
        """Hand started tasks back unfinished."""
        self._reports.call(lambda: self._call(lambda: worker_protocol.release(worker_id, tokens)))

    def deregister(self, worker_id: UUID) -> None:
        """End this boot."""
        self._call(lambda: worker_protocol.deregister(worker_id))

    def close(self) -> None:
        """Close the listening connection, those of the lanes and this thread's own."""
        self._listener.close()
        for lane in (self._heart, self._reports, self._effects):
            lane.close()
        connections["default"].close()
