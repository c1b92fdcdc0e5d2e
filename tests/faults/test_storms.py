"""Many failures at once: retries, crashes, lost connections, and a deployment under load."""

import signal
import time
from collections import Counter
from functools import partial

from django.db import connection

from tasks_app.core.states import Status
from tasks_app.models import Attempt, Kind, Task
from tests.faults.conftest import Plant
from tests.faults.failing import DOWN
from tests.waiting import wait_for

FAILING = ("--handlers", "tests.faults.failing")


def outcomes() -> Counter[str]:
    """How many attempts ended in each way."""
    return Counter(Attempt.objects.values_list("outcome", flat=True))


def completed() -> int:
    """How many tasks are COMPLETED."""
    return Task.objects.filter(status=Status.COMPLETED).count()


def done(goal: int) -> bool:
    """Whether so many tasks are COMPLETED."""
    return completed() >= goal


def wait_for_all(plant: Plant, status: Status = Status.COMPLETED, seconds: float = 60) -> None:
    wait_for(
        lambda: not Task.objects.exclude(status=status).exists(), f"all to be {status}", seconds
    )


def test_a_storm_of_retries_stays_within_its_budget_and_passes(plant: Plant) -> None:
    first, budget, free = 200, 0.1, 10
    plant.floor.kind("call", backoff_base_seconds=0.1, backoff_cap_seconds=0.2,
                     max_attempts=100, retry_budget=budget)  # fmt: skip
    (plant.folder / DOWN).touch()
    plant.supervise()
    plant.work("w1", *FAILING, "--slots", "20")
    plant.floor.submit(first, kind="call")
    allowed = first + int(first * budget) + free
    # Credit is a sum of fractions: the last retry that it pays for may be missing a hair of it.
    wait_for(lambda: len(plant.lines("calls")) >= allowed - 1, "the budget to be used up", 60)
    wait_for_all(plant, Status.FAILED)
    settled = plant.floor.leader().last_round_at
    assert settled is not None
    wait_for(
        lambda: (at := plant.floor.leader().last_round_at) and (at - settled).total_seconds() > 1,
        "rounds in which every backoff is over",
    )
    called = len(plant.lines("calls"))
    assert allowed - 1 <= called <= allowed, "retries earn no retries"
    (plant.folder / DOWN).unlink()
    Kind.objects.filter(name="call").update(retry_budget=None)
    wait_for_all(plant)
    assert outcomes() == {"error": called, "completed": first}


def test_a_task_that_aborts_its_process_is_poison_and_its_siblings_finish(plant: Plant) -> None:
    plant.floor.kind("abort", backoff_base_seconds=0.1, max_attempts=10, poison_after=3)
    plant.floor.kind("moment")
    plant.supervise()
    worker = plant.work("w1", *FAILING, "--slots", "2", "--processes")
    (poison,) = plant.floor.submit(kind="abort")
    plant.floor.submit(20, kind="moment")
    wait_for(lambda: plant.floor.status(poison) is Status.DEAD, "the poison to be found out", 40)
    wait_for(
        lambda: not Task.objects.exclude(id=poison).exclude(status=Status.COMPLETED).exists(),
        "the siblings to finish",
        40,
    )
    assert plant.floor.task(poison).dead_reason == "poison"
    assert plant.lines("aborts") == [str(poison)] * 3
    assert outcomes() == {"crashed": 3, "completed": 20}, "no sibling was taken down with it"
    assert worker.poll() is None


def test_a_deployment_under_load_uses_up_no_attempt(plant: Plant) -> None:
    plant.floor.kind("moment", max_attempts=1)
    supervisor = plant.supervise()
    old = [plant.work(f"old{n}", *FAILING, "--slots", "2") for n in range(2)]
    tasks = plant.floor.submit(200, kind="moment")
    wait_for(lambda: len(plant.lines("moments")) > 20, "the load to be on")
    plant.work("new", *FAILING, "--slots", "4")
    for process in (supervisor, *old):
        process.send_signal(signal.SIGTERM)
    plant.supervise()
    assert [process.wait(30) for process in (supervisor, *old)] == [0, 0, 0]
    wait_for_all(plant)
    assert set(outcomes()) <= {"completed", "released"}
    assert Counter(plant.lines("moments")) == {str(task): 1 for task in tasks}, "nor any work"


def test_lost_connections_in_all_processes_lose_no_task(plant: Plant) -> None:
    plant.floor.kind("moment", max_attempts=9)
    processes = [plant.supervise(), plant.work("w1", *FAILING, "--slots", "4")]
    plant.floor.submit(150, kind="moment")
    wait_for(lambda: len(plant.lines("moments")) > 10, "the work to be under way")
    cut = 0
    until = time.monotonic() + 4
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            (found,) = cursor.fetchone() or (0,)
        cut += found
        goal = min(completed() + 5, 150)
        wait_for(partial(done, goal), "work to be done between two cuts", 30)
    assert cut >= 3
    wait_for_all(plant)
    assert Counter(
        Attempt.objects.filter(outcome="completed").values_list("task_id", flat=True)
    ) == dict.fromkeys(Task.objects.values_list("id", flat=True), 1)
    assert all(process.poll() is None for process in processes), "nobody had to be restarted"


def test_a_handler_that_silences_its_worker_pays_alone(plant: Plant) -> None:
    plant.floor.settings(stale_after_seconds=60.0)
    plant.floor.kind("explode", timeout_seconds=4, max_attempts=1)
    plant.floor.kind("nap", timeout_seconds=4, max_attempts=1)
    plant.supervise()
    naps = plant.floor.submit(7, kind="nap")
    (culprit,) = plant.floor.submit(kind="explode")
    worker = plant.work("w1", *FAILING, "--slots", "8")
    wait_for(lambda: plant.floor.status(culprit) is Status.DEAD, "the culprit to be found out", 60)
    assert worker.wait(10) == -signal.SIGKILL
    assert plant.floor.attempts(culprit) == [("timeout", "w1")]
    error = plant.floor.task(culprit).error or {}
    assert error["type"] == "HandlerHeldInterpreter"
    plant.work("w2", *FAILING, "--slots", "8")
    wait_for(
        lambda: all(plant.floor.status(nap) is Status.COMPLETED for nap in naps),
        "its neighbours to finish elsewhere",
        60,
    )
    assert {plant.floor.task(nap).attempts for nap in naps} == {1}
    assert outcomes()["worker_lost"] == 0
