"""Edit a dead task's payload and requeue it: checked, told, audited, never half done."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission

from tasks_app.core.states import OnDead, Status
from tasks_app.models import AuditEntry
from tasks_app.services.actions.cancellation import cancel_tasks
from tasks_app.services.people.people import Actor
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of

SCHEMA = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}


@pytest.fixture
def dead(floor: Floor) -> UUID:
    floor.worker("w1")
    task = died(floor, "w1")
    floor.kind("job", payload_schema=SCHEMA)
    return task


def edit(person: Person, task: UUID, payload: str, requeues: int = 0) -> Any:
    return person.post("edit_payload", task, payload=payload, requeues=requeues, because="a typo")


def test_a_mended_payload_is_requeued_and_the_difference_kept(
    floor: Floor, dead: UUID, operator: Person
) -> None:
    assert "&quot;n&quot;: 0" in operator.text("edit_payload", dead)
    response = edit(operator, dead, '{"n": 0, "text": "hello"}')
    assert message_of(response) == "1 change, and requeued."
    task = floor.task(dead)
    assert (task.status, task.payload, task.requeues) == (
        Status.PENDING,
        {"n": 0, "text": "hello"},
        1,
    )
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("edit and requeue", "a typo")
    assert (entry.before, entry.after) == ({}, {"$.text": "hello"})
    assert "<ins>&quot;hello&quot;</ins>" in operator.text("task", dead)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('{"n": 0}', "&#x27;text&#x27; is a required property"),
        ('{"text": 7}', "payload.text"),
        ('{"text": ', "no valid JSON"),
        ("", "no valid JSON"),
        ('{"text": "a",\n "text": "b"}', "line 2: the key &quot;text&quot; stands twice"),
        ('{"text": "a", "b": NaN}', "NaN is no JSON number"),
        ("[" * 100 + "]" * 100, "deep"),
    ],
)
def test_a_payload_with_a_fault_changes_nothing_and_is_not_lost(
    floor: Floor, dead: UUID, operator: Person, payload: str, said: str
) -> None:
    response = edit(operator, dead, payload)
    assert response.status_code == 422
    html = response.content.decode()
    assert said in html
    assert "a typo" in html
    assert (floor.status(dead), floor.task(dead).payload) == (Status.DEAD, {"n": 0})
    assert not AuditEntry.objects.exists()


def test_one_that_was_requeued_meanwhile_is_left_alone(
    floor: Floor, dead: UUID, operator: Person
) -> None:
    edit(operator, dead, '{"text": "first"}')
    response = edit(operator, dead, '{"text": "second"}')
    assert "Nothing was changed" in message_of(response)
    assert floor.task(dead).payload == {"text": "first"}


def test_one_that_cannot_be_requeued_keeps_its_payload(floor: Floor, operator: Person) -> None:
    (blocker,) = floor.submit()
    (task,) = floor.submit(needs=[(blocker, OnDead.FAIL)])
    cancel_tasks([blocker], Actor("op"))
    floor.round()
    assert floor.status(task) is Status.DEAD
    response = edit(operator, task, '{"text": "x"}')
    assert "is CANCELLED and will never complete" in message_of(response)
    assert floor.task(task).payload == {"n": 0}


def test_redacted_values_stay_out_of_the_audit_and_away_from_who_may_not_see_them(
    floor: Floor, dead: UUID, operator: Person
) -> None:
    floor.kind("job", payload_schema=None, redacted_keys=["card"])
    assert "you cannot edit them here" in operator.text("edit_payload", dead)
    edit(operator, dead, '{"card": "4711"}')
    assert floor.task(dead).payload == {"n": 0}
    operator.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    edit(operator, dead, '{"card": "4711", "n": 1, "more": {"Card": 5}}')
    assert floor.task(dead).payload["card"] == "4711"
    entry = AuditEntry.objects.get()
    assert entry.after == {
        "$.card": "[redacted]",
        "$.n": 1,
        "$.more": {"Card": "[redacted]"},
    }


def test_a_viewer_may_not_edit(floor: Floor, dead: UUID, viewer: Person) -> None:
    assert viewer.get("edit_payload", dead).status_code == 403
    assert edit(viewer, dead, "{}").status_code == 403
    assert "Edit and requeue" not in viewer.text("task", dead)
