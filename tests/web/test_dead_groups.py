"""The desk of a group of dead letters: whose it is, what is noted, how it came back, its curve."""

import doctest
import re
from uuid import UUID

import pytest

from tasks_app.models import AuditEntry, Worker
from tasks_app.services.actions import operations
from tasks_app.services.actions.dead_groups import LONGEST_NOTE
from tasks_app.services.people.people import Actor
from tasks_app.store.reads.failures.dead_groups import read_histories
from tasks_app.templatetags import acts
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of, person


@pytest.fixture
def dead(floor: Floor) -> list[UUID]:
    floor.worker("w1", slots=20)
    return [died(floor, "w1", message=f"ticket {n} is empty") for n in range(2)]


@pytest.fixture
def key(floor: Floor, dead: list[UUID]) -> str:
    return str(floor.task(dead[0]).fingerprint)


def squeezed(html: str) -> str:
    return re.sub(r"\s+", " ", html)


def test_what_comes_back_after_its_dismissal_is_marked_with_the_version_of_its_worker(
    floor: Floor, dead: list[UUID], key: str, viewer: Person
) -> None:
    assert 'class="mark new"' in viewer.text("dead_letters")
    operations.dismiss(dead, Actor("otto"), "known")
    Worker.objects.update(version="1.4.2")
    died(floor, "w1", message="ticket 9 is empty")
    assert "came back on version 1.4.2" in squeezed(viewer.text("dead_letters"))
    page = squeezed(viewer.text("dead_group", key))
    assert "It came back on version 1.4.2" in page
    assert "came back on version 1.4.2" in squeezed(viewer.part("dead_group", key))


def test_what_comes_back_on_an_unknown_version_is_marked_without_one(
    floor: Floor, dead: list[UUID], key: str, viewer: Person
) -> None:
    operations.dismiss(dead, Actor("otto"), "known")
    died(floor, "w1", message="ticket 9 is empty")
    page = squeezed(viewer.text("dead_group", key))
    assert "It came back" in page
    assert "on version" not in page


def test_a_group_goes_to_a_colleague_to_oneself_and_to_nobody(
    key: str, operator: Person, viewer: Person
) -> None:
    person("olga", "operator")
    assert "Now it is olga" in message_of(operator.post("assign_group", key, colleague="olga"))
    assert '<span class="mark">olga</span>' in viewer.text("dead_letters")
    assert 'value="olga"' in operator.text("dead_group", key)
    assert "Take it myself" in operator.text("dead_group", key)
    operator.post("assign_group", key, colleague="otto")
    assert "Take it myself" not in operator.text("dead_group", key)
    assert "nobody" in message_of(operator.post("assign_group", key, colleague=""))
    assert '<span class="mark">' not in viewer.text("dead_letters").replace("mark new", "")
    changes = AuditEntry.objects.order_by("id").values_list("before", "after")
    assert list(changes) == [
        ({"assigned_to": was}, {"assigned_to": then})
        for was, then in (("", "olga"), ("olga", "otto"), ("otto", ""))
    ]


def test_the_desk_behind_a_long_list_is_reached_from_the_head_of_the_group(
    key: str, operator: Person
) -> None:
    html = operator.text("dead_group", key)
    assert html.index('href="#desk"') < html.index('id="dead-title"') < html.index('id="desk"')


def test_what_is_so_already_is_not_written_again(key: str, operator: Person) -> None:
    for _ in range(2):
        operator.post("assign_group", key, colleague="otto")
        operator.post("note_group", key, note="ask the vendor")
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "assign",
        "note",
    ]


def test_somebody_whose_account_is_closed_gets_no_group(key: str, operator: Person) -> None:
    gone = person("gerd", "operator").user
    gone.is_active = False
    gone.save()
    answer = operator.post("assign_group", key, colleague="gerd")
    assert "no active account" in message_of(answer)
    assert not AuditEntry.objects.exists()


def test_a_note_is_bounded_seen_by_all_and_taken_away(
    key: str, operator: Person, viewer: Person
) -> None:
    operator.post("note_group", key, note="x" * (LONGEST_NOTE + 500))
    assert len(read_histories([key])[key].note) == LONGEST_NOTE
    operator.post("note_group", key, note="first line\nsecond")
    assert "first line<br>second" in viewer.text("dead_group", key)
    operator.post("note_group", key, note="  ")
    assert 'role="note"' not in viewer.text("dead_group", key)


def test_a_viewer_is_offered_neither_and_refused_both(key: str, viewer: Person) -> None:
    assert "Assigned to" not in viewer.text("dead_group", key)
    assert viewer.post("note_group", key, note="mine").status_code == 403
    assert viewer.post("assign_group", key, colleague="vera").status_code == 403
    assert not AuditEntry.objects.exists()


def test_a_group_leads_to_all_that_ever_died_of_it(
    floor: Floor, dead: list[UUID], key: str, operator: Person
) -> None:
    operations.requeue([dead[0]], Actor("otto"))
    (address,) = re.findall(r'href="(/tasks/\?q=cause[^"]*)"', operator.text("dead_group", key))
    found = operator.client.get(address).context["page"].rows
    assert {row.id for row in found} == set(dead)


def test_a_curve_has_a_bar_for_each_hour_that_had_any_as_high_as_it_had() -> None:
    drawn = str(acts.curve([0, 1, 0, 4], "Deaths an hour"))
    bars = re.findall(r'<rect x="(\d+)" y="(\d+)" width="\d+" height="(\d+)"/>', drawn)
    assert [(int(x), int(y) + int(height)) for x, y, height in bars] == [(6, 22), (18, 22)]
    assert [int(height) for _, _, height in bars] == [6, 22]
    assert 'role="img" aria-label="Deaths an hour"' in drawn
    assert "<title>Deaths an hour</title>" in drawn


def test_a_curve_of_nothing_is_empty_and_a_single_death_is_seen() -> None:
    assert "<rect" not in str(acts.curve([0] * 24, "x"))
    low = re.findall(r'height="(\d+)"/>', str(acts.curve([1, 10_000], "x")))
    assert int(low[0]) == 2


def test_the_examples_of_the_tags_of_acts_hold() -> None:
    assert doctest.testmod(acts).failed == 0
