"""A run on a virtual clock, decided by the very function that the supervisor uses.

Nothing here decides: rounds are ``plan_dispatch`` on snapshots as the record would show them.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from uuid import UUID

from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.facts import KindPolicy, Snapshot, TaskFacts, WorkerFacts


@dataclass(frozen=True, slots=True)
class SimTask:
    """One task to come: ``duration`` at skill 1 and arrival ``at``, in seconds.

    ``estimate`` is what the supervisor believes its duration to be; None when it knows.
    ``head_start`` (seconds) is what its priority is worth in the queue.
    """

    kind: str
    duration: float
    at: float = 0.0
    estimate: float | None = None
    priority: int = 0
    head_start: float = 0.0


@dataclass(frozen=True, slots=True)
class SimWorker:
    """One worker, there from the first instant to the last; ``skills`` maps kind to skill."""

    name: str
    skills: Mapping[str, float]
    slots: int = 1


@dataclass(frozen=True, slots=True)
class SimRun:
    """One executed task: its index, who ran it and when, in seconds."""

    task: int
    worker: str
    started: float
    ended: float


@dataclass(frozen=True, slots=True)
class SimResult:
    """What a run came to; seconds.

    ``busy`` is the slot seconds that each worker worked, ``idle_share`` the share of its slots'
    time until the last task ended that it did not. ``left`` are the indices of tasks that nobody
    ever got.
    """

    makespan: float
    busy: Mapping[str, float]
    idle_share: Mapping[str, float]
    runs: Sequence[SimRun]
    left: Sequence[int]


def simulate(
    tasks: Sequence[SimTask],
    workers: Sequence[SimWorker],
    kinds: Sequence[KindPolicy],
    *,
    backlog: float | None = 1.0,
    seed: int = 0,
    dispatch_seconds: float = 0.0,
) -> SimResult:
    """Run tasks to their end; a round follows every arrival and every completion.

    ``dispatch_seconds`` is D, the supervisor's time per dispatched task: the n-th task of a round
    reaches its worker n * D later, and no other round begins until the last one has.

    >>> from tasks_app.core.facts import StrategyName
    >>> tasks = [SimTask("draft", seconds) for seconds in (10, 2, 2, 10, 2, 2, 10, 2, 2)]
    >>> fleet = [SimWorker(name, {"draft": 1.0}) for name in ("w1", "w2", "w3")]
    >>> ring = KindPolicy("draft", StrategyName.ROUND_ROBIN)
    >>> simulate(tasks, fleet, [ring], backlog=None).makespan
    30.0
    """
    shift = _Shift(tasks, workers, {kind.name: kind for kind in kinds})
    shift.run(backlog, seed, dispatch_seconds)
    return shift.result()


@dataclass(slots=True)
class _Lease:
    """What a worker holds: expected seconds, and since when it runs (None: not yet)."""

    expected: float
    started: float | None = None

    def left(self, now: float) -> float:
        return self.expected if self.started is None else self.expected - (now - self.started)


@dataclass(slots=True)
class _Worker:
    """A simulated worker with its leases by task index and its queue of those handed over."""

    id: UUID
    given: SimWorker
    leases: dict[int, _Lease] = field(default_factory=dict)
    queue: deque[int] = field(default_factory=deque)
    running: int = 0
    busy: float = 0.0

    def facts(self, now: float) -> WorkerFacts:
        """This worker as the record would show it; a task that overruns counts as about to end."""
        return WorkerFacts(
            self.id,
            self.given.name,
            self.given.slots,
            self.given.skills,
            active=len(self.leases),
            queued_seconds=sum(max(0.0, lease.left(now)) for lease in self.leases.values()),
        )


class _Shift:
    """The state of one run: the clock, what is to come, what is ready and who holds what."""

    def __init__(
        self, tasks: Sequence[SimTask], workers: Sequence[SimWorker], kinds: dict[str, KindPolicy]
    ) -> None:
        self._tasks = tasks
        self._workers = {UUID(int=at): _Worker(UUID(int=at), w) for at, w in enumerate(workers)}
        self._kinds = kinds
        self._now = 0.0
        self._serial = count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._ready: dict[int, TaskFacts] = {}
        self._news = False
        self._runs: list[SimRun] = []

    def run(self, backlog: float | None, seed: int, dispatch_seconds: float) -> None:
        """Play every event in its order, with a round after those of one instant."""
        free_at = 0.0
        for task in range(len(self._tasks)):
            self._plan(self._tasks[task].at, partial(self._arrive, task))
        while self._events:
            self._now = self._events[0][0]
            while self._events and self._events[0][0] == self._now:
                heappop(self._events)[2]()
            if self._news and self._now >= free_at:
                dispatched = self._round(backlog, seed, dispatch_seconds)
                free_at = self._now + dispatched * dispatch_seconds

    def result(self) -> SimResult:
        """What the run came to."""
        makespan = max((run.ended for run in self._runs), default=0.0)
        busy = {worker.given.name: worker.busy for worker in self._workers.values()}
        idle_share = {
            worker.given.name: 1 - worker.busy / (makespan * worker.given.slots)
            for worker in self._workers.values()
            if makespan
        }
        return SimResult(makespan, busy, idle_share, self._runs, sorted(self._ready))

    def _plan(self, at: float, action: Callable[[], None]) -> None:
        heappush(self._events, (at, next(self._serial), action))

    def _arrive(self, index: int) -> None:
        task = self._tasks[index]
        self._ready[index] = TaskFacts(
            UUID(int=index),
            task.kind,
            task.priority,
            task.at - task.head_start,
            task.duration if task.estimate is None else task.estimate,
        )
        self._news = True

    def _round(self, backlog: float | None, seed: int, dispatch_seconds: float) -> int:
        """Decide one round and hand its tasks over, one every D; return how many they are."""
        self._news = False
        workers = [worker.facts(self._now) for worker in self._workers.values()]
        ready = list(self._ready.values())
        plan = plan_dispatch(Snapshot(self._kinds, workers, ready, backlog, seed))
        for kind, cursor in plan.cursors.items():
            self._kinds[kind] = replace(self._kinds.get(kind, KindPolicy(kind)), cursor=cursor)
        for nth, assignment in enumerate(plan.assignments, start=1):
            index, worker = assignment.task_id.int, self._workers[assignment.worker_id]
            del self._ready[index]
            worker.leases[index] = _Lease(assignment.expected)
            at = self._now + nth * dispatch_seconds
            self._plan(at, partial(self._hand_over, worker, index))
        return len(plan.assignments)

    def _hand_over(self, worker: _Worker, index: int) -> None:
        worker.queue.append(index)
        self._start(worker)

    def _start(self, worker: _Worker) -> None:
        """Begin what is queued on every free slot."""
        while worker.queue and worker.running < worker.given.slots:
            index = worker.queue.popleft()
            task = self._tasks[index]
            worker.running += 1
            worker.leases[index].started = self._now
            ends = self._now + task.duration / worker.given.skills[task.kind]
            self._plan(ends, partial(self._complete, worker, index, self._now))

    def _complete(self, worker: _Worker, index: int, started: float) -> None:
        del worker.leases[index]
        worker.running -= 1
        worker.busy += self._now - started
        self._runs.append(SimRun(index, worker.given.name, started, self._now))
        self._news = True
        self._start(worker)
