"""Acts on tasks in the browser's words: one at once, many held, every field checked."""

from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Bulk
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of
from tests.web.test_dead_letters import confirmed

# Session, user, groups, the bulk, its items; the rail.
BULK_QUERIES = 8


@pytest.fixture
def dead(floor: Floor) -> list[UUID]:
    floor.worker("w1", slots=20)
    return [died(floor, "w1", message=f"ticket {n} is empty") for n in range(3)]


def begun(person: Person, act: str, ids: list[UUID], **form: Any) -> Bulk:
    """Confirm an act on many and follow its form."""
    fields = {name: value[0] for name, value in confirmed(person, act, id=ids).items()}
    person.post(act, **{**fields, "id": [str(task) for task in ids], **form})
    return Bulk.objects.latest("id")


def test_many_are_held_with_an_undo_that_takes_all_of_it_back(
    floor: Floor, dead: list[UUID], operator: Person
) -> None:
    fields = confirmed(operator, "requeue", id=[str(task) for task in dead])
    html = operator.post("requeue", **fields).content.decode()
    bulk = Bulk.objects.get()
    assert reverse("web:bulk_undo", args=[bulk.id]) in html
    response = operator.post("bulk_undo", bulk.id, next="/dead-letters/")
    assert message_of(response) == "Undone: none of the 3 tasks was touched."
    floor.work_off()
    assert {floor.status(task) for task in dead} == {Status.DEAD}
    again = operator.post("bulk_undo", bulk.id)
    assert "Too late to undo" in message_of(again)


def test_a_form_sent_twice_begins_once(floor: Floor, dead: list[UUID], operator: Person) -> None:
    fields = confirmed(operator, "requeue", id=[str(task) for task in dead])
    operator.post("requeue", **fields)
    operator.post("requeue", **fields)
    floor.work_off()
    operator.post("requeue", **fields)
    assert Bulk.objects.count() == 1
    assert AuditEntry.objects.count() == 1


def test_its_page_shows_progress_waves_and_refusals(
    floor: Floor, dead: list[UUID], operator: Person, viewer: Person
) -> None:
    bulk = begun(operator, "requeue", dead, canary="1", because="mended")
    assert bulk.canary
    held = operator.text("bulk", bulk.id)
    assert "Held: nothing is touched yet" in held
    floor.work_off()
    html = " ".join(viewer.part("bulk", bulk.id).split())
    assert "1 of 3: 1 moved, 0 refused" in html
    assert "mended" in html
    assert "Abort" not in html
    assert "Abort" in operator.text("bulk", bulk.id)
    assert "2 tasks stay as they are" in message_of(operator.post("bulk_abort", bulk.id))
    assert "Requeue, canary" in viewer.text("bulks")


def test_a_canary_of_few_says_on_its_page_that_its_error_came_back(
    floor: Floor, dead: list[UUID], operator: Person
) -> None:
    bulk = begun(operator, "requeue", dead, canary="1")
    floor.work_off()
    end_all(floor)
    floor.work_off()
    html = " ".join(operator.part("bulk", bulk.id).split())
    assert "All are sent. The last wave is watched until it has ended" in html
    assert "Stop watching" in html
    end_all(floor, type="jsonschema.ValidationError", message="ticket 1 is empty")
    floor.work_off()
    html = " ".join(operator.part("bulk", bulk.id).split())
    assert "The error is back, in the last wave." in html
    assert "there was nothing left to stop" in html
    assert "1 of 1 · 1 completed" in html
    assert "2 of 2 · 2 failed the same way" in html
    assert "Came back" in operator.text("bulks")
    assert "Stop watching" not in html


def test_who_has_seen_enough_of_a_canary_stops_watching_it(
    floor: Floor, dead: list[UUID], operator: Person
) -> None:
    bulk = begun(operator, "requeue", dead[:2], canary="1")
    floor.work_off()
    end_all(floor)
    floor.work_off()
    operator.post("bulk_abort", bulk.id)
    assert Bulk.objects.get().state == "aborted"
    assert "as they were" not in operator.text("bulk", bulk.id), "nothing was left"


def end_all(floor: Floor, **error: Any) -> None:
    """Have the worker complete what it was given, or fail all of it."""
    floor.round()
    for grant in floor.claim("w1"):
        if error:
            floor.fail("w1", grant, **error)
        else:
            floor.complete("w1", grant)


def test_a_whole_query_confirmed_twice_begins_once(floor: Floor, operator: Person) -> None:
    floor.submit(3, kind="spam")
    html = operator.text("act", "cancel", all=1, q="kind:spam")
    assert "Held for 10 s first" in " ".join(html.split())
    fields: dict[str, Any] = {name: value[0] for name, value in _hidden(html).items()}
    for _ in range(2):
        operator.post("act", "cancel", **fields, because="spam")
    assert (Bulk.objects.count(), AuditEntry.objects.count()) == (1, 1)


def test_every_task_is_acted_on_under_a_filter_that_can_be_searched_for(
    floor: Floor, operator: Person
) -> None:
    floor.submit(2)
    operator.post("act", "cancel", all=1, q="", because="all wrong")
    wanted = AuditEntry.objects.get().wanted
    assert len(operator.get("tasks", q=wanted).context["page"].rows) == 2


@pytest.mark.parametrize("act", ["bulk_undo", "bulk_abort"])
def test_a_viewer_may_neither_undo_nor_abort(
    floor: Floor, dead: list[UUID], operator: Person, viewer: Person, act: str
) -> None:
    bulk = begun(operator, "requeue", dead)
    assert viewer.post(act, bulk.id).status_code == 403
    assert Bulk.objects.get().state == "held"


def test_tasks_are_cancelled_by_a_query_with_a_reason(floor: Floor, operator: Person) -> None:
    waiting = floor.submit(3, kind="spam")
    (other,) = floor.submit(1)
    address = {"all": 1, "q": "kind:spam status:pending"}
    html = operator.text("act", "cancel", **address)
    assert "Cancel 3 tasks?" in html
    fields: dict[str, Any] = {name: value[0] for name, value in _hidden(html).items()}
    late = floor.submit(1, kind="spam")
    assert operator.post("act", "cancel", **fields).status_code == 422
    operator.post("act", "cancel", **fields, because="spam")
    floor.work_off()
    assert {floor.status(task) for task in waiting} == {Status.CANCELLED}
    assert {floor.status(task) for task in [other, *late]} == {Status.PENDING}
    assert AuditEntry.objects.get().wanted == "kind:spam status:pending"


def _hidden(html: str) -> dict[str, list[str]]:
    import re

    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden"\s+name="(\w+)"\s+value="([^"]*)"', html):
        fields.setdefault(name, []).append(value)
    fields.pop("csrfmiddlewaretoken", None)
    return fields


def test_what_an_act_cannot_touch_uses_up_none_of_its_bound(
    floor: Floor, dead: list[UUID], operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.services.search.found_tasks.LOOKED_AT", 3)
    floor.submit(5)
    html = operator.text("act", "requeue", all=1, q="")
    assert "Requeue 3 tasks?" in html
    assert "will be refused" not in html


def test_a_query_that_cannot_be_read_touches_nothing(floor: Floor, operator: Person) -> None:
    floor.submit(1)
    html = operator.text("act", "cancel", all=1, q="statsu:dead")
    assert "The query cannot be read" in html
    operator.post("act", "cancel", all=1, q="statsu:dead", because="x")
    assert not Bulk.objects.exists()


@pytest.mark.parametrize(
    ("act", "form", "said"),
    [
        ("priority", {"priority": "soon"}, "must be a whole number"),
        ("priority", {"priority": "99999"}, "must be a whole number"),
        ("deadline", {"deadline": "2020-01-01T00:00"}, "has passed already"),
        ("deadline", {"deadline": "tomorrow"}, "such as 2030-01-31T08:00"),
        ("deadline", {"deadline": "20300131"}, "such as 2030-01-31T08:00"),
        ("dismiss", {"because": ""}, "Say in a few words why"),
    ],
)
def test_a_wrong_field_is_told_at_its_place_and_nothing_is_lost(
    floor: Floor, dead: list[UUID], operator: Person, act: str, form: dict[str, Any], said: str
) -> None:
    ids = [str(task) for task in dead]
    response = operator.post("act", act, id=ids, **{"because": "why not", **form})
    assert response.status_code == 422
    html = response.content.decode()
    assert said in html
    assert form.get("because", "why not") in html
    assert html.count('name="id"') == 3
    assert not Bulk.objects.exists()


def test_one_tasks_priority_changes_at_once(floor: Floor, operator: Person) -> None:
    (task,) = floor.submit()
    response = operator.post("act", "priority", id=task, priority="7")
    assert message_of(response) == "1 given the priority."
    assert floor.task(task).priority == 7
    entry = AuditEntry.objects.get()
    assert (entry.before, entry.after) == ({"priority": {"0": 1}}, {"priority": 7})
    assert "Change priority" in operator.text("task", task)


def test_an_act_that_does_not_exist_is_no_page(floor: Floor, operator: Person) -> None:
    assert operator.get("act", "explode").status_code == 404


def test_a_bulk_is_shown_among_what_people_did_to_a_task(
    floor: Floor, dead: list[UUID], operator: Person
) -> None:
    begun(operator, "requeue", dead, because="the schema is mended")
    floor.work_off()
    assert "the schema is mended" in operator.text("task", dead[0])


def test_a_bulks_page_asks_a_bounded_number_of_questions(
    floor: Floor,
    dead: list[UUID],
    operator: Person,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    bulk = begun(operator, "requeue", dead)
    with django_assert_max_num_queries(BULK_QUERIES):
        operator.text("bulk", bulk.id)


def test_a_group_shows_its_history_and_belongs_to_somebody(
    floor: Floor, dead: list[UUID], operator: Person, viewer: Person
) -> None:
    key = str(floor.task(dead[0]).fingerprint)
    html = viewer.text("dead_group", key)
    assert "ticket 2 is empty" in html
    assert html.count("<rect") == 1, "all three died in this hour"
    assert "Assigned to" not in html
    assert "Requeue 3…" in operator.text("dead_group", key)
    assert viewer.post("assign_group", key, colleague="vera").status_code == 403
    assert "no active account" in message_of(operator.post("assign_group", key, colleague="nobody"))
    operator.post("assign_group", key, colleague="otto")
    operator.post("note_group", key, note="<b>ask the vendor</b>")
    html = viewer.text("dead_group", key)
    assert "&lt;b&gt;ask the vendor&lt;/b&gt;" in html
    assert "otto" in viewer.text("dead_letters")
    assert [entry.action for entry in AuditEntry.objects.order_by("id")] == ["assign", "note"]
    assert AuditEntry.objects.order_by("id")[0].after == {"assigned_to": "otto"}


@pytest.mark.parametrize("key", ["0" * 16, "none", "x" * 300])
def test_a_group_that_never_was_is_no_page(floor: Floor, viewer: Person, key: str) -> None:
    assert viewer.get("dead_group", key).status_code == 404
