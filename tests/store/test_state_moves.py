"""Each legal move of a task is made by a statement of the store, and no other is possible."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import pytest
from django.db import connection
from django.db.utils import DatabaseError

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.states import Status, is_legal
from tasks_app.models import Task
from tasks_app.sdk.link import Grant
from tasks_app.services.actions import bulks
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.attempts import worker_protocol
from tests.people import APPROVED, PeopleFloor
from tests.state_machine import MOVES, Move, counter

P, A, R, F = Status.PENDING, Status.ASSIGNED, Status.RUNNING, Status.FAILED


@pytest.fixture
def floor(record: None) -> PeopleFloor:
    """A floor with jobs, people and one worker."""
    floor = PeopleFloor()
    floor.lead()
    floor.hire("w1", slots=4)
    floor.people_do()
    return floor


def submitted(floor: PeopleFloor) -> UUID:
    (task,) = floor.submit(kind="a")
    return task


def assigned(floor: PeopleFloor) -> UUID:
    task = submitted(floor)
    floor.round()
    return task


def begun(floor: PeopleFloor) -> Grant:
    assigned(floor)
    (grant,) = floor.claim("w1")
    return grant


def failed(floor: PeopleFloor) -> UUID:
    grant = begun(floor)
    floor.fail("w1", grant)
    return grant.task_id


def dead(floor: PeopleFloor) -> UUID:
    grant = begun(floor)
    floor.fail("w1", grant, type="jsonschema.ValidationError")
    return grant.task_id


def overdue(floor: PeopleFloor, task: UUID) -> None:
    Task.objects.filter(id=task).update(deadline_at=datetime.now(UTC) - timedelta(seconds=1))
    floor.round()


def cancelled(floor: PeopleFloor, task: UUID) -> None:
    cancel_tasks([task], floor.operator)


def by_hand(floor: PeopleFloor, action: BulkAction) -> None:
    order = BulkOrder(action, "seen to", key=bulks.new_key())
    assert bulks.begin(order, [dead(floor)], floor.operator)
    floor.work_off()


def stopped_while_running(floor: PeopleFloor) -> None:
    grant = begun(floor)
    cancelled(floor, grant.task_id)
    floor.let_go("w1", grant)


def taken_by_a_person(floor: PeopleFloor) -> None:
    (step,) = floor.submit(kind="review")
    floor.take(step)


def joined(floor: PeopleFloor) -> None:
    floor.job([{"name": "each", "kind": "a", "for_each": [1]}])
    floor.complete("w1", floor.next())
    floor.until_still()


def skipped(floor: PeopleFloor) -> None:
    never = {"$result": "first.ok", "equals": True}
    floor.job([{"name": "first", "kind": "a"}, {"name": "then", "kind": "a", "when": never}])
    floor.complete("w1", floor.next(), {"ok": False})
    floor.until_still()


def handed_back(floor: PeopleFloor) -> None:
    assigned(floor)
    worker_protocol.drain(floor.workers["w1"])


def retried(floor: PeopleFloor) -> None:
    task = failed(floor)
    floor.backoff_over(task)
    floor.round()


WAYS: Final[dict[Move, Callable[[PeopleFloor], object]]] = {
    (P, A): assigned,
    (P, R): taken_by_a_person,
    (P, Status.COMPLETED): joined,
    (P, Status.CANCELLED): lambda floor: cancelled(floor, submitted(floor)),
    (P, Status.SKIPPED): skipped,
    (P, Status.DEAD): lambda floor: overdue(floor, submitted(floor)),
    (A, R): begun,
    (A, P): handed_back,
    (A, Status.CANCELLED): lambda floor: cancelled(floor, assigned(floor)),
    (A, Status.DEAD): lambda floor: overdue(floor, assigned(floor)),
    (R, Status.COMPLETED): lambda floor: floor.complete("w1", begun(floor), APPROVED),
    (R, F): failed,
    (R, P): lambda floor: floor.let_go("w1", begun(floor)),
    (R, Status.DEAD): dead,
    (R, Status.CANCELLED): stopped_while_running,
    (F, P): retried,
    (F, Status.CANCELLED): lambda floor: cancelled(floor, failed(floor)),
    (F, Status.DEAD): lambda floor: overdue(floor, failed(floor)),
    (Status.DEAD, P): lambda floor: by_hand(floor, BulkAction.REQUEUE),
    (Status.DEAD, Status.DISMISSED): lambda floor: by_hand(floor, BulkAction.DISMISS),
}


def times_made(move: Move) -> int:
    """How often the trigger has counted a move."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(last_value, 0) FROM pg_sequences WHERE sequencename = %s",
            [counter(move)],
        )
        (times,) = cursor.fetchone() or (0,)
    return int(times)


@pytest.mark.parametrize("move", MOVES, ids=" to ".join)
def test_each_legal_move_is_made_by_the_store(floor: PeopleFloor, move: Move) -> None:
    before = times_made(move)
    WAYS[move](floor)
    assert times_made(move) > before
    floor.assert_sound()


REACHED_BY: Final[dict[Status, Callable[[PeopleFloor], object]]] = {
    P: submitted,
    **{after: WAYS[before, after] for before, after in MOVES if after != P},
}


@pytest.mark.parametrize("status", Status)
def test_every_other_move_is_refused(floor: PeopleFloor, status: Status) -> None:
    REACHED_BY[status](floor)
    tasks = Task.objects.filter(status=status)
    assert tasks.exists()
    for after in Status:
        if after != status and not is_legal(status, after):
            with pytest.raises(DatabaseError, match="illegal move"):
                tasks.update(status=after)
