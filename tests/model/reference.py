"""A small reference model of the record: what each call must come to, in plain Python."""

from dataclasses import dataclass, field
from uuid import UUID

from tasks_app.core.states import UNFINISHED, OnDead, Status
from tasks_app.sdk.link import Grant

POISON_AFTER = 3


@dataclass
class ModelTask:
    """One task as the model sees it; ``held`` is the worker's boot and token of its lease.

    Of one that people do, ``held`` is the person's row and the token. ``gone``: it was pruned.
    """

    id: UUID
    max_attempts: int
    needs: dict[UUID, OnDead] = field(default_factory=dict)
    status: Status = Status.PENDING
    attempts: int = 0
    requeues: int = 0
    held: tuple[UUID, int] | None = None
    cancel_asked: bool = False
    deaths: set[UUID] = field(default_factory=set)
    crashes: int = 0
    unheard: int = 0
    by_people: bool = False
    gone: bool = False

    def _leave(self, status: Status) -> None:
        """End the lease; a cancel that was asked for wins."""
        self.status = Status.CANCELLED if self.cancel_asked else status
        self.held = None

    def claim(self) -> None:
        """A worker begins."""
        self.status = Status.RUNNING
        self.attempts += 1

    def complete(self) -> None:
        """An accepted completion; work that is done counts, whatever was asked."""
        self.status = Status.COMPLETED
        self.held = None

    def fail(self, *, permanent: bool, crashed: bool) -> None:
        """An accepted failure."""
        self.crashes += crashed
        poison = crashed and len(self.deaths) + self.crashes >= POISON_AFTER
        dead = permanent or poison or self.attempts >= self.max_attempts
        self._leave(Status.DEAD if dead else Status.FAILED)

    def release(self) -> None:
        """Given back without using up the attempt."""
        if self.status is Status.RUNNING:
            self.attempts -= 1
        self._leave(Status.PENDING)

    def lose(self, worker: UUID) -> None:
        """The worker that holds it is gone."""
        started = self.status is Status.RUNNING
        if started:
            self.deaths.add(worker)
        self._lost(started)

    def _lost(self, started: bool) -> None:
        poison = len(self.deaths) + self.crashes >= POISON_AFTER
        dead = started and (poison or self.attempts + self.unheard >= self.max_attempts)
        self._leave(Status.DEAD if dead else Status.PENDING)

    def lose_to_successor(self, worker: UUID) -> None:
        """A newer process has its worker's name: free now, counted later if it stays unheard of."""
        started = self.status is Status.RUNNING
        if started:
            self.attempts -= 1
        self._lost(started)
        if started:
            self.deaths.add(worker)
            self.unheard += 1

    def overdue(self) -> None:
        """Its deadline has passed: nobody goes on with it."""
        self._leave(Status.DEAD)

    def cancel(self) -> None:
        """At once, but where a machine is at work: that is asked."""
        if self.status is Status.RUNNING and not self.by_people:
            self.cancel_asked = True
        elif self.status in UNFINISHED:
            self.status = Status.CANCELLED
            self.held = None

    def requeue(self) -> None:
        """A human's second chance: a new incarnation."""
        self.status = Status.PENDING
        self.attempts = 0
        self.requeues += 1
        self.deaths = set()
        self.crashes = 0
        self.unheard = 0

    def holds(self, grant: Grant, worker: UUID) -> bool:
        """Whether a report under this grant must be accepted."""
        return self.status is Status.RUNNING and self.held == (worker, grant.token)
