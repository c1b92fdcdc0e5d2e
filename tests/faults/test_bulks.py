"""A supervisor that is killed while it works an act on many tasks through."""

import json
import signal
from uuid import UUID

import psycopg

from tasks_app.core.actions.bulks import BATCH, BulkAction, BulkOrder, BulkState
from tasks_app.core.states import DeadReason, Status
from tasks_app.models import Bulk, Task
from tasks_app.services.actions import bulks
from tasks_app.services.people.people import Actor
from tasks_app.store.actions import unleased_ends
from tests.faults.conftest import Plant
from tests.waiting import wait_for


def dead(plant: Plant, count: int) -> list[UUID]:
    error = json.dumps({"type": "KeyError", "message": "no such part"})
    ids = plant.floor.submit(count, kind="step")
    unleased_ends.close_waiting(
        ids, Status.DEAD, reason=DeadReason.PERMANENT, errors=[error] * count
    )
    return ids


def test_the_rest_of_a_bulk_is_done_once_when_its_supervisor_is_killed(plant: Plant) -> None:
    ids = dead(plant, 3 * BATCH)
    order = BulkOrder(BulkAction.REQUEUE, key="form")
    bulk = bulks.begin(order, ids, Actor("otto"))
    assert bulk is not None
    plant.floor.end_holds()
    with psycopg.connect(plant.database) as holder:
        # One task of the second batch is locked and passed over: the bulk cannot end meanwhile.
        holder.execute("SELECT 1 FROM task WHERE id = %s FOR UPDATE", [ids[BATCH + 7]])
        first = plant.supervise()
        wait_for(lambda: Bulk.objects.get().place >= BATCH, "the first batch", 40)
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    assert Task.objects.filter(status=Status.DEAD).exists()
    plant.supervise()
    wait_for(lambda: Bulk.objects.get().state == BulkState.DONE, "the successor's end of it", 40)
    assert set(Task.objects.values_list("status", "requeues")) == {(Status.PENDING, 1)}
    done = Bulk.objects.get()
    assert (done.moved, done.place, done.total) == (3 * BATCH, 3 * BATCH, 3 * BATCH)
