"""Supervisors that are killed or frozen."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

from tasks_app.core.states import Status
from tasks_app.models import Attempt, Leader, Lease, Replica, Shift, Task
from tests.faults.conftest import Plant
from tests.faults.test_workers import all_done
from tests.races.conftest import waiting_for_locks
from tests.waiting import wait_for


def test_a_killed_supervisor_loses_nothing_and_its_successor_goes_on(plant: Plant) -> None:
    first = plant.supervise()
    plant.work("w1", "--slots", "4")
    plant.work("w2", "--slots", "4")
    tasks = plant.floor.submit(400, kind="step")
    wait_for(lambda: len(plant.lines("effects")) > 50, "the night to be under way")
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    unfinished = Task.objects.exclude(status=Status.COMPLETED).count()
    plant.supervise()
    all_done(plant)
    assert unfinished > 0
    assert Counter(
        Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
    ) == dict.fromkeys(tasks, 1)
    assert Leader.objects.get().epoch == 2


def test_the_successor_of_a_leader_killed_on_its_machine_does_not_wait_its_lease_out(
    plant: Plant,
) -> None:
    plant.floor.settings(leader_lease_seconds=300.0)
    first = plant.supervise()
    wait_for(lambda: Leader.objects.get().last_round_at is not None, "the first round")
    second = plant.supervise()
    wait_for(Replica.objects.exists, "the second to stand by")
    first.send_signal(signal.SIGSTOP)
    assert Leader.objects.get().epoch == 1, "frozen, it is still there"
    first.send_signal(signal.SIGKILL)
    wait_for(lambda: Leader.objects.get().epoch == 2, "the second to lead")
    assert Shift.objects.get(epoch=1).ending == "lost"
    assert second.poll() is None


@contextmanager
def fence_held(plant: Plant) -> Iterator[None]:
    """Hold the leader's row on a connection of its own: each round stops at its last statement."""
    with psycopg.connect(plant.database) as holder:
        holder.execute("SELECT 1 FROM leader FOR UPDATE")
        yield


def test_a_supervisor_killed_in_the_middle_of_a_round_leaves_nothing_of_it(plant: Plant) -> None:
    first = plant.supervise()
    plant.work("w1")
    wait_for(lambda: Leader.objects.get().last_round_at is not None, "the first round")
    with fence_held(plant):
        (task,) = plant.floor.submit(kind="step")
        wait_for(waiting_for_locks, "a round to reach its fence")
        first.send_signal(signal.SIGKILL)
        first.wait(10)
        wait_for(lambda: not waiting_for_locks(), "the server to drop the killed round")
    assert plant.floor.status(task) is Status.PENDING
    plant.supervise()
    all_done(plant)
    assert plant.floor.attempts(task) == [("completed", "w1")]
    assert Leader.objects.get().epoch == 2


def test_a_frozen_leader_is_replaced_and_finds_itself_deposed(plant: Plant) -> None:
    first = plant.supervise()
    wait_for(lambda: Leader.objects.get().last_round_at is not None, "the first round")
    first.send_signal(signal.SIGSTOP)
    plant.supervise()
    plant.work("w1")
    tasks = plant.floor.submit(20, kind="step")
    all_done(plant)
    epoch = Leader.objects.get().epoch
    assert epoch >= 2
    first.send_signal(signal.SIGCONT)
    more = plant.floor.submit(20, kind="step")
    all_done(plant)
    completed = Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
    assert Counter(completed) == dict.fromkeys([*tasks, *more], 1)
    assert Leader.objects.get().epoch == epoch, "the frozen one stands by"


def test_a_leader_frozen_inside_a_round_holds_nobody_up_and_nothing_of_it_stands(
    plant: Plant,
) -> None:
    first = plant.supervise()
    plant.work("w1")
    wait_for(lambda: Leader.objects.get().last_round_at is not None, "the first round")
    with fence_held(plant):
        tasks = plant.floor.submit(20, kind="step")
        wait_for(waiting_for_locks, "a round to reach its fence")
        first.send_signal(signal.SIGSTOP)
    # Its last statement has gone through on the server; frozen, it cannot commit.
    wait_for(open_rounds, "the round to stand open")
    assert Lease.objects.count() == 0
    plant.supervise()
    all_done(plant)
    epoch = Leader.objects.get().epoch
    assert epoch == 2
    # The second leader's own rounds are open for a moment each.
    wait_for(lambda: open_rounds() == 0, "the server to cut it off")
    first.send_signal(signal.SIGCONT)
    more = plant.floor.submit(20, kind="step")
    all_done(plant)
    completed = Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
    assert Counter(completed) == dict.fromkeys([*tasks, *more], 1)
    assert Leader.objects.get().epoch == epoch, "the frozen one stands by"


def open_rounds() -> int:
    """How many processes other than this one sit inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND state = 'idle in transaction' AND pid <> pg_backend_pid()"
        )
        (found,) = cursor.fetchone() or (0,)
    return int(found)
