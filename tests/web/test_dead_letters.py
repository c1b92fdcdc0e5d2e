"""Dead letters: by cause and as rows, requeue and dismiss."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Task
from tasks_app.store.reads.failures import dead_letters
from tasks_app.store.reads.failures.dead_letters import (
    DeadCursor,
    DeadFilter,
    list_causes,
    list_dead,
)
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of

# Session, user, groups, rail, rows, groups, their histories, kinds.
LIST_QUERIES = 11


def confirmed(person: Person, act: str, **chosen: Any) -> Any:
    """Look at the confirmation and send its form, as a browser does."""
    html = person.text(act, **chosen)
    fields: dict[str, Any] = {}
    for name, value in re.findall(r'<input type="hidden"\s+name="(\w+)"\s+value="([^"]*)"', html):
        fields.setdefault(name, []).append(value)
    fields.pop("csrfmiddlewaretoken", None)
    return fields


@pytest.fixture
def dead(floor: Floor) -> list[Any]:
    """Three of one cause, one of another."""
    floor.worker("w1", skills={"job": 1, "other": 1})
    same = [died(floor, "w1", message=f"ticket {n} is empty\nmore") for n in (1, 22, 333)]
    return [*same, died(floor, "w1", message="no such language", kind="other")]


def test_messages_that_differ_in_figures_are_one_cause(floor: Floor, dead: list[Any]) -> None:
    causes, more = list_causes(DeadFilter())
    assert [(cause.tasks, cause.line) for cause in causes] == [
        (3, "ticket 333 is empty"),
        (1, "no such language"),
    ]
    assert not more


def test_a_count_that_stopped_says_that_there_may_be_more(
    floor: Floor, dead: list[Any], operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Requeue 3…" in operator.text("dead_letters")
    assert "Requeue 3 ValidationError…" in operator.text("overview")
    monkeypatch.setattr(
        "tasks_app.store.reads.failures.dead_letters.list_causes.__defaults__", (3, 50)
    )
    monkeypatch.setattr("tasks_app.store.reads.dispatch.overview.DEAD_LOOKED_AT", 3)
    assert "Requeue 2+…" in operator.text("dead_letters")
    assert "Requeue 2+ ValidationError…" in operator.text("overview")


def test_a_cause_shows_its_own_rows(floor: Floor, dead: list[Any]) -> None:
    causes, _ = list_causes(DeadFilter())
    rows = list_dead(DeadFilter(cause=causes[0].key)).rows
    assert [row.id for row in rows] == dead[2::-1]


def test_the_last_to_die_comes_first_and_pages_join(
    floor: Floor, dead: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "PAGE", 3)
    first = list_dead(DeadFilter())
    second = list_dead(DeadFilter(), before=DeadCursor.read(first.older))
    assert [row.id for row in (*first.rows, *second.rows)] == dead[::-1]
    assert second.older == first.newer == ""
    back = list_dead(DeadFilter(), after=DeadCursor.read(second.newer))
    assert [row.id for row in back.rows] == dead[:0:-1]


def test_looking_changes_nothing(floor: Floor, dead: list[Any], operator: Person) -> None:
    html = operator.text("requeue", id=dead[0])
    assert "Requeue 1 task?" in html
    operator.text("dismiss", all=1)
    assert {floor.status(task) for task in dead} == {Status.DEAD}
    assert not AuditEntry.objects.exists()


def test_one_is_requeued_and_completes(floor: Floor, dead: list[Any], operator: Person) -> None:
    response = operator.post("requeue", **confirmed(operator, "requeue", id=dead[0]))
    assert "1 requeued." in message_of(response)
    floor.round()
    floor.complete("w1", floor.claim("w1")[0], {"ok": True})
    assert floor.status(dead[0]) is Status.COMPLETED


def test_many_are_requeued_in_one_audited_act(
    floor: Floor, dead: list[Any], operator: Person
) -> None:
    fields = confirmed(operator, "requeue", id=[str(task) for task in dead[:2]])
    response = operator.post("requeue", **fields, because="schema mended")
    assert "Requeue 2 tasks" in message_of(response)
    assert {floor.status(task) for task in dead} == {Status.DEAD}, "it is held"
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 1, 0, 0]
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.count) == ("otto", "requeue", 2)
    assert entry.reason == "schema mended"
    assert entry.address == "127.0.0.1"


def test_a_whole_cause_is_requeued(floor: Floor, dead: list[Any], operator: Person) -> None:
    key = list_causes(DeadFilter())[0][0].key
    fields = confirmed(operator, "requeue", all=1, cause=key)
    operator.post("requeue", **fields)
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 1, 1, 0]


def test_what_died_after_the_confirmation_is_left_alone(
    floor: Floor, dead: list[Any], operator: Person
) -> None:
    fields = confirmed(operator, "requeue", all=1)
    late = died(floor, "w1")
    operator.post("requeue", **fields)
    floor.work_off()
    assert floor.status(late) is Status.DEAD
    assert floor.task(dead[0]).requeues == 1


def test_a_second_click_does_nothing_even_if_the_task_died_again(
    floor: Floor, dead: list[Any], operator: Person
) -> None:
    fields = confirmed(operator, "requeue", id=dead[0])
    operator.post("requeue", **fields)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.fail("w1", grant, type="jsonschema.ValidationError", message="again")
    response = operator.post("requeue", **fields)
    assert floor.status(dead[0]) is Status.DEAD
    assert "Nothing was requeued. 1 refused" in message_of(response)
    assert AuditEntry.objects.count() == 1


def test_nothing_selected_is_not_everything(
    floor: Floor, dead: list[Any], operator: Person
) -> None:
    assert "Select at least one" in operator.text("requeue")
    operator.post("requeue")
    operator.post("requeue", id="no-id", as_of="yesterday")
    assert {floor.status(task) for task in dead} == {Status.DEAD}


def test_a_dry_run_looks_at_some_and_the_act_touches_all(
    floor: Floor, dead: list[Any], operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.services.search.found_tasks.LOOKED_AT", 2)
    monkeypatch.setattr("tasks_app.web.pages.acts.LOOKED_AT", 2)
    html = operator.text("requeue", all=1)
    assert "Requeue more than 2 tasks?" in " ".join(html.split())
    assert "the figures here are of 2 of them" in html
    operator.post("requeue", **confirmed(operator, "requeue", all=1))
    floor.work_off()
    assert [floor.task(task).requeues for task in dead] == [1, 1, 1, 1]


def test_too_many_are_refused_on_the_form_with_the_number(
    floor: Floor, dead: list[Any], operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = confirmed(operator, "requeue", all=1)
    monkeypatch.setattr("tasks_app.services.actions.bulks.MOST_FOUND", 3)
    response = operator.post("requeue", **fields)
    assert response.status_code == 422
    assert "finds more than the 3 tasks" in response.content.decode()
    floor.work_off()
    assert {floor.status(task) for task in dead} == {Status.DEAD}


def test_dismiss_needs_a_reason(floor: Floor, dead: list[Any], operator: Person) -> None:
    fields = confirmed(operator, "dismiss", id=dead[0])
    response = operator.post("dismiss", **fields, because="  ")
    assert response.status_code == 422
    assert "Say in a few words why" in response.content.decode()
    assert floor.status(dead[0]) is Status.DEAD
    operator.post("dismiss", **fields, because="a test ticket")
    assert floor.status(dead[0]) is Status.DISMISSED
    assert AuditEntry.objects.get().reason == "a test ticket"


def test_the_confirmation_counts_who_waits(floor: Floor, operator: Person) -> None:
    floor.worker("w1")
    task = died(floor, "w1", dependents=2)
    floor.round()
    assert "2 tasks that wait for them" in " ".join(operator.text("dismiss", id=task).split())
    assert "2 wait for it" in operator.text("dead_letters")


def test_a_refusal_says_why(floor: Floor, dead: list[Any], operator: Person) -> None:
    task = died(floor, "w1", dependents=1)
    operator.post("dismiss", id=task, because="gone")
    floor.round()
    dependent = Task.objects.get(dead_reason="dependency").id
    assert "1 will be refused" in operator.text("requeue", id=[dead[1], dependent])
    response = operator.post("requeue", **confirmed(operator, "requeue", id=dependent))
    assert message_of(response) == (
        "Nothing was requeued. 1 refused:"
        " A task that it depends on is DISMISSED and will never complete."
    )


@pytest.mark.parametrize("act", ["requeue", "dismiss"])
def test_a_viewer_may_not_act(floor: Floor, dead: list[Any], viewer: Person, act: str) -> None:
    response = viewer.post(act, id=dead[0], because="no")
    assert response.status_code == 403
    assert "You may look, not act" in response.content.decode()
    assert viewer.get(act, id=dead[0]).status_code == 403
    assert floor.status(dead[0]) is Status.DEAD
    assert "Requeue…" not in viewer.text("dead_letters")


def test_a_forged_form_is_refused(floor: Floor, dead: list[Any], operator: Person) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator.user)
    response = strict.post(reverse("web:requeue"), {"id": str(dead[0])})
    assert response.status_code == 403
    assert floor.status(dead[0]) is Status.DEAD


def test_an_act_leads_back_within_the_site_only(
    floor: Floor, dead: list[Any], operator: Person
) -> None:
    there = operator.post("requeue", follow=False, id=dead[0], next="/tasks/?status=dead")
    assert there["Location"] == "/tasks/?status=dead"
    away = operator.post("requeue", follow=False, id=dead[1], next="https://elsewhere.example/")
    assert away["Location"] == reverse("web:dead_letters")


def test_the_list_asks_a_bounded_number_of_questions(
    floor: Floor,
    dead: list[Any],
    operator: Person,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(LIST_QUERIES):
        operator.text("dead_letters")


@pytest.mark.parametrize(
    "query",
    [
        {"reason": "nonsense", "kind": "%s{}"},
        {"cause": "x"},
        {"before": "1.5_x"},
        {"before": "99999999999.000000_" + 32 * "f"},
        {"after": "nan_" + 32 * "0"},
    ],
)
def test_any_address_is_answered(
    floor: Floor, dead: list[Any], viewer: Person, operator: Person, query: dict[str, str]
) -> None:
    assert viewer.get("dead_letters", **query).status_code == 200
    assert operator.get("requeue", all=1, as_of="x", key="%", **query).status_code == 200


def test_a_cursor_is_exact_to_the_microsecond(floor: Floor, dead: list[Any]) -> None:
    row = list_dead(DeadFilter()).rows[0]
    cursor = DeadCursor.read(row.cursor)
    assert cursor is not None
    assert datetime.fromtimestamp(float(cursor.at), tz=UTC) == row.finished_at
    assert row.id not in [each.id for each in list_dead(DeadFilter(), before=cursor).rows]
