"""Workers whose clocks are wrong: the database's clock decides, theirs only when they stop."""

import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from django.db import connection

from tasks_app.models import Attempt, Task
from tests.faults.conftest import Plant
from tests.faults.handlers import WORKER
from tests.faults.test_workers import all_done
from tests.waiting import wait_for

HOUR = 3600.0
MODULES = "tests.faults.handlers,tests.faults.ticking"
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


def set_clock(plant: Plant, seconds: float) -> None:
    """Have the clocks of the skewed worker jump; the file is replaced, never half-written."""
    draft = plant.folder / "clock.new"
    draft.write_text(str(seconds))
    draft.replace(plant.folder / "clock")


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone() or (None,)
    assert isinstance(now, datetime)
    return now


@pytest.mark.parametrize(
    ("ahead", "rate"),
    [
        pytest.param(HOUR, 1.3, id="an hour ahead and fast"),
        pytest.param(-HOUR, 0.7, id="an hour behind and slow", marks=pytest.mark.slow),
    ],
)
def test_a_worker_whose_clock_is_wrong_works_as_any_other(
    plant: Plant, ahead: float, rate: float
) -> None:
    set_clock(plant, ahead)
    plant.supervise()
    began = database_now()
    plant.skewed("w1", MODULES, rate)
    tasks = plant.floor.submit(30, kind="step")
    all_done(plant)
    ended = database_now()
    assert dict(Counter(Attempt.objects.values_list("outcome", flat=True))) == {"completed": 30}
    assert Counter(plant.lines("effects")) == {str(task): 1 for task in tasks}
    for attempt in Attempt.objects.all():
        assert attempt.started_at is not None
        assert began < attempt.assigned_at <= attempt.started_at <= attempt.ended_at < ended


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["ahead", "back"])
def test_a_clock_that_jumps_in_the_middle_of_a_task_costs_at_most_an_attempt(
    plant: Plant, jump: float
) -> None:
    plant.floor.kind("tick", backoff_base_seconds=0.1, timeout_seconds=2 * HOUR)
    set_clock(plant, 0)
    plant.supervise()
    plant.skewed("w1", MODULES, 1.0)
    plant.shut()
    (task,) = plant.floor.submit(kind="tick")
    wait_for(lambda: plant.lines("ticks"), "the first start")
    set_clock(plant, jump)
    seen = plant.floor.leader().last_round_at
    assert seen is not None
    # Twice as long as a lease lasts: a lease that is still renewed is not taken back.
    wait_for(
        lambda: (at := plant.floor.leader().last_round_at) and (at - seen).total_seconds() > 4,
        "rounds that could have taken it back",
    )
    plant.open()
    all_done(plant)
    *given_up, last = (outcome for outcome, _ in plant.floor.attempts(task))
    assert last == "completed"
    # Ahead, it may take its lease for over before the next heartbeat says that it is not.
    assert given_up in ([[], ["worker_lost"]] if jump > 0 else [[]])


@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed")
@pytest.mark.parametrize(
    "ahead",
    [
        "+3600",
        pytest.param("-3600", marks=pytest.mark.slow),
        pytest.param("+0 x1.2", marks=pytest.mark.slow),
    ],
)
def test_a_process_whose_wall_clock_is_wrong_works_as_any_other(plant: Plant, ahead: str) -> None:
    # Faked too, the monotonic clock would differ from the one by which the kernel ends timed waits:
    # no machine has that.
    monotonic = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    faked = {"LD_PRELOAD": str(LIBRARY), "FAKETIME": ahead, WORKER: "w1", **monotonic}
    plant.supervise()
    plant.start("work", "--name", "w1", "--handlers", MODULES, environment=faked)
    tasks = plant.floor.submit(30, kind="step")
    all_done(plant)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"completed"}
    assert Counter(plant.lines("effects")) == {str(task): 1 for task in tasks}
    finished = Task.objects.get(id=tasks[0]).finished_at
    assert finished is not None
    assert abs(finished.timestamp() - time.time()) < 60, "by the database's clock"
