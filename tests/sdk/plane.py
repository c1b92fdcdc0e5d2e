"""A control plane in memory: the protocol of the link, faithfully, and faults on demand.

It stands for what the worker sees of the protocol; the database's part is tested on PostgreSQL.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from tasks_app.core.attempts.effects import (
    EffectFacts,
    EffectState,
    EffectVerdict,
    IfUnsure,
    judge_effect,
)
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
    WorkerReplaced,
    WorkerUnknown,
)

PATIENCE = 15.0
"""Seconds after which a condition that a test waits for is taken to never come."""


class Plane:
    """Implements ``Link``.

    ``down`` refuses every call and ``refuse_calls`` those named; ``lose_answer`` names a call that
    takes effect once without an answer; ``during`` is called within the next call of a name;
    ``refused`` are tokens whose result cannot be stored.
    """

    def __init__(self, heartbeat_every: float = 0.05, stale_after: float = 30.0) -> None:
        self.changed = threading.Condition()
        self.heartbeat_every = heartbeat_every
        self.stale_after = stale_after
        self.down = False
        self.refuse_calls: set[str] = set()
        self.during: dict[str, Callable[[], object]] = {}
        self.lose_answer = ""
        self.orders_drain = False
        self.orders_cancel: set[int] = set()
        self.registrations: list[Registration] = []
        self.live: UUID | None = None
        self.name_taken = False
        self.assigned: list[Grant] = []
        self.held: dict[int, UUID] = {}
        self.named: list[tuple[UUID, tuple[int, ...]]] = []
        self.progress: dict[int, Progress] = {}
        self.completed: dict[UUID, Any] = {}
        self.failed: dict[UUID, Failure] = {}
        self.released: list[int] = []
        self.late: list[Completion | Failure] = []
        self.calls: list[str] = []
        self.claims: list[int] = []
        self.refused: set[int] = set()
        self.effects: dict[tuple[UUID, str], EffectFacts] = {}
        self.effect_results: dict[tuple[UUID, str], Any] = {}
        self._token = 0

    def assign(self, kind: str, payload: Any = None, timeout: float = 60.0, **more: Any) -> Grant:
        """Give the worker a task."""
        with self.changed:
            self._token += 1
            task_id = more.pop("task_id", None) or uuid4()
            grant = Grant(
                task_id=task_id,
                token=self._token,
                kind=kind,
                payload=payload,
                attempt=more.pop("attempt", 1),
                key=str(task_id),
                timeout=timeout,
                **more,
            )
            self.assigned.append(grant)
            self.changed.notify_all()
            return grant

    def revoke(self, grant: Grant) -> None:
        """The supervisor takes a lease back."""
        with self.changed:
            del self.held[grant.token]

    def forget_worker(self, *, name_taken: bool = False) -> None:
        """The present boot is lost, with all its leases; another process may have its name."""
        with self.changed:
            self.live = None
            self.name_taken = name_taken
            self.held.clear()

    @property
    def last_named(self) -> tuple[int, ...]:
        """The tokens that the latest heartbeat named."""
        return self.named[-1][1] if self.named else ()

    def wait_until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Wait for a condition on this plane or on anything else."""
        until = time.monotonic() + PATIENCE
        with self.changed:
            while not condition():
                if time.monotonic() > until:
                    raise AssertionError(f"never came: {what or condition}")
                self.changed.wait(0.01)

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        with self.changed:
            self.calls.append(name)
            if self.down or name in self.refuse_calls:
                raise LinkDown("refused by the test")
            self.during.pop(name, lambda: None)()
            yield
            self.changed.notify_all()
            if self.lose_answer == name:
                self.lose_answer = ""
                raise LinkDown("the answer was lost")

    def _known(self, worker_id: UUID) -> None:
        if worker_id != self.live:
            raise (WorkerReplaced if self.name_taken else WorkerUnknown)(str(worker_id))

    def register(self, registration: Registration) -> Registered:
        with self._call("register"):
            self.registrations.append(registration)
            self.live = uuid4()
            self.held.clear()
            return Registered(self.live, self.heartbeat_every, self.stale_after)
        raise AssertionError

    def claim(self, worker_id: UUID, limit: int) -> Sequence[Grant]:
        with self._call("claim"):
            self._known(worker_id)
            self.claims.append(limit)
            taken, self.assigned = self.assigned[:limit], self.assigned[limit:]
            self.held.update((grant.token, worker_id) for grant in taken)
            return taken
        raise AssertionError

    def wait_for_work(self, worker_id: UUID, timeout: float) -> None:
        with self.changed:
            if not self.assigned:
                self.changed.wait(timeout)

    def heartbeat(
        self, worker_id: UUID, tokens: Sequence[int], progress: Sequence[Progress]
    ) -> Orders:
        with self._call("heartbeat"):
            self._known(worker_id)
            self.named.append((worker_id, tuple(tokens)))
            self.progress.update((word.token, word) for word in progress)
            lost = [token for token in tokens if self.held.get(token) != worker_id]
            return Orders(self.orders_drain, lost, sorted(self.orders_cancel))
        raise AssertionError

    def complete(self, worker_id: UUID, completions: Sequence[Completion]) -> Sequence[int]:
        with self._call("complete"):
            self._refuse([report.token for report in completions])
            return self._take(worker_id, completions)
        raise AssertionError

    def fail(self, worker_id: UUID, failures: Sequence[Failure]) -> Sequence[int]:
        with self._call("fail"):
            return self._take(worker_id, failures)
        raise AssertionError

    def _refuse(self, tokens: Sequence[int]) -> None:
        if self.refused.intersection(tokens):
            raise ValueError("this result cannot be stored")

    def _take(self, worker_id: UUID, reports: Sequence[Completion | Failure]) -> Sequence[int]:
        stale = []
        for report in reports:
            if self.held.get(report.token) != worker_id:
                self.late.append(report)
                stale.append(report.token)
                continue
            del self.held[report.token]
            if isinstance(report, Completion):
                self.completed[report.task_id] = report.result
            else:
                self.failed[report.task_id] = report
        return stale

    def begin_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, if_unsure: IfUnsure
    ) -> EffectStart:
        with self._call("begin_effect"):
            if self.held.get(token) != worker_id:
                return EffectStart(EffectVerdict.STALE)
            found = self.effects.get((task_id, name))
            verdict = judge_effect(found, token, if_unsure)
            if verdict is EffectVerdict.RUN:
                self.effects[task_id, name] = EffectFacts(EffectState.STARTED, token)
            result = self.effect_results.get((task_id, name))
            return EffectStart(verdict, result, None if found is None else found.token)
        raise AssertionError

    def finish_effect(
        self, worker_id: UUID, task_id: UUID, token: int, name: str, result: Any
    ) -> bool:
        with self._call("finish_effect"):
            if self.held.get(token) != worker_id:
                return False
            self.effects[task_id, name] = EffectFacts(EffectState.DONE, token)
            self.effect_results[task_id, name] = result
            return True
        raise AssertionError

    def take_back_effect(self, worker_id: UUID, task_id: UUID, token: int, name: str) -> bool:
        with self._call("take_back_effect"):
            if self.held.get(token) != worker_id:
                return False
            del self.effects[task_id, name]
            return True
        raise AssertionError

    def drain(self, worker_id: UUID) -> None:
        with self._call("drain"):
            self.assigned.clear()

    def release(self, worker_id: UUID, tokens: Sequence[int]) -> None:
        with self._call("release"):
            for token in tokens:
                if self.held.pop(token, None) is not None:
                    self.released.append(token)

    def deregister(self, worker_id: UUID) -> None:
        with self._call("deregister"):
            self.live = None

    def close(self) -> None:
        """Nothing to free."""
