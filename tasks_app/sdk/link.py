"""The link between a worker and the control plane: what travels, and the protocol that carries it.

Every implementation promises the same: a call either took effect and returns, or raises
``LinkDown``, after which the caller may repeat it. A report about a lease that is no longer held is
never an error of the link: its token is listed under ``stale``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from tasks_app.core.attempts.effects import EffectVerdict, IfUnsure
from tasks_app.core.facts import ErrorFacts
from tasks_app.sdk.task_log import LogLine


class LinkDown(Exception):
    """The control plane cannot be reached now; the call may be repeated."""


class WorkerUnknown(Exception):
    """This boot is no longer accepted (lost, evicted): abandon all work, register anew."""


class WorkerReplaced(WorkerUnknown):
    """Another process has registered under this name since: abandon all work, and leave.

    Two that registered anew in turn would take each other's tasks away for ever.
    """


class DeclarationRefused(ValueError):
    """What a worker declares of itself is out of bounds; the message names each fault."""


@dataclass(frozen=True, slots=True)
class Registration:
    """What a worker declares at boot; ``skills`` maps kind to skill."""

    name: str
    slots: int
    skills: Mapping[str, float]
    host: str = ""
    pid: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """The identity of this boot and the rhythm to keep, in seconds.

    ``for_people`` are kinds that it offers and gets nothing of, for people do them.
    """

    worker_id: UUID
    heartbeat_every: float
    stale_after: float
    for_people: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """One claimed task, RUNNING under ``token`` from now on.

    ``timeout`` in seconds; ``key`` is the idempotency key, the same at every attempt; ``inputs``
    maps a dependency's name to its result.
    """

    task_id: UUID
    token: int
    kind: str
    payload: Any
    attempt: int
    key: str
    timeout: float
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished attempt; ``result`` is already sanitised JSON."""

    task_id: UUID
    token: int
    result: Any
    lines: Sequence[LogLine] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt; ``timed_out`` when the worker stopped it at its kind's timeout.

    ``crashed`` when the child process that ran it died.
    """

    task_id: UUID
    token: int
    error: ErrorFacts
    timed_out: bool = False
    crashed: bool = False
    lines: Sequence[LogLine] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running task is: ``fraction`` in 0..1 (None: it did not say), a note, its log."""

    token: int
    fraction: float | None
    note: str = ""
    lines: Sequence[LogLine] = ()


@dataclass(frozen=True, slots=True)
class Orders:
    """The answer to a heartbeat: what the control plane asks of the worker.

    ``lost`` are tokens among those named that are no longer held; ``cancel`` those to stop.
    """

    drain: bool = False
    lost: Sequence[int] = ()
    cancel: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class EffectStart:
    """The answer to the begin of an effect.

    ``result`` of one that is recorded; ``begun_under`` is the token of the attempt that began it.
    """

    verdict: EffectVerdict
    result: Any = None
    begun_under: int | None = None


class Link(Protocol):
    """The calls a worker makes; thread-safe."""

    def register(self, registration: Registration) -> Registered:
        """Begin a new boot; an older boot of the same name is replaced."""
        ...

    def claim(self, worker_id: UUID, limit: int) -> Sequence[Grant]:
        """Start up to ``limit`` of the tasks assigned to this worker."""
        ...

    def wait_for_work(self, worker_id: UUID, timeout: float) -> None:
        """Return when work may have been assigned, at the latest after ``timeout`` seconds."""
        ...

    def heartbeat(
        self, worker_id: UUID, tokens: Sequence[int], progress: Sequence[Progress]
    ) -> Orders:
        """Give a sign of life that names every token still worked on (claimed, not reported)."""
        ...

    def complete(self, worker_id: UUID, completions: Sequence[Completion]) -> Sequence[int]:
        """Report results; return the stale tokens among them."""
        ...

    def fail(self, worker_id: UUID, failures: Sequence[Failure]) -> Sequence[int]:
        """Report failures; return the stale tokens among them."""
        ...

    def begin_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, if_unsure: IfUnsure
    ) -> EffectStart:
        """Ask whether to do an effect; on RUN its start is on record. May be repeated before it."""
        ...

    def finish_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, result: Any
    ) -> bool:
        """Record an effect's sanitised result; False when the lease is no longer held."""
        ...

    def take_back_effect(self, worker_id: UUID, task_id: UUID, token: int, name: str) -> bool:
        """Forget the start of an effect that was not done; False when the lease is lost."""
        ...

    def drain(self, worker_id: UUID) -> None:
        """Announce that this boot takes nothing new; what it has not started goes back at once."""
        ...

    def release(self, worker_id: UUID, tokens: Sequence[int]) -> None:
        """Hand started tasks back unfinished, without using up an attempt (drain)."""
        ...

    def deregister(self, worker_id: UUID) -> None:
        """End this boot; what is still assigned to it goes back at once."""
        ...

    def close(self) -> None:
        """Free connections; the link is unusable afterwards."""
        ...
