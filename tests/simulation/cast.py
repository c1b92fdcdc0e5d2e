"""Who acts in a simulation: workers that err and vanish, supervisors that fall behind."""

from collections import Counter
from random import Random
from typing import Any, Final
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.models import Task
from tasks_app.sdk.link import Completion, Failure, Grant, LinkDown, Registration, WorkerUnknown
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.store.dispatch import leader
from tests.simulation.wire import Wire

LEASE_SECONDS: Final = 25.0
"""Of the leader. All spans end in 5 and time passes in tens, so that no comparison is a close one:
the same seed must come to the same end on a slow machine."""

ACTS: Final = {
    "claim": 4,
    "beat": 4,
    "finish": 5,
    "report": 5,
    "release": 1,
    "drain": 0.2,
    "die": 1,
}


class Ledger:
    """What was truly accepted, kept apart from the record."""

    def __init__(self) -> None:
        self.completed: Counter[UUID] = Counter()
        self.epochs: list[int] = []
        self.trace: list[str] = []

    def note(self, *words: object) -> None:
        """Add a line to the trace."""
        self.trace.append(" ".join(map(str, words)))


class Worker:
    """One worker: what it holds, what it has still to report, and a link that may fail it."""

    def __init__(self, name: str, rng: Random, wire: Wire, ledger: Ledger) -> None:
        self.name, self._rng, self._wire, self._ledger = name, rng, wire, ledger
        self.slots = rng.randint(1, 3)
        self.die()

    def die(self) -> None:
        """Lose everything that only the process knew."""
        self._id: UUID | None = None
        self._held: dict[int, Grant] = {}
        self._reports: list[Completion | Failure] = []

    def act(self) -> None:
        """Do one thing at random; a silent link changes nothing here."""
        act = self._rng.choices(list(ACTS), list(ACTS.values()))[0] if self._id else "register"
        try:
            getattr(self, act)()
            heard = "ok"
        except LinkDown as down:
            heard = str(down)
        except WorkerUnknown:
            self.die()
            heard = "unknown"
        self._ledger.note(self.name, act, heard, len(self._held), len(self._reports))

    def register(self) -> None:
        """Begin a boot."""
        asked = Registration(self.name, self.slots, {"plain": 1.0, "gated": 1.0})
        self._id = self._wire.call(lambda: worker_protocol.register(asked)).worker_id

    @property
    def _boot(self) -> UUID:
        assert self._id is not None
        return self._id

    def claim(self) -> None:
        """Begin what is assigned, as far as slots are free."""
        boot, free = self._boot, self.slots - len(self._held)
        if free > 0:
            for grant in self._wire.call(lambda: worker_protocol.claim(boot, free)):
                self._held[grant.token] = grant

    def beat(self) -> None:
        """Name what is held; obey the orders that come back."""
        boot, tokens = self._boot, [*self._held, *(report.token for report in self._reports)]
        orders = self._wire.call(lambda: worker_protocol.heartbeat(boot, tokens, []))
        for token in orders.lost:
            self._held.pop(token, None)
        for token in orders.cancel:
            if token in self._held:
                self._end(token, ErrorFacts("Cancelled", "asked for"))

    def finish(self) -> None:
        """Come to an end with one task, well or badly."""
        if self._held:
            token = self._rng.choice(list(self._held))
            error = None
            if self._rng.random() < 0.3:
                permanent = self._rng.random() < 0.2
                error = ErrorFacts("builtins.TimeoutError", "no answer", permanent=permanent)
            self._end(token, error)

    def _end(self, token: int, error: ErrorFacts | None) -> None:
        grant = self._held.pop(token)
        if error is None:
            self._reports.append(Completion(grant.task_id, token, self.name))
        else:
            crashed = self._rng.random() < 0.2
            self._reports.append(Failure(grant.task_id, token, error, crashed=crashed))

    def report(self) -> None:
        """Send what is to be reported; it is kept until an answer comes, and then forgotten."""
        boot, reports = self._boot, list(self._reports)
        completions = [r for r in reports if isinstance(r, Completion)]
        failures = [r for r in reports if isinstance(r, Failure)]
        if completions:
            self._wire.call(lambda: self._complete(boot, completions))
        if failures:
            self._wire.call(lambda: worker_protocol.fail(boot, failures))
        self._reports.clear()

    def _complete(self, boot: UUID, completions: list[Completion]) -> None:
        stale = worker_protocol.complete(boot, completions)
        self._ledger.completed.update(c.task_id for c in completions if c.token not in stale)

    def release(self) -> None:
        """Hand everything back."""
        boot, tokens = self._boot, list(self._held)
        self._wire.call(lambda: worker_protocol.release(boot, tokens))
        self._held.clear()

    def drain(self) -> None:
        """Take nothing new."""
        boot = self._boot
        self._wire.call(lambda: worker_protocol.drain(boot))

    def work_off(self) -> None:
        """Do everything as it should be done."""
        try:
            if self._id is None:
                self.register()
            self.beat()
            self.claim()
            for token in list(self._held):
                self._end(token, None)
            self.report()
        except WorkerUnknown:
            self.die()


def _record() -> list[tuple[Any, ...]]:
    """Where every task stands, and under which token."""
    return list(Task.objects.order_by("id").values_list("id", "status", "token", "waiting_on"))


class Supervisor:
    """One replica; between two acts any time may pass, as if it had been frozen."""

    def __init__(self, name: str, rng: Random, ledger: Ledger) -> None:
        self.name, self._rng, self._ledger = name, rng, ledger
        self._epoch: int | None = None
        self._rounds = 0

    def act(self) -> None:
        """Take the lease if it is free; else run a round; now and then die or end the shift."""
        chance = self._rng.random()
        done: Any
        if self._epoch is None:
            done = self._epoch = leader.acquire(self.name, LEASE_SECONDS)
            if done is not None:
                assert done > max(self._ledger.epochs, default=0), "epochs only rise"
                self._ledger.epochs.append(done)
        elif chance < 0.04:
            done, self._epoch = "died", None
        elif chance < 0.08:
            done, self._epoch = leader.free(self._epoch), None
        else:
            done = self._round(self._epoch)
        self._ledger.note(self.name, done)

    def _round(self, epoch: int) -> str:
        self._rounds += 1
        before = _record()
        try:
            report = run_round(epoch, self._rounds, sweeping=self._rng.random() < 0.6)
        except Deposed:
            self._epoch = None
            assert _record() == before, "nothing of a deposed leader's round stands"
            return "deposed"
        assert epoch == self._ledger.epochs[-1], "only the latest leader's rounds stand"
        return f"{report.dispatched} {report.reclaimed} {report.promoted} {report.settled}"
