"""A seeded run whose actors meet between any two statements of their transactions."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any, Final
from unittest import mock
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction

from tasks_app.core.intake.new_tasks import Dependency, NewTask
from tasks_app.core.states import OnDead, Status
from tasks_app.models import Job, Kind, Task
from tasks_app.sdk.link import LinkDown
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.rounds import Deposed, run_round
from tasks_app.services.intake import submission
from tasks_app.services.intake.submission import SubmissionInvalid, submit_tasks
from tasks_app.services.jobs import job_compensation, job_steps, jobs
from tasks_app.services.jobs.jobs import submit_job
from tasks_app.store.dispatch import breakers, leader
from tests.simulation.cast import Ledger, Supervisor, Worker
from tests.simulation.stage import Actor, Stage
from tests.simulation.virtual_record import empty_record
from tests.simulation.wire import Wire
from tests.simulation.world import CLOSED, OPERATOR, World

ACTS: Final = 90
TURNS: Final = {"go on": 80, "begin": 14, "time": 2, "kill": 0.7, "freeze": 4}
BEGINNERS: Final = {"worker": 55, "supervisor": 24, "network": 6, "door": 8, "operator": 12}
AWAY: Final = (OperationalError, InterfaceError)
NEW_IDS: Final = (worker_protocol, submission, jobs, job_steps, job_compensation)


class FramedWire(Wire):
    """A wire to a database that may cut the connection in the middle."""

    def call(self, act: Callable[[], Any]) -> Any:
        """Carry a call, as the direct link does."""
        try:
            return super().call(act)
        except AWAY as error:
            connection.close()
            raise LinkDown("cut") from error

    def deliver(self) -> bool:
        """Execute one late call; one that is cut is lost."""
        try:
            return super().deliver()
        except AWAY:
            connection.close()
            return True


class Replica(Supervisor):
    """A supervisor whose rounds others may interleave."""

    def act(self) -> None:
        """Act; a connection that was cut ends the shift."""
        try:
            super().act()
        except AWAY:
            connection.close()
            self._epoch = None
            self._ledger.note(self.name, "cut")

    def _round(self, epoch: int) -> str:
        self._rounds += 1
        try:
            report = run_round(epoch, self._rounds, sweeping=self._rng.random() < 0.6)
        except Deposed:
            self._epoch = None
            return "deposed"
        return f"{report.dispatched} {report.reclaimed} {report.promoted} {report.settled}"

    def die(self) -> None:
        """Lose what only the process knew."""
        self._epoch = None


class InterleavedWorld(World):
    """The same floor, with every actor on a connection of its own."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rng = Random(seed)
        self.ledger = Ledger()
        self.wire = FramedWire(self.rng)
        self.workers = [Worker(f"w{n}", self.rng, self.wire, self.ledger) for n in range(8)]
        self.replicas = [Replica(f"s{n}", self.rng, self.ledger) for n in range(3)]
        self.jobs: list[UUID] = []
        self.frozen: set[str] = set()
        self.fences: list[int] = []
        self.processes: Sequence[Worker | Replica] = (*self.workers, *self.replicas)
        names = [each.name for each in self.processes]
        self.stage = Stage([*names, "network", "door", "operator"])

    def play(self) -> None:
        """Turns until enough acts were begun; then everybody comes to an end."""
        begun = 0
        while begun < ACTS:
            turn = self.rng.choices(list(TURNS), list(TURNS.values()))[0]
            begun += turn == "begin" and self._begin()
            if turn == "go on":
                self._go_on()
            elif turn == "time":
                self._pass_time()
            elif turn == "kill":
                self._kill()
            elif turn == "freeze":
                self._freeze()
        self.frozen.clear()
        self.stage.play_out()

    def _go_on(self) -> None:
        able = [each for each in self.stage.movable() if each.name not in self.frozen]
        if able:
            actor = self.rng.choice(able)
            self.ledger.note(actor.name)
            actor.move()

    def _begin(self) -> bool:
        who = self.rng.choices(list(BEGINNERS), list(BEGINNERS.values()))[0]
        acts: dict[str, Callable[[], None]] = {
            "network": lambda: self.ledger.note("late", self.wire.deliver()),
            "door": self._submit,
            "operator": self._operate_or_lose,
        }
        if who in acts:
            name, act = who, acts[who]
        else:
            several: Sequence[Worker | Replica] = self.workers if who == "worker" else self.replicas
            one = self.rng.choice(several)
            name, act = one.name, one.act
        actor = self.stage.actor(name)
        if actor.busy:
            return False
        actor.begin(act)
        return True

    def _pass_time(self) -> None:
        # Mostly between transactions; else the server cuts off whoever is inside of one.
        if self.rng.random() < 0.7:
            self.stage.play_out()
        self.stage.pass_time(self.rng.choice([10, 10, 20, 50]))

    def _kill(self) -> None:
        busy = [each for each in self.processes if self.stage.actor(each.name).busy]
        if busy:
            victim = self.rng.choice(busy)
            self.stage.kill(self.stage.actor(victim.name))
            victim.die()
            self.ledger.note(victim.name, "killed")

    def _freeze(self) -> None:
        """Leave somebody where he is, or let him go on."""
        if self.frozen and self.rng.random() < 0.5:
            self.frozen.remove(self.rng.choice(sorted(self.frozen)))
        elif len(self.frozen) < 4:
            self.frozen.add(self.rng.choice(self.stage.actors).name)

    def _submit(self) -> None:
        try:
            if self.rng.random() < 0.3:
                self.jobs.append(submit_job(self._plan()).id)
            else:
                self.tasks += submit_tasks(self._new_tasks()).ids
        except SubmissionInvalid:
            self.ledger.note("door", "refused")
        except AWAY:
            connection.close()

    def _new_tasks(self) -> list[NewTask]:
        known = Task.objects.filter(id__in=self.tasks).exclude(status__in=CLOSED).order_by("id")
        needs = self.rng.sample(list(known), min(len(known), self.rng.randint(0, 2)))
        return [
            NewTask(
                kind=self.rng.choice(["plain", "gated"]),
                payload={},
                max_attempts=self.rng.randint(1, 4),
                lock_key=self.rng.choice(["a", "b", None, None, None]),
                depends_on=[
                    Dependency(each.id, f"input{n}", self.rng.choice(list(OnDead)))
                    for n, each in enumerate(needs)
                ],
            )
            for _ in range(self.rng.randint(1, 3))
        ]

    def _plan(self) -> dict[str, Any]:
        def step(n: int) -> dict[str, Any]:
            after = [] if n == 0 else [f"s{self.rng.randrange(n)}"]
            return {"name": f"s{n}", "kind": self.rng.choice(["plain", "gated"]),
                    "depends_on": after, "compensation": "plain"}  # fmt: skip

        steps = [step(n) for n in range(self.rng.randint(2, 3))]
        return {"steps": steps, "on_dead": self.rng.choice(["compensate", "ask"])}

    def _operate_or_lose(self) -> None:
        try:
            if self.jobs and self.rng.random() < 0.3:
                act = self.rng.choice([jobs.cancel_job, jobs.compensate_job])
                act(self.rng.choice(self.jobs), OPERATOR)
            else:
                self._operate()
        except AWAY:
            connection.close()

    def settle(self) -> None:
        """No more faults, nobody meets: whatever has not ended ends, or waits for a human."""
        self.wire.reliable = True
        network = self.stage.actor("network")
        delivered = True
        while delivered:
            found: list[bool] = []
            self.stage.alone(network, lambda into=found: into.append(self.wire.deliver()))  # type: ignore[misc]
            (delivered,) = found
        for worker in self.workers:
            worker.die()
        for _ in range(80):
            if not self.unsettled():
                return
            for kind in Kind.objects.filter(quarantined_at__isnull=False):
                breakers.free_kind(kind.name)
            for supervisor in self.replicas:
                self.stage.alone(self.stage.actor(supervisor.name), supervisor.act)
            for worker in self.workers[:3]:
                self.stage.alone(self.stage.actor(worker.name), worker.work_off)
            self.stage.pass_time(10)
        raise AssertionError(f"never settled: {self.unsettled()}")

    def check(self) -> None:
        """What the record says is sound, and it is what was accepted."""
        self.floor.assert_invariants()
        rows = dict(Task.objects.filter(job_id__isnull=True).values_list("id", "status"))
        assert rows.keys() == set(self.tasks), "nothing lost, nothing invented"
        assert set(Job.objects.values_list("id", flat=True)) == set(self.jobs)
        completed = Task.objects.filter(status=Status.COMPLETED).values_list("id", flat=True)
        assert self.ledger.completed == Counter(completed)
        assert self.fences == sorted(self.fences), "no round of an older epoch stands after a newer"

    def renewing(self, epoch: int, ttl: float) -> bool:
        """Fence a round, and note its epoch if it commits."""
        done = leader_renew(epoch, ttl)
        actor = self.current
        actor.on_commit = partial(self._note_fence, actor, epoch) if done else None
        return done

    def _note_fence(self, actor: Actor, epoch: int) -> None:
        self.fences.append(epoch)
        actor.on_commit = None

    @property
    def current(self) -> Actor:
        """Whose thread this is."""
        return self.stage.actor(threading.current_thread().name)


leader_renew: Final = leader.renew


def interleave(seed: int) -> tuple[list[str], list[tuple[str, int, int]], Stage]:
    """Run a seed; return its trace, its outcome and its stage."""
    empty_record()
    world = InterleavedWorld(seed)
    with ExitStack() as patches:
        patches.callback(world.stage.close)
        for module in NEW_IDS:
            patches.enter_context(mock.patch.object(module, "new_id", world.new_id))
        patches.enter_context(mock.patch.object(leader, "renew", world.renewing))
        patches.enter_context(mock.patch.object(time, "sleep"))
        with transaction.atomic():
            world.prepare()
        world.play()
        world.settle()
        world.check()
        return world.ledger.trace, world.outcome(), world.stage
