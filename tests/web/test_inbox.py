"""The inbox without a browser: who sees and does what, and what became of it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, LateResult, Lease
from tests.people import APPROVED, SCHEMA, PeopleFloor
from tests.web.conftest import Person, message_of

STEP_QUERIES = 16


@pytest.fixture
def floor(record: None) -> PeopleFloor:
    """A floor on which people do reviews, its supervisor on duty."""
    floor = PeopleFloor()
    floor.lead()
    floor.people_do()
    return floor


def token_of(task: UUID) -> int:
    return Lease.objects.get(task_id=task).token


def filled(task: UUID, **values: Any) -> Mapping[str, Any]:
    """What the form sends."""
    fields = {"approved": "true", "reason": "all in order", "severity": "", **values}
    return {"token": token_of(task), **{f"field.{name}": v for name, v in fields.items()}}


def test_an_empty_inbox_says_what_will_show_there(viewer: Person) -> None:
    assert "Nothing waits for a person" in viewer.text("inbox")


def test_the_rail_counts_what_waits_and_says_when_it_is_more_than_it_counts(
    floor: PeopleFloor, viewer: Person
) -> None:
    badge = '<span class="count" data-count="INBOX" '
    assert f"{badge}hidden></span>" in squeezed(viewer.text("workers"))
    floor.submit(2, kind="review")
    assert f"{badge}>2</span>" in squeezed(viewer.text("workers"))
    floor.submit(120, kind="review")
    assert f"{badge}>100+</span>" in squeezed(viewer.text("workers"))


def squeezed(html: str) -> str:
    return " ".join(html.split()).replace("> <", "><")


def test_a_viewer_sees_everything_and_is_refused_every_act(
    floor: PeopleFloor, viewer: Person, operator: Person
) -> None:
    waiting, held = floor.submit(2, kind="review")
    operator.post("claim_step", held)
    page = viewer.text("inbox")
    assert str(waiting) in page
    assert "Take it" not in page
    assert "otto" in page
    step = viewer.text("step", waiting)
    assert "ask an admin for the role operator" in step
    assert "<bdi>n</bdi>" in step, "the payload is there to read"
    for act in ("claim_step", "extend_step", "release_step", "complete_step"):
        assert viewer.post(act, held, **filled(held)).status_code == 403
    assert floor.status(held) is Status.RUNNING


def test_an_operator_takes_a_step_and_completes_it(floor: PeopleFloor, operator: Person) -> None:
    (task,) = floor.submit(kind="review")
    taken = operator.post("claim_step", task)
    assert message_of(taken) == "It is yours."
    assert 'name="field.reason"' in taken.content.decode()
    done = operator.post("complete_step", task, **filled(task, severity="4"))
    assert message_of(done) == f"Recorded: {task} is completed."
    assert floor.task(task).result == {**APPROVED, "severity": 4}
    assert [a.action for a in AuditEntry.objects.order_by("id")] == ["claim", "complete"]
    assert AuditEntry.objects.first().via.startswith("session ")  # type: ignore[union-attr]  # there are two


def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(
    floor: PeopleFloor, operator: Person
) -> None:
    (task,) = floor.submit(kind="review")
    operator.post("claim_step", task)
    wrong = operator.post(
        "complete_step", task, **filled(task, reason="<b>", severity="nine", approved="false")
    )
    page = wrong.content.decode()
    assert wrong.status_code == 422
    assert "Write a whole number, such as 3; &#x27;nine&#x27; is none." in page
    assert 'value="&lt;b&gt;"' in page
    assert 'value="nine"' in page
    assert "1 thing to mend" in page
    both = operator.post("complete_step", task, **filled(task, reason="x", severity="9"))
    assert "Write at least 3 characters." in both.content.decode()
    assert "Give 5 or less." in both.content.decode()
    assert floor.status(task) is Status.RUNNING


def test_the_second_of_two_is_told_who_was_faster(floor: PeopleFloor, operator: Person) -> None:
    (task,) = floor.submit(kind="review")
    floor.take(task, "rita")
    late = operator.post("claim_step", task)
    assert message_of(late) == "It was not taken. rita has it."


def test_an_answer_that_came_too_late_keeps_its_words_and_can_be_given_again(
    floor: PeopleFloor, operator: Person
) -> None:
    (task,) = floor.submit(kind="review")
    operator.post("claim_step", task)
    sent = filled(task, reason="a long consideration")
    floor.time_runs_out(task)
    floor.round()
    late = operator.post("complete_step", task, **sent)
    assert late.status_code == 409
    assert "no longer yours" in message_of(late)
    assert "a long consideration" in late.content.decode()
    assert LateResult.objects.count() == 1
    again = operator.post("claim_step", task, **sent)
    assert "a long consideration" in again.content.decode()
    assert operator.post("complete_step", task, **filled(task)).status_code == 200
    assert floor.status(task) is Status.COMPLETED


def test_an_extension_keeps_what_is_typed_and_a_release_gives_it_back(
    floor: PeopleFloor, operator: Person
) -> None:
    (task,) = floor.submit(kind="review")
    operator.post("claim_step", task)
    floor.time_runs_out(task)
    extended = operator.post("extend_step", task, **filled(task, reason="half a though"))
    assert message_of(extended) == "You have the whole time again."
    assert "half a though" in extended.content.decode()
    released = operator.post("release_step", task, token=token_of(task))
    assert message_of(released) == "It waits for anybody again."
    assert "no longer yours" in message_of(operator.post("release_step", task, token="7"))
    assert "no longer yours" in message_of(operator.post("extend_step", task, token="x"))


def test_nothing_is_changed_by_looking(floor: PeopleFloor, operator: Person) -> None:
    (task,) = floor.submit(kind="review")
    for act in ("claim_step", "extend_step", "release_step", "complete_step"):
        assert operator.get(act, task).status_code == 405
    assert operator.get("step", floor.submit()[0]).status_code == 404
    assert floor.status(task) is Status.PENDING


def test_a_kind_without_a_schema_takes_any_json(floor: PeopleFloor, operator: Person) -> None:
    floor.people_do(result_schema=None)
    (task,) = floor.submit(kind="review")
    operator.post("claim_step", task)
    sent: dict[str, Any] = {"token": token_of(task), "field.": '{"verdict": [1, 2]}'}
    assert operator.post("complete_step", task, **sent).status_code == 200
    assert floor.task(task).result == {"verdict": [1, 2]}


def test_the_task_s_own_page_leads_to_the_inbox_and_names_who_has_it(
    floor: PeopleFloor, operator: Person
) -> None:
    (task,) = floor.submit(kind="review")
    page = operator.text("task", task)
    assert "It waits for a person" in page
    assert f'href="/inbox/{task}/"' in page
    floor.take(task, "rita")
    held = operator.text("task", task)
    assert "rita" in held
    assert f'href="/inbox/{task}/"' in held
    floor.decide(task, token_of(task), APPROVED)
    done = operator.text("task", task)
    assert "Claim" in done
    person = floor.attempts(task)
    assert person == [("completed", "rita")]


def test_a_person_among_the_workers_leads_to_what_they_did(
    floor: PeopleFloor, operator: Person
) -> None:
    (task,) = floor.submit(kind="review")
    floor.take(task, "rita")
    worker = Lease.objects.get().worker_id
    answer = operator.get("worker", worker)
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/audit/?actor=rita"


@pytest.mark.parametrize("page", ["inbox", "step"])
def test_a_page_asks_a_bounded_number_of_queries(
    floor: PeopleFloor, operator: Person, page: str, django_assert_max_num_queries: Any
) -> None:
    tasks = floor.submit(60, kind="review")
    operator.post("claim_step", tasks[0])
    with django_assert_max_num_queries(STEP_QUERIES):
        operator.text(page, *([tasks[0]] if page == "step" else []))


def test_a_schema_with_everything_is_drawn(floor: PeopleFloor, operator: Person) -> None:
    schema = {
        "type": "object",
        "properties": {
            **SCHEMA["properties"],  # type: ignore[dict-item]  # it is a dict
            "note": {"type": "string", "format": "text", "default": "all & well"},
            "share": {"type": "number"},
            "agreed": {"type": "boolean", "default": True},
            "colour": {"enum": ["red", "green"]},
            "letter": {"enum": list("abcdefgh"), "default": "c"},
            "flags": {"type": "array", "items": {"enum": ["x", "y"]}, "default": ["y"]},
            "tree": {"type": "object", "default": {"a": 1}},
        },
        "required": ["approved"],
    }
    floor.people_do(result_schema=schema)
    (task,) = floor.submit(kind="review")
    operator.post("claim_step", task)
    sent = {
        "note": "two\r\nlines",
        "share": "0.5",
        "colour": '"green"',
        "letter": '"h"',
        "flags": ['"x"', '"y"'],
        "tree": '{"deep": [1]}',
    }
    page = operator.text("step", task)
    assert "all &amp; well" in page
    assert '<option value="&quot;c&quot;" selected>' in " ".join(page.split())
    assert operator.post("complete_step", task, **filled(task, **sent)).status_code == 200
    assert floor.task(task).result == {
        **APPROVED,
        "note": "two\nlines",
        "share": 0.5,
        "agreed": False,
        "colour": "green",
        "letter": "h",
        "flags": ["x", "y"],
        "tree": {"deep": [1]},
    }
