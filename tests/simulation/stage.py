"""A stage on which one actor moves at a time, from one statement to the next.

Each actor is a thread with a connection of its own. It gives the turn back before every statement
and before every commit, and the dice of one seed say whose turn is next: so any two transactions
meet at any of their statements, and the same seed replays the same run.

Only one actor moves, so a statement that waits for a row lock would wait for ever: ``lock_timeout``
ends it at once, it is undone to a savepoint and tried again once somebody has let go.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import psycopg
from django.db import OperationalError, connection

ON_THE_CLOCK: Final = "SET search_path = simulation, public, pg_catalog"
ON_STAGE: Final = f"SET lock_timeout = '10ms'; {ON_THE_CLOCK}"
"""How long a statement waits for a lock, and where it finds the virtual clock. Said again before
each statement: what is set inside a transaction is gone once that is rolled back."""

STATEMENT_SECONDS: Final = 0.001
"""By which the virtual clock goes on with each statement, so that no two are at one instant."""

IDLE_LIMIT: Final = 5.0
"""Seconds inside a transaction without a statement after which the server cuts an actor off."""

START: Final = 2_000_000_000.0
OWN_WORDS: Final = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class Killed(Exception):
    """The actor's process is gone in the middle of what it did."""


class Actor:
    """Somebody with a thread and a connection; at rest, or in the middle of an act."""

    def __init__(self, name: str, stage: "Stage") -> None:
        self.name = name
        self.busy = False
        self.blocked = False
        self.in_transaction = False
        self.last_at = 0.0
        self.backend = 0
        self.doom: Exception | None = None
        self.error: BaseException | None = None
        self.on_commit: Callable[[], None] | None = None
        self._stage = stage
        self._act: Callable[[], None] | None = None
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._live, daemon=True, name=name)
        self._thread.start()

    def begin(self, act: Callable[[], None]) -> None:
        """Begin an act; it stops before its first statement."""
        self._act, self.busy = act, True
        self.move()

    def move(self) -> None:
        """Go on to the next statement or to the end of the act; raises what the act raised."""
        self._go.release()
        self._back.acquire()
        if self.error is not None:
            raise self.error

    def leave(self) -> None:
        """End the thread."""
        self._act = None
        self._go.release()
        self._thread.join(10)

    def _live(self) -> None:
        wrapper = connection.execute_wrapper(self._statement)
        commit = connection._commit  # type: ignore[attr-defined]  # no hook
        connection._commit = lambda: self._committing(commit)  # type: ignore[attr-defined]  # as above
        with wrapper:
            self._go.acquire()
            while self._act is not None:
                try:
                    with suppress(Killed):
                        self._act()
                except BaseException as error:  # noqa: BLE001  handed to the stage, which raises it
                    self.error = error
                self.busy = self.in_transaction = False
                self._stage.released(self)
                self._back.release()
                self._go.acquire()
        connection.close()

    def _pause(self, *, inside: bool) -> None:
        self.in_transaction = inside
        self.last_at = self._stage.now
        self._back.release()
        self._go.acquire()
        if self.doom is not None:
            doom, self.doom = self.doom, None
            if isinstance(doom, Killed):
                connection.close()
            raise doom

    def _statement(
        self, execute: Callable[..., Any], query: str, params: Any, many: bool, context: Any
    ) -> Any:
        if query.startswith(OWN_WORDS):
            return execute(query, params, many, context)
        while True:
            inside = connection.in_atomic_block
            self._pause(inside=inside)
            self._stage.now += STATEMENT_SECONDS
            with connection.wrap_database_errors:
                raw: Any = connection.connection
                self.backend = raw.info.backend_pid
                undo_point = "; SAVEPOINT statement" if inside else ""
                at = f"SET simulation.now = '{self._stage.now:.6f}'"
                raw.execute(f"{ON_STAGE}; {at}{undo_point}")
            try:
                answer = execute(query, params, many, context)
            except OperationalError as error:
                if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                    raise
                if inside:
                    raw.execute("ROLLBACK TO SAVEPOINT statement")
                self.blocked = True
                continue
            if inside:
                raw.execute("RELEASE SAVEPOINT statement")
            else:
                self._stage.released(self)
            return answer

    def _committing(self, commit: Callable[[], None]) -> None:
        self._pause(inside=True)
        commit()
        self._stage.released(self)
        if self.on_commit is not None:
            self.on_commit()


class Stage:
    """All actors, and the virtual clock."""

    def __init__(self, names: Sequence[str]) -> None:
        self.now = START
        self.deadlocks = 0
        self.cuts = 0
        self.waits = 0
        self.actors = [Actor(name, self) for name in names]
        self.tell_time()

    def tell_time(self) -> None:
        """Set the clock of the connection that no actor has."""
        with connection.cursor() as cursor:
            cursor.execute(f"SET simulation.now = '{self.now:.6f}'")

    def actor(self, name: str) -> Actor:
        """The actor of a name."""
        return next(each for each in self.actors if each.name == name)

    def released(self, by: Actor) -> None:
        """Locks were let go: whoever waits for one may try again."""
        for each in self.actors:
            self.waits += each.blocked
            each.blocked = False

    def movable(self) -> Sequence[Actor]:
        """The actors in the middle of an act that can go on; a deadlock is ended first."""
        busy = [each for each in self.actors if each.busy]
        able = [each for each in busy if not each.blocked]
        if busy and not able:
            self.deadlocks += 1
            victim = next(each for each in busy if each.in_transaction)
            victim.doom = deadlock()
            victim.blocked = False
            able = [victim]
        return able

    def pass_time(self, seconds: float) -> None:
        """Let time pass; the server cuts off who sits in a transaction for longer than it may."""
        self.now += seconds
        self.tell_time()
        for each in self.actors:
            if each.in_transaction and self.now - each.last_at > IDLE_LIMIT:
                self.cut(each)

    def cut(self, actor: Actor) -> None:
        """End an actor's connection; it learns that with its next statement."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [actor.backend])
        self.cuts += 1
        actor.in_transaction = False
        self.released(actor)

    def kill(self, actor: Actor) -> None:
        """End an actor's process in the middle of what it does."""
        actor.doom, actor.blocked = Killed(), False
        actor.move()

    def play_out(self) -> None:
        """Let everybody come to the end of an act, in order."""
        while able := self.movable():
            able[0].move()

    def alone(self, actor: Actor, act: Callable[[], None]) -> None:
        """Play one act from its beginning to its end."""
        actor.begin(act)
        while actor.busy:
            actor.move()

    def close(self) -> None:
        """Send everybody home."""
        for each in self.actors:
            each.doom, each.error = Killed() if each.busy else None, None
            each.leave()


def deadlock() -> OperationalError:
    """What PostgreSQL says to the one that it chooses."""
    error = OperationalError("deadlock detected")
    error.__cause__ = psycopg.errors.DeadlockDetected("deadlock detected")
    return error
