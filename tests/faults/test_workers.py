"""Workers that are killed, frozen or hang."""

import shutil
import signal
import subprocess
import sys
from collections import Counter

import pytest

from tasks_app.core.states import Status
from tasks_app.models import LateResult, Task, Worker
from tests.faults.conftest import MANAGE, ROOT, Plant
from tests.faults.handlers import WORKER
from tests.waiting import wait_for


def all_done(plant: Plant) -> None:
    """Wait until every task is COMPLETED, and see that the rollup says so."""
    wait_for(
        lambda: not Task.objects.exclude(status=Status.COMPLETED).exists(), "every task to end", 30
    )
    plant.floor.assert_counts_are_true()


def test_a_task_whose_worker_is_killed_is_done_by_another(plant: Plant) -> None:
    plant.supervise()
    first = plant.work("w1", "--slots", "2")
    plant.shut()
    (task,) = plant.floor.submit(kind="step")
    wait_for(lambda: plant.lines("starts"), "the first start")
    first.send_signal(signal.SIGKILL)
    plant.open()
    plant.work("w2")
    all_done(plant)
    assert plant.floor.attempts(task) == [("worker_lost", "w1"), ("completed", "w2")]
    assert Counter(plant.lines("starts")) == {str(task): 2}
    assert Worker.objects.get(name="w1").state == "lost"


def test_a_frozen_worker_that_wakes_up_cannot_complete_what_was_reclaimed(plant: Plant) -> None:
    plant.supervise()
    first = plant.work("w1", "--slots", "1")
    plant.shut()
    (task,) = plant.floor.submit(kind="step")
    wait_for(lambda: plant.lines("starts"), "the first start")
    first.send_signal(signal.SIGSTOP)
    plant.work("w2")
    wait_for(lambda: len(plant.lines("starts")) == 2, "the second start")
    # Woken behind the shut gate: its handler cannot come to an end before the worker looks.
    first.send_signal(signal.SIGCONT)
    assert first.wait(10) != 0, "a worker that must stop its work and cannot, exits"
    plant.open()
    all_done(plant)
    assert plant.floor.attempts(task) == [("worker_lost", "w1"), ("completed", "w2")]
    assert LateResult.objects.filter(task_id=task).count() <= 1
    assert plant.floor.status(task) is Status.COMPLETED


def test_a_handler_that_hangs_is_stopped_at_its_timeout_and_dies_of_it(plant: Plant) -> None:
    plant.supervise()
    plant.work("w1", "--slots", "2", "--processes")
    (task,) = plant.floor.submit(kind="hang")
    wait_for(lambda: plant.floor.status(task) is Status.DEAD, "the task to be given up", 30)
    dead = plant.floor.task(task)
    assert (dead.dead_reason, dead.attempts) == ("exhausted", 2)
    assert [outcome for outcome, _ in plant.floor.attempts(task)] == ["timeout", "timeout"]


def test_a_worker_told_to_stop_finishes_and_uses_up_no_attempt(plant: Plant) -> None:
    plant.supervise()
    first = plant.work("w1", "--slots", "1", "--grace", "1")
    plant.shut()
    (task,) = plant.floor.submit(kind="step")
    wait_for(lambda: plant.lines("starts"), "the first start")
    first.send_signal(signal.SIGTERM)
    wait_for(lambda: plant.floor.attempts(task) == [("released", "w1")], "the release")
    plant.open()
    plant.work("w2")
    all_done(plant)
    assert plant.floor.task(task).attempts == 1
    first.wait(10)


def test_three_stops_that_were_cut_short_kill_nobody(plant: Plant) -> None:
    plant.supervise()
    plant.floor.kind("step", backoff_base_seconds=0.1, max_attempts=3, poison_after=3)
    plant.shut()
    tasks = plant.floor.submit(6, kind="step")
    for number in range(3):
        name = f"w{number}"
        worker = plant.work(name, "--slots", "6")
        wait_for(lambda: len(plant.lines("starts")) == 6 * (number + 1), "all six to run")  # noqa: B023
        worker.terminate()
        wait_for(
            lambda: Worker.objects.filter(name=name, state="draining").exists(),  # noqa: B023
            "the drain to be on record",
        )
        worker.kill()
    plant.open()
    plant.work("w3", "--slots", "6")
    all_done(plant)
    for task in tasks:
        outcomes = [outcome for outcome, _ in plant.floor.attempts(task)]
        assert outcomes == ["stopped", "stopped", "stopped", "completed"]
        assert plant.floor.task(task).attempts == 1


def test_workers_of_containers_with_one_host_name_do_not_fight(plant: Plant) -> None:
    """Each is process 1 of its own namespace, as in a container, and has no ``--name``."""
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("no process namespaces on this machine")
    plant.supervise()
    line = [sys.executable, *MANAGE, "work", "--handlers", "tests.faults.handlers", "--slots", "4"]
    environment = {**plant.environment, WORKER: "one of two"}
    workers = [
        subprocess.Popen([*apart, "--mount-proc", *line], cwd=ROOT, env=environment)
        for _ in range(2)
    ]
    try:
        wait_for(
            lambda: Worker.objects.filter(state="active", pid=1).count() == 2,
            "both to register as process 1",
            90,
        )
        plant.floor.submit(40, kind="step")
        all_done(plant)
        assert Worker.objects.count() == 2, "neither took the other's name"
        assert [worker.poll() for worker in workers] == [None, None]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait(10)
