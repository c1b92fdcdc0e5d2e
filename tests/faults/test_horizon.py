"""A snapshot that somebody holds: nothing can be cleaned up, work goes on, and people are told."""

import time
from contextlib import closing

import psycopg
import pytest

from tasks_app.core.alerts.detection import SNAPSHOT_SECONDS, SnapshotHeld
from tasks_app.core.states import Status
from tasks_app.models import Task
from tasks_app.store.reads.dispatch.overview import read_overview
from tests.faults.conftest import Plant
from tests.waiting import wait_for

MEASURED = 1500


def told() -> list[SnapshotHeld]:
    """The alerts of this kind on the overview."""
    return [each for each in read_overview(15.0).alerts if isinstance(each, SnapshotHeld)]


def rate(plant: Plant) -> float:
    """Tasks completed a second, over a batch."""
    plant.floor.submit(MEASURED, kind="moment")
    began = time.monotonic()
    wait_for(lambda: not Task.objects.exclude(status=Status.COMPLETED).exists(), "the batch", 100)
    return MEASURED / (time.monotonic() - began)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_snapshot_held_for_a_minute_is_told_and_work_goes_on_though_slower(
    plant: Plant,
) -> None:
    plant.floor.kind("moment")
    plant.supervise()
    plant.work("w1", "--handlers", "tests.faults.failing", "--slots", "50")
    before = rate(plant)
    # Ended by the server in the end, so that nothing is left to commit.
    with closing(psycopg.connect(plant.database, application_name="a report")) as holder:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("SELECT count(*) FROM task")
        held_at = time.monotonic()
        assert told() == []
        during = [rate(plant)]
        while time.monotonic() - held_at < SNAPSHOT_SECONDS:
            during.append(rate(plant))
        (alert,) = wait_for(told, "the alert")
        assert (alert.pid, alert.program) == (holder.info.backend_pid, "a report")
        assert alert.state == "idle in transaction"
        # The remedy that it names.
        with psycopg.connect(plant.database, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", [alert.pid])
        wait_for(lambda: not told(), "the alert to go")
    # Dead rows that cannot go are read again by each round: that is why it is told.
    assert min(during[-2:]) > 0.2 * before, f"{before:.0f} tasks/s before, then {during}"
