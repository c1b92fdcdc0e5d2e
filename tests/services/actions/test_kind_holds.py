"""Pause, resume and free a kind."""

import pytest

from tasks_app.models import AuditEntry, Kind
from tasks_app.services.actions.kind_holds import (
    free_kind,
    pause_kind,
    quarantine_kind,
    resume_kind,
)
from tasks_app.services.people.people import Actor, NotAllowed, Role
from tests.floor import Floor

OPERATOR = Actor("otto", "10.0.0.7")


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


def test_a_kind_in_quarantine_by_hand_gets_nothing_until_it_is_freed(floor: Floor) -> None:
    floor.worker("w1", slots=1)
    floor.submit(1)
    assert quarantine_kind("job", OPERATOR, "it fills the disk")
    assert not quarantine_kind("job", OPERATOR)
    assert floor.round().dispatched == 0
    assert free_kind("job", OPERATOR)
    assert floor.round().dispatched == 1
    entry = AuditEntry.objects.earliest("id")
    assert (entry.action, entry.subject, entry.reason) == (
        "quarantine kind",
        "job",
        "it fills the disk",
    )


@pytest.mark.parametrize("act", [pause_kind, resume_kind, quarantine_kind, free_kind])
def test_who_may_only_look_changes_no_kind(floor: Floor, act: object) -> None:
    floor.kind()
    with pytest.raises(NotAllowed):
        act("job", Actor("vera", role=Role.VIEWER))  # type: ignore[operator]
