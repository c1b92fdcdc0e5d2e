"""Pause, resume and free a kind; cancel what a query finds."""

import pytest

from tasks_app.core.bulks import BulkAction, BulkOrder
from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Bulk, Kind
from tasks_app.services import found_tasks
from tasks_app.services.bulks import OrderInvalid
from tasks_app.services.found_tasks import begin_found, find_touched
from tasks_app.services.kind_holds import free_kind, pause_kind, resume_kind
from tasks_app.services.people import Actor, NotAllowed, Role
from tests.floor import Floor

OPERATOR = Actor("otto", "10.0.0.7")
CANCEL = BulkOrder(BulkAction.CANCEL, "a mistake")


def test_a_paused_kind_gets_nothing_and_what_is_in_flight_goes_on(floor: Floor) -> None:
    floor.settings(backlog=0)
    floor.worker("w1", slots=1)
    floor.submit(2)
    floor.round()
    (grant,) = floor.claim("w1")
    assert pause_kind("job", OPERATOR, "the other side is down")
    assert not pause_kind("job", OPERATOR)
    assert floor.complete("w1", grant) == []
    assert floor.round().dispatched == 0
    assert resume_kind("job", OPERATOR)
    assert floor.round().dispatched == 1
    entry = AuditEntry.objects.earliest("id")
    assert (entry.action, entry.subject, entry.reason) == (
        "pause kind",
        "job",
        "the other side is down",
    )
    assert (entry.before, entry.after) == ({"paused": False}, {"paused": True})
    assert AuditEntry.objects.count() == 2


def test_a_quarantine_ends_by_an_operator_with_a_reason(floor: Floor) -> None:
    floor.kind()
    assert not free_kind("job", OPERATOR)
    Kind.objects.update(quarantined_at="2030-01-01T00:00:00Z")
    assert free_kind("job", OPERATOR, "fixed in 1.4.2")
    assert Kind.objects.get().quarantined_at is None
    assert AuditEntry.objects.get().action == "free kind"


@pytest.mark.parametrize("act", [pause_kind, resume_kind, free_kind])
def test_who_may_only_look_changes_no_kind(floor: Floor, act: object) -> None:
    floor.kind()
    with pytest.raises(NotAllowed):
        act("job", Actor("vera", role=Role.VIEWER))  # type: ignore[operator]


def test_a_filter_cancels_what_it_finds_and_can_still_be_touched(floor: Floor) -> None:
    floor.worker("w1", slots=3, skills={"a": 1.0})
    done, running, assigned = floor.submit(3, kind="a")
    floor.round()
    first, second = floor.claim("w1", 2)
    floor.complete("w1", first)
    floor.kind("a", paused=True)
    (pending,) = floor.submit(kind="a")
    (other,) = floor.submit(kind="b")
    bulk, more = begin_found(CANCEL, "kind:a", OPERATOR, sees_payloads=True)
    assert bulk is not None
    assert (bulk.total, more) == (3, False)
    Bulk.objects.update(begins_at=bulk.created_at, look_at=bulk.created_at)
    for _ in range(3):
        floor.round()
    assert floor.status(first.task_id) is Status.COMPLETED
    assert floor.status(other) is Status.PENDING
    assert {floor.status(task) for task in (assigned, pending)} == {Status.CANCELLED}
    assert floor.task(second.task_id).cancel_asked
    assert {done, running} == {first.task_id, second.task_id}
    entry = AuditEntry.objects.earliest("id")
    assert (entry.action, entry.wanted, entry.reason) == ("cancel", "kind:a", "a mistake")


def test_a_filter_takes_a_bounded_number_and_says_that_there_is_more(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_tasks, "MOST_FOUND", 5)
    floor.submit(7)
    found = find_touched(CANCEL, "kind:job", sees_payloads=True)
    assert (len(found.ids), found.more) == (5, True)


@pytest.mark.parametrize(
    ("text", "message"), [("  ", "empty"), ("status:lost", "at character"), ("(", "at character")]
)
def test_a_filter_that_says_nothing_or_is_wrong_touches_nothing(
    floor: Floor, text: str, message: str
) -> None:
    floor.submit(1)
    with pytest.raises(OrderInvalid, match=message):
        begin_found(CANCEL, text, OPERATOR, sees_payloads=True)
    assert not Bulk.objects.exists()


def test_an_or_in_a_filter_stays_within_what_it_can_touch(floor: Floor) -> None:
    floor.worker("w1", slots=1)
    floor.submit(1)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.complete("w1", grant)
    floor.submit(1, kind="b")
    found = find_touched(CANCEL, "kind:job OR kind:b", sees_payloads=True)
    assert [floor.task(task).kind_id for task in found.ids] == ["b"]
