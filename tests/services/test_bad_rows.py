"""One bad row costs neither a round nor a batch: it is named in the log and left, the others go on.

Bad means that the database refuses what is written: here by a constraint of the test's own, as a
newer version, a trigger or a partial restore would have one.
"""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from tasks_app.core.actions.bulks import BulkAction
from tasks_app.core.states import OnDead, Status
from tasks_app.models import Attempt, Bulk, BulkItem, Lease, Settled
from tasks_app.services import isolation
from tasks_app.services.audit_invariants import check_record
from tasks_app.services.dispatch.sequence_repair import repair_sequences
from tasks_app.store import sql
from tasks_app.store.reads.invariants.sequences import sequences_behind
from tests.floor import Floor
from tests.services.actions.test_bulks import begin


@pytest.fixture(autouse=True)
def told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the log name a row that another test's had named a moment ago."""
    monkeypatch.setattr(isolation, "_told", {})


@pytest.fixture
def refused(floor: Floor) -> Iterator[list[UUID]]:
    """Tasks that are put into this list cannot be changed any more once ``refuse`` was called."""
    yield []
    sql.execute("ALTER TABLE task DROP CONSTRAINT IF EXISTS bad_row")


def refuse(task: UUID, but: Status) -> None:
    """Have the database refuse every status of a task but the one that it has."""
    sql.execute(
        f"ALTER TABLE task ADD CONSTRAINT bad_row CHECK (id <> '{task}' OR status = '{but}')"
    )


@pytest.mark.usefixtures("refused")
def test_a_lease_that_cannot_end_keeps_no_other_from_it(
    floor: Floor, caplog: pytest.LogCaptureFixture
) -> None:
    floor.worker("w1", slots=8)
    bad, *others = floor.submit(8)
    floor.round()
    floor.claim("w1")
    refuse(bad, Status.RUNNING)
    floor.silence("w1", 100)
    assert floor.round().reclaimed == len(others)
    assert {floor.status(task) for task in others} == {Status.PENDING}
    assert f"the end of the lease on task {bad}" in caplog.text
    floor.worker("w2", slots=8)
    assert floor.round().dispatched == len(others), "nor from being handed out again"


@pytest.mark.usefixtures("refused")
def test_a_task_that_cannot_be_handed_out_keeps_no_other_from_it(
    floor: Floor, caplog: pytest.LogCaptureFixture
) -> None:
    floor.worker("w1", slots=8)
    bad, *others = floor.submit(5)
    refuse(bad, Status.PENDING)
    assert floor.round().dispatched == len(others)
    assert f"handing out task {bad}" in caplog.text


@pytest.mark.usefixtures("refused")
def test_a_task_that_cannot_be_given_up_keeps_no_other_from_it(floor: Floor) -> None:
    past = timezone.now() - timedelta(seconds=5)
    bad, *others = floor.submit(5, deadline_at=past)
    refuse(bad, Status.PENDING)
    floor.round()
    assert {floor.status(task) for task in others} == {Status.DEAD}
    assert floor.status(bad) is Status.PENDING


@pytest.mark.usefixtures("refused")
def test_a_dependent_that_cannot_be_settled_keeps_no_other_from_it(floor: Floor) -> None:
    floor.worker("w1", slots=8)
    (need,) = floor.submit()
    bad, *others = floor.submit(5, needs=[(need, OnDead.FAIL)])
    floor.round()
    (grant,) = floor.claim("w1")
    refuse(bad, Status.PENDING)
    floor.fail("w1", grant, permanent=True)
    floor.round()
    assert {floor.status(task) for task in others} == {Status.DEAD}
    assert Settled.objects.exists(), "its end waits to be carried over"
    sql.execute("ALTER TABLE task DROP CONSTRAINT bad_row")
    floor.round()
    assert floor.status(bad) is Status.DEAD


@pytest.mark.usefixtures("refused")
def test_a_task_that_a_bulk_cannot_change_is_named_on_its_page_and_the_others_are(
    floor: Floor,
) -> None:
    bad, *others = floor.submit(4)
    refuse(bad, Status.PENDING)
    bulk = begin([bad, *others], BulkAction.CANCEL, reason="no").id
    floor.work_off()
    assert Bulk.objects.get(id=bulk).moved == len(others)
    assert BulkItem.objects.get(task_id=bad).why.startswith("The database refused the change.")


def test_tokens_that_fell_behind_the_record_are_repaired_and_work_goes_on(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    tasks = floor.submit(6)
    for _ in range(2):
        floor.round()
        for grant in floor.claim("w1", 2):
            floor.complete("w1", grant)
    first, highest = Attempt.objects.earliest("token").token, Attempt.objects.latest("token").token
    sql.rows("SELECT setval('lease_token', %(at)s, false)", {"at": first})
    assert list(check_record()) == ["sequences_are_ahead"]
    tasks += floor.submit(4)
    floor.round()
    floor.claim("w1")
    floor.silence("w1", 100)
    floor.round()
    assert sequences_behind() == []
    floor.worker("w2", slots=8)
    floor.round()
    for grant in floor.claim("w2"):
        assert grant.token > highest
        assert floor.complete("w2", grant) == []
    floor.round()
    assert {floor.status(task) for task in tasks} == {Status.COMPLETED}
    floor.assert_invariants()


def test_a_lease_whose_token_was_given_before_gets_a_new_one(floor: Floor) -> None:
    floor.worker("w1", slots=4)
    (done,) = floor.submit()
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    sql.rows("SELECT setval('lease_token', %(at)s, false)", {"at": grant.token})
    (task,) = floor.submit()
    floor.round()
    (again,) = floor.claim("w1")
    assert again.token == grant.token
    with pytest.raises(IntegrityError):
        floor.complete("w1", again)
    assert repair_sequences() == [], "the sequence is right again"
    assert Lease.objects.get(task_id=task).token > grant.token
    assert floor.complete("w1", again) == [again.token], "its worker was fenced"
    floor.silence("w1", 100)
    floor.round()
    assert floor.status(task) is Status.PENDING
    assert floor.status(done) is Status.COMPLETED


def test_every_sequence_that_falls_behind_is_found_and_repaired(floor: Floor) -> None:
    floor.submit(3)
    floor.round()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO settled (task_id) SELECT gen_random_uuid() FROM generate_series(1, 5)"
        )
        cursor.execute("SELECT setval(pg_get_serial_sequence('settled', 'id'), 1, false)")
    found = {each.sequence for each in sequences_behind()}
    assert any("settled" in each for each in found), found
    repair_sequences()
    assert sequences_behind() == []
    with transaction.atomic():
        Settled.objects.create(task_id=UUID(int=1))
