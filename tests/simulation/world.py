"""One seeded run: three supervisors, eight workers and an operator on the real store."""

from random import Random
from typing import Final
from unittest import mock
from uuid import UUID

from django.db import transaction

from tasks_app.core.states import EdgeState, OnDead, Status
from tasks_app.models import Kind, Limit, Task
from tasks_app.services.actions import operations
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.people.people import Actor
from tasks_app.store.dispatch import breakers
from tests import floor as floors
from tests.floor import Floor
from tests.simulation.cast import Ledger, Supervisor, Worker
from tests.simulation.clock import Clock
from tests.simulation.wire import Wire

STEPS: Final = 100
CHECK_EVERY: Final = 50
OPERATOR: Final = Actor("simulation")
CLOSED: Final = (Status.COMPLETED, Status.DEAD, Status.DISMISSED, Status.CANCELLED)
OPEN_EDGES: Final = (EdgeState.WAITING, EdgeState.BLOCKED)
MOVES: Final = {"worker": 55, "supervisor": 22, "late": 6, "time": 8, "submit": 6, "operator": 3}


class World:
    """Everything of one run; all chance comes from its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.ledger = Ledger()
        self.wire = Wire(self.rng)
        self.clock = Clock()
        self.floor = Floor()
        self.tasks: list[UUID] = []
        self.workers = [Worker(f"w{n}", self.rng, self.wire, self.ledger) for n in range(8)]
        self.supervisors = [Supervisor(f"s{n}", self.rng, self.ledger) for n in range(3)]

    def new_id(self) -> UUID:
        """Ids decide ties, so they come from the seed too."""
        return UUID(int=self.rng.getrandbits(128), version=4)

    def prepare(self) -> None:
        """Spans that no comparison falls close to, and one kind behind a limit."""
        backlog = self.rng.choice([0.0, 1.0, None])
        self.floor.settings(stale_after_seconds=45.0, leader_lease_seconds=25.0, backlog=backlog)
        limit = Limit.objects.create(name="narrow", max_concurrent=2)
        spans = {"backoff_base_seconds": 5.0, "backoff_jitter": 0.0, "timeout_seconds": 95.0}
        self.floor.kind("plain", **spans)
        self.floor.kind("gated", limit=limit, **spans)

    def step(self) -> None:
        """One move of somebody."""
        move = self.rng.choices(list(MOVES), list(MOVES.values()))[0]
        if move == "worker":
            self.rng.choice(self.workers).act()
        elif move == "supervisor":
            self.rng.choice(self.supervisors).act()
        elif move == "late":
            self.ledger.note("late", self.wire.deliver())
        elif move == "time":
            self.clock.advance(self.rng.choice([10, 10, 20, 50]))
        elif move == "submit":
            self._submit()
        else:
            self._operate()

    def _submit(self) -> None:
        known = list(
            Task.objects.filter(id__in=self.tasks).exclude(status__in=CLOSED).order_by("id")
        )
        needs = {
            self.rng.choice(known).id: self.rng.choice(list(OnDead))
            for _ in range(self.rng.randint(0, 2) if known else 0)
        }
        made = self.floor.submit(
            self.rng.randint(1, 3),
            kind=self.rng.choice(["plain", "gated"]),
            needs=list(needs.items()),
            max_attempts=self.rng.randint(1, 4),
        )
        if self.rng.random() < 0.3:
            Task.objects.filter(id__in=made).update(lock_key=self.rng.choice("ab"))
        self.tasks += made

    def _operate(self) -> None:
        dead = list(Task.objects.filter(status=Status.DEAD).order_by("id"))
        if dead and self.rng.random() < 0.7:
            task, act = self.rng.choice(dead).id, self.rng.choice(["requeue", "dismiss"])
        elif self.tasks:
            task, act = self.rng.choice(self.tasks), "cancel"
        else:
            return
        if act == "cancel":
            cancel_tasks([task], OPERATOR)
        elif act == "requeue":
            operations.requeue([task], OPERATOR)
        else:
            operations.dismiss([task], OPERATOR, "simulated")
        self.ledger.note(act, self.tasks.index(task))

    def settle(self) -> None:
        """No more faults: whatever has not ended ends, or waits for a human."""
        while self.wire.deliver():
            pass
        self.wire.reliable = True
        for worker in self.workers:
            worker.die()
        for _ in range(80):
            if not self.unsettled():
                return
            for kind in Kind.objects.filter(quarantined_at__isnull=False):
                breakers.free_kind(kind.name)
            for supervisor in self.supervisors:
                supervisor.act()
            for worker in self.workers[:3]:
                worker.work_off()
            self.clock.advance(10)
        raise AssertionError(f"never settled: {self.unsettled()}")

    def unsettled(self) -> list[tuple[UUID, str]]:
        """Tasks that neither ended nor wait for one that is DEAD, with their status."""
        waiting: set[UUID] = set()
        open_tasks = Task.objects.exclude(status__in=CLOSED).order_by("created_at", "id")
        for task in open_tasks.prefetch_related("dependencies__depends_on"):
            open_edges = [e for e in task.dependencies.all() if e.state in OPEN_EDGES]
            needed = [edge.depends_on for edge in open_edges]
            if any(n.status == Status.DEAD or n.id in waiting for n in needed):
                waiting.add(task.id)
        return [(t.id, t.status) for t in open_tasks if t.id not in waiting]

    def check(self) -> None:
        """What the record says is sound, and it is what was accepted."""
        self.floor.assert_invariants()
        rows = dict(Task.objects.values_list("id", "status"))
        assert rows.keys() == set(self.tasks), "nothing lost, nothing invented"
        completed = {task for task, status in rows.items() if status == Status.COMPLETED}
        assert self.ledger.completed == dict.fromkeys(completed, 1)

    def outcome(self) -> list[tuple[str, int, int]]:
        """(status, attempts, requeues) of each task in order of submission."""
        found = {t.id: (t.status, t.attempts, t.requeues) for t in Task.objects.all()}
        return [found[task] for task in self.tasks]


def simulate(seed: int) -> tuple[list[str], list[tuple[str, int, int]]]:
    """Run a seed in a transaction that is rolled back; return its trace and its outcome."""
    world = World(seed)
    with (
        transaction.atomic(),
        mock.patch.object(floors, "new_id", world.new_id),
        mock.patch.object(worker_protocol, "new_id", world.new_id),
    ):
        world.prepare()
        for number in range(1, STEPS + 1):
            world.step()
            if number % CHECK_EVERY == 0:
                world.check()
        world.settle()
        world.check()
        outcome = world.outcome()
        transaction.set_rollback(True)
    return world.ledger.trace, outcome
